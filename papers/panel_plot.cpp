#include "panel_plot.hpp"

#include "tesela/pictures/frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tesela::bench {
namespace {

constexpr double box_height = 130, panels_top = 50, box_gap_x = 52, box_gap_y = 52;

void draw_line(Svg& svg, const std::vector<SvgPoint>& points, std::size_t series) {
    if (points.size() > 1) svg.line(points, stroked(series_colour(series), 1.5));
    for (const SvgPoint& at : points) draw_mark(svg, at, series_mark(series));
}

double largest_value(const PlotPanel& panel) {
    double most = 0;
    for (const auto& series : panel.values)
        for (const double value : series)
            if (std::isfinite(value)) most = std::max(most, value);
    return most > 0 ? most : 1;
}

void draw_values(Svg& svg, const PanelPlot& plot, const PlotPanel& panel, const Frame& frame) {
    const auto count = static_cast<double>(plot.series.size());
    const double bar = 0.8 / count;
    for (std::size_t s = 0; s < panel.values.size(); ++s) {
        std::vector<SvgPoint> points;
        for (std::size_t p = 0; p < panel.values[s].size(); ++p) {
            const double value = panel.values[s][p];
            if (!std::isfinite(value)) continue;
            const auto place = static_cast<double>(p);
            points.push_back(frame.at(place, value));
            if (plot.style == PlotStyle::lines) continue;
            const double begin = place + bar * (static_cast<double>(s) - count / 2);
            const SvgPoint corner = frame.at(begin, value), opposite = frame.at(begin + 0.9 * bar, 0);
            svg.rect({corner.x, corner.y, opposite.x - corner.x, opposite.y - corner.y}, filled(series_colour(s)));
        }
        if (plot.style == PlotStyle::lines) draw_line(svg, points, s);
    }
}

void draw_panel(Svg& svg, const PanelPlot& plot, std::size_t number) {
    const PlotPanel& panel = plot.panels[number];
    const std::lldiv_t place = std::lldiv(static_cast<long long>(number), plot.columns);
    const auto column = static_cast<double>(place.rem);
    const auto row = static_cast<double>(place.quot);
    const Frame frame{.area = {column * (plot.panel_width + box_gap_x), panels_top + row * (box_height + box_gap_y),
                               plot.panel_width, box_height},
                      .x = places_range(panel.places.size()),
                      .y = {0, 1.06 * largest_value(panel)},
                      .title = panel.title,
                      .y_label = number == 0 ? plot.y_label : "",
                      .x_ticks = places_ticks(panel.places),
                      .style = FrameStyle::shaded,
                      .grid = GridLines::horizontal};
    draw_frame(svg, frame, [&] { draw_values(svg, plot, panel, frame); });
}

std::vector<LegendEntry> legend_of(Svg& svg, const PanelPlot& plot) {
    std::vector<LegendEntry> legend;
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
        const Mark mark =
            plot.style == PlotStyle::lines ? series_mark(s) : Mark{MarkShape::square, 5, filled(series_colour(s))};
        legend.push_back({plot.series[s], [&svg, mark](SvgPoint at) { draw_mark(svg, at, mark); }});
    }
    return legend;
}

}  // namespace

ValueRange places_range(std::size_t count) { return {-0.5, static_cast<double>(count) - 0.5}; }

Ticks places_ticks(const std::vector<std::string>& places) {
    Ticks ticks{.at = {}, .labels = places};
    for (std::size_t p = 0; p < places.size(); ++p) ticks.at.push_back(static_cast<double>(p));
    return ticks;
}

std::string draw_panels(const PanelPlot& plot) {
    Svg svg(plot.title);
    draw_legend(svg, {0, 18}, legend_of(svg, plot), LegendLayout::row);
    for (std::size_t number = 0; number < plot.panels.size(); ++number) draw_panel(svg, plot, number);
    const auto columns = std::min(static_cast<std::size_t>(plot.columns), std::max<std::size_t>(1, plot.panels.size()));
    const auto rows = (plot.panels.size() + columns - 1) / columns;
    svg.text({(static_cast<double>(columns) * (plot.panel_width + box_gap_x) - box_gap_x) / 2,
              panels_top + static_cast<double>(rows) * (box_height + box_gap_y) - 16},
             plot.x_label, {.size = 11, .anchor = TextAnchor::middle});
    return std::move(svg).finish();
}

}  // namespace tesela::bench
