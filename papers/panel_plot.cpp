#include "panel_plot.hpp"

#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace tesela::bench {
namespace {

constexpr double box_height = 130, plot_left = 62, plot_top = 64, box_gap_x = 52, box_gap_y = 52;

std::string fill_of(std::size_t series) {
    return fmt::format("fill=\"{}\"", hex(categorical_colour(static_cast<Index>(series))));
}

/// A shape per series, so that colour is not all that tells them apart.
void draw_mark(Svg& svg, SvgPoint at, std::size_t series) {
    switch (series % 4) {
        case 0: svg.circle(at, 3.5, fill_of(series)); break;
        case 1: svg.rect({at.x - 3, at.y - 3, 6, 6}, fill_of(series)); break;
        case 2: svg.path(fmt::format("M{:.2f} {:.2f}l4 4l-4 4l-4 -4z", at.x, at.y - 4), fill_of(series)); break;
        default: svg.path(fmt::format("M{:.2f} {:.2f}l4 7l-8 0z", at.x, at.y - 4), fill_of(series));
    }
}

void draw_line(Svg& svg, const std::vector<SvgPoint>& points, std::size_t series) {
    std::string data;
    for (const SvgPoint& at : points) data += fmt::format("{}{:.2f} {:.2f}", data.empty() ? "M" : "L", at.x, at.y);
    if (points.size() > 1)
        svg.path(data, fmt::format("fill=\"none\" stroke-width=\"1.5\" stroke=\"{}\"",
                                   hex(categorical_colour(static_cast<Index>(series)))));
    for (const SvgPoint& at : points) draw_mark(svg, at, series);
}

double largest_value(const PlotPanel& panel) {
    double most = 0;
    for (const auto& series : panel.values)
        for (const double value : series)
            if (std::isfinite(value)) most = std::max(most, value);
    return most > 0 ? most : 1;
}

/// Where a panel is, and its vertical scale.
struct Frame {
    SvgBox box;
    Scale y;
};

void draw_values(Svg& svg, const PanelPlot& plot, const PlotPanel& panel, const Frame& frame) {
    const auto& [box, y] = frame;
    const double step = box.width / static_cast<double>(panel.places.size());
    const double bar = 0.8 * step / static_cast<double>(plot.series.size());
    for (std::size_t s = 0; s < panel.values.size(); ++s) {
        std::vector<SvgPoint> points;
        for (std::size_t p = 0; p < panel.values[s].size(); ++p) {
            const double value = panel.values[s][p];
            if (!std::isfinite(value)) continue;
            const double middle = box.x + (static_cast<double>(p) + 0.5) * step;
            points.push_back({middle, y(value)});
            if (plot.style == PlotStyle::lines) continue;
            const double begin = middle + bar * (static_cast<double>(s) - static_cast<double>(plot.series.size()) / 2);
            svg.rect({begin, y(value), bar * 0.9, y(0) - y(value)}, fill_of(s));
        }
        if (plot.style == PlotStyle::lines) draw_line(svg, points, s);
    }
}

void draw_panel(Svg& svg, const PanelPlot& plot, std::size_t number) {
    const PlotPanel& panel = plot.panels[number];
    const std::lldiv_t place = std::lldiv(static_cast<long long>(number), plot.columns);
    const auto column = static_cast<double>(place.rem);
    const auto row = static_cast<double>(place.quot);
    const SvgBox box{plot_left + column * (plot.panel_width + box_gap_x), plot_top + row * (box_height + box_gap_y),
                     plot.panel_width, box_height};
    svg.rect(box, "fill=\"#f7f7f7\" stroke=\"#ccc\"");
    svg.text({box.x + 4, box.y - 5}, panel.title, {.size = 11, .weight = TextWeight::bold});
    const Scale y{.low = 0, .high = 1.06 * largest_value(panel), .first = box.y + box.height, .last = box.y + 4};
    const Ticks ticks = ticks_upward(y.low, y.high, box.height);
    for (std::size_t t = 0; t < ticks.at.size(); ++t) {
        svg.rect({box.x, y(ticks.at[t]), box.width, 0.5}, "fill=\"#ccc\"");
        svg.text({box.x - 5, y(ticks.at[t]) + 4}, ticks.labels[t], {.size = 10, .anchor = TextAnchor::end});
    }
    draw_values(svg, plot, panel, {box, y});
    const double step = box.width / static_cast<double>(panel.places.size());
    for (std::size_t p = 0; p < panel.places.size(); ++p)
        svg.text({box.x + (static_cast<double>(p) + 0.5) * step, box.y + box.height + 13}, panel.places[p],
                 {.size = 9, .anchor = TextAnchor::middle});
}

double legend_step(const std::string& series) { return 30 + text_width(series, 11); }

double legend_width(const PanelPlot& plot) {
    return std::accumulate(plot.series.begin(), plot.series.end(), 0.0,
                           [](double width, const std::string& series) { return width + legend_step(series); });
}

void draw_legend(Svg& svg, const PanelPlot& plot) {
    double x = plot_left;
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
        if (plot.style == PlotStyle::lines)
            draw_mark(svg, {x + 5, 32}, s);
        else
            svg.rect({x, 27, 10, 10}, fill_of(s));
        svg.text({x + 14, 36}, plot.series[s], {.size = 11});
        x += legend_step(plot.series[s]);
    }
}

}  // namespace

std::string draw_panels(const PanelPlot& plot) {
    const auto columns = std::min(static_cast<std::size_t>(plot.columns), std::max<std::size_t>(1, plot.panels.size()));
    const auto rows = (plot.panels.size() + columns - 1) / columns;
    const double width = plot_left + static_cast<double>(columns) * (plot.panel_width + box_gap_x) - box_gap_x + 14;
    const double height = plot_top + static_cast<double>(rows) * (box_height + box_gap_y);
    Svg svg(std::max({width, plot_left + text_width(plot.title, 14) + 20, plot_left + legend_width(plot)}), height);
    svg.text({plot_left, 18}, plot.title, {.size = 14, .weight = TextWeight::bold});
    svg.text({14, plot_top + box_height / 2}, plot.y_label, {.size = 11, .anchor = TextAnchor::middle, .rotate = -90});
    draw_legend(svg, plot);
    for (std::size_t number = 0; number < plot.panels.size(); ++number) draw_panel(svg, plot, number);
    svg.text({plot_left + (width - plot_left) / 2, height - 8}, plot.x_label,
             {.size = 11, .anchor = TextAnchor::middle});
    return std::move(svg).finish();
}

}  // namespace tesela::bench
