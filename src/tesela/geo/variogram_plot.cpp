#include "tesela/geo/variogram_plot.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

constexpr double largest_radius = 8;
constexpr double least_radius = 1.5;
constexpr double curve_width = 1.5;

/// What the axes must hold, and how large dots are.
struct PlotExtent {
    double distance = 0;
    double gamma = 0;
    Index fewest = 0;
    Index most = 0;
};

PlotExtent extent_of(const VariogramPlot& plot) {
    const auto& points = plot.sample.points;
    PlotExtent extent{.fewest = points.front().pairs};
    for (const VariogramPoint& point : points) {
        extent.distance = std::max(extent.distance, point.distance);
        extent.gamma = std::max(extent.gamma, point.gamma);
        extent.fewest = std::min(extent.fewest, point.pairs);
        extent.most = std::max(extent.most, point.pairs);
    }
    if (plot.model) extent.gamma = std::max(extent.gamma, model_variogram(*plot.model, extent.distance));
    // Pairs at one place have no distance, and equal values no variogram.
    if (!(extent.distance > 0)) extent.distance = 1;
    if (!(extent.gamma > 0)) extent.gamma = 1;
    return extent;
}

double radius(Index pairs, const PlotExtent& extent) {
    const double share = static_cast<double>(pairs) / static_cast<double>(extent.most);
    return std::max(least_radius, largest_radius * std::sqrt(share));
}

std::vector<double> directions_of(const Variogram& sample) {
    std::vector<double> directions;
    for (const VariogramPoint& point : sample.points)
        if (std::find(directions.begin(), directions.end(), point.direction) == directions.end())
            directions.push_back(point.direction);
    return directions;
}

std::string dot_style(std::size_t direction) {
    return fmt::format("fill=\"{}\" fill-opacity=\"0.8\" stroke=\"{}\" stroke-width=\"0.6\"", series_colour(direction),
                       ink);
}

std::vector<SvgPoint> curve_of(const Covariance& model, const Frame& frame) {
    constexpr int pieces = 240;
    std::vector<SvgPoint> points;
    for (int k = 0; k <= pieces; ++k) {
        // Denser near 0, where smooth and rough fields differ.
        const double fraction = static_cast<double>(k) / pieces;
        const double distance = frame.x.high * fraction * fraction;
        points.push_back(frame.at(distance, model_variogram(model, distance)));
    }
    return points;
}

std::vector<LegendEntry> legend_of(Svg& svg, const VariogramPlot& plot, const PlotExtent& extent) {
    std::vector<LegendEntry> legend;
    const auto dot = [&](const std::string& name, double size, const std::string& style) {
        legend.push_back({name, [&svg, size, style](SvgPoint at) { svg.circle(at, size, style); }});
    };
    const std::vector<double> directions = directions_of(plot.sample);
    if (directions.size() > 1)
        for (std::size_t k = 0; k < directions.size(); ++k)
            dot(fmt::format("{}° ± {}°", directions[k], plot.sample.tolerance), 5, dot_style(k));
    if (plot.model)
        legend.push_back({plot.model_label, [&svg](SvgPoint at) {
                              svg.line({at.x - 8, at.y}, {at.x + 8, at.y}, stroked(ink, curve_width));
                          }});
    dot(fmt::format("{} pairs", extent.most), radius(extent.most, extent), stroked(ink, 0.8));
    if (extent.fewest < extent.most)
        dot(fmt::format("{} pairs", extent.fewest), radius(extent.fewest, extent), stroked(ink, 0.8));
    return legend;
}

}  // namespace

std::string draw_variogram(const VariogramPlot& plot) {
    if (plot.sample.points.empty()) throw Error("a variogram without points cannot be drawn");
    const PlotExtent extent = extent_of(plot);
    // Room for the largest dots.
    const Frame frame{.area = {0, 18, 480, 320},
                      .x = {0, 1.04 * extent.distance},
                      .y = {0, 1.08 * extent.gamma},
                      .x_label = plot.x_label,
                      .y_label = plot.y_label};
    Svg svg(plot.title);
    draw_frame(svg, frame, [&] {
        svg.open_clip(frame.area);
        if (plot.model) svg.line(curve_of(*plot.model, frame), stroked(ink, curve_width));
        svg.close_clip();
        const std::vector<double> directions = directions_of(plot.sample);
        for (const VariogramPoint& point : plot.sample.points) {
            const auto k = std::find(directions.begin(), directions.end(), point.direction) - directions.begin();
            svg.circle(frame.at(point.distance, point.gamma), radius(point.pairs, extent),
                       dot_style(static_cast<std::size_t>(k)));
        }
    });
    draw_legend(svg, frame.beside(), legend_of(svg, plot, extent), LegendLayout::column);
    return std::move(svg).finish();
}

}  // namespace tesela::geo
