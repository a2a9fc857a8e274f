#include "distributions/dot_plot.hpp"

#include "panel_plot.hpp"
#include "tesela/pictures/frame.hpp"

#include <cstdlib>
#include <utility>

namespace tesela::bench {
namespace {

constexpr double panel_width = 210, panel_height = 130, plot_top = 48, gap_x = 22, gap_y = 44;

std::string colour_of(const DotPlot& plot, int series) {
    return series_colour(static_cast<std::size_t>(plot.group > 0 ? series / plot.group : series));
}

Mark mark_of(const DotPlot& plot, int series) {
    Mark mark = series_mark(static_cast<std::size_t>(plot.group > 0 ? series % plot.group : series));
    mark.attributes = filled(colour_of(plot, series));
    return mark;
}

void draw_dot(Svg& svg, const DotPlot& plot, const Dot& dot, const Frame& frame) {
    const auto count = static_cast<double>(plot.series.size());
    const double x = dot.place + (dot.series - (count - 1) / 2) * 0.7 / count;
    if (dot.value <= plot.top) return draw_mark(svg, frame.at(x, dot.value), mark_of(plot, dot.series));
    // An arrow head: the value is above the picture.
    draw_mark(svg, {frame.x_scale()(x), frame.area.y + 7},
              {MarkShape::triangle, 4.5, stroked(colour_of(plot, dot.series), 1.5)});
}

void draw_panel(Svg& svg, const DotPlot& plot, std::size_t number) {
    const auto& panel = plot.panels[number];
    const std::lldiv_t place = std::lldiv(static_cast<long long>(number), plot.columns);
    const auto column = static_cast<double>(place.rem);
    const auto row = static_cast<double>(place.quot);
    // Room for marks at the ends.
    const double margin = 0.05 * (plot.top - plot.bottom);
    Frame frame{
        .area = {column * (panel_width + gap_x), plot_top + row * (panel_height + gap_y), panel_width, panel_height},
        .x = places_range(plot.places.size()),
        .y = {plot.bottom - margin, plot.top + margin},
        .title = panel.title,
        .y_label = number == 0 ? plot.y_label : "",
        .x_ticks = places_ticks(plot.places),
        .y_ticks = ticks_upward(plot.bottom, plot.top, panel_height),
        .style = FrameStyle::shaded,
        .grid = GridLines::horizontal};
    if (column > 0) frame.y_ticks->labels.clear();
    draw_frame(svg, frame, [&] {
        for (const Dot& dot : panel.dots) draw_dot(svg, plot, dot, frame);
    });
}

}  // namespace

std::string draw_dots(const DotPlot& plot) {
    Svg svg(plot.title);
    std::vector<LegendEntry> legend;
    for (std::size_t s = 0; s < plot.series.size(); ++s)
        legend.push_back({plot.series[s], [&svg, mark = mark_of(plot, static_cast<int>(s))](SvgPoint at) {
                              draw_mark(svg, at, mark);
                          }});
    draw_legend(svg, {0, 18}, legend, LegendLayout::row);
    for (std::size_t number = 0; number < plot.panels.size(); ++number) draw_panel(svg, plot, number);
    return std::move(svg).finish();
}

}  // namespace tesela::bench
