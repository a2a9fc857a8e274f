#include "distributions/dot_plot.hpp"

#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tesela::bench {
namespace {

constexpr double panel_width = 210, panel_height = 130, left = 70, top = 62, gap_x = 22, gap_y = 44;

std::string colour_of(const DotPlot& plot, int series) {
    return hex(categorical_colour(plot.group > 0 ? series / plot.group : series));
}

/// A shape per series, so that colour is not all that tells them apart.
void draw_mark(Svg& svg, SvgPoint at, const DotPlot& plot, int series) {
    const auto fill = fmt::format("fill=\"{}\"", colour_of(plot, series));
    switch (plot.group > 0 ? series % plot.group : series % 4) {
        case 0: svg.circle(at, 4, fill); break;
        case 1: svg.rect({at.x - 3.5, at.y - 3.5, 7, 7}, fill); break;
        case 2: svg.path(fmt::format("M{} {}l5 5l-5 5l-5 -5z", at.x, at.y - 5), fill); break;
        default: svg.path(fmt::format("M{} {}l5 8l-10 0z", at.x, at.y - 4.5), fill);
    }
}

/// An arrow head: the value is above the picture.
void draw_above(Svg& svg, SvgPoint at, const DotPlot& plot, int series) {
    svg.path(fmt::format("M{} {}l4 7l-8 0z", at.x, at.y),
             fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"", colour_of(plot, series)));
}

void draw_panel(Svg& svg, const DotPlot& plot, std::size_t number) {
    const auto& panel = plot.panels[number];
    const std::lldiv_t place = std::lldiv(static_cast<long long>(number), plot.columns);
    const auto column = static_cast<double>(place.rem);
    const auto row = static_cast<double>(place.quot);
    const SvgBox box{left + column * (panel_width + gap_x), top + row * (panel_height + gap_y), panel_width,
                     panel_height};
    svg.rect(box, "fill=\"#f7f7f7\" stroke=\"#ccc\"");
    svg.text({box.x + 4, box.y - 5}, panel.title, {.size = 11, .weight = TextWeight::bold});
    const Scale y{.low = plot.bottom, .high = plot.top, .first = box.y + box.height - 6, .last = box.y + 8};
    const Ticks ticks = ticks_upward(y.low, y.high, box.height);
    for (std::size_t t = 0; t < ticks.at.size(); ++t) {
        svg.rect({box.x, y(ticks.at[t]), box.width, 0.5}, "fill=\"#ccc\"");
        if (column == 0)
            svg.text({box.x - 6, y(ticks.at[t]) + 4}, ticks.labels[t], {.size = 10, .anchor = TextAnchor::end});
    }
    const double step = box.width / static_cast<double>(plot.places.size());
    for (std::size_t p = 0; p < plot.places.size(); ++p)
        svg.text({box.x + (static_cast<double>(p) + 0.5) * step, box.y + box.height + 13}, plot.places[p],
                 {.size = 10, .anchor = TextAnchor::middle});
    const double spread = step * 0.7 / static_cast<double>(plot.series.size());
    for (const auto& dot : panel.dots) {
        const double x = box.x + (dot.place + 0.5) * step +
                         (dot.series - (static_cast<double>(plot.series.size()) - 1) / 2) * spread;
        if (dot.value > plot.top)
            draw_above(svg, {x, box.y + 3}, plot, dot.series);
        else
            draw_mark(svg, {x, y(dot.value)}, plot, dot.series);
    }
}

}  // namespace

std::string draw_dots(const DotPlot& plot) {
    const double legend_size = plot.series.size() > 6 ? 9.5 : 11;
    const auto rows =
        (plot.panels.size() + static_cast<std::size_t>(plot.columns) - 1) / static_cast<std::size_t>(plot.columns);
    Svg svg(left + plot.columns * (panel_width + gap_x) + 10, top + static_cast<double>(rows) * (panel_height + gap_y));
    svg.text({left, 18}, plot.title, {.size = 14, .weight = TextWeight::bold});
    svg.text({16, top + panel_height / 2}, plot.y_label, {.size = 11, .anchor = TextAnchor::middle, .rotate = -90});
    double x = left;
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
        draw_mark(svg, {x + 5, 32}, plot, static_cast<int>(s));
        svg.text({x + 14, 36}, plot.series[s], {.size = legend_size});
        x += 24 + text_width(plot.series[s], legend_size);
    }
    for (std::size_t number = 0; number < plot.panels.size(); ++number) draw_panel(svg, plot, number);
    return std::move(svg).finish();
}

}  // namespace tesela::bench
