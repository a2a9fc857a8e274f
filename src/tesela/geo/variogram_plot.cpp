#include "tesela/geo/variogram_plot.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

constexpr SvgBox area{70, 44, 480, 320};
constexpr double picture_height = 420;
constexpr double legend_gap = 18;
constexpr double legend_left = area.x + area.width + legend_gap;
constexpr double legend_row = 20;
constexpr double largest_radius = 8;
constexpr double least_radius = 1.5;
constexpr double text_size = 11;

/// What the axes must hold, and how large dots are.
struct Extent {
    double distance = 0;
    double gamma = 0;
    Index fewest = 0;
    Index most = 0;
};

Extent extent_of(const VariogramPlot& plot) {
    const auto& points = plot.sample.points;
    Extent extent{.fewest = points.front().pairs};
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

double radius(Index pairs, const Extent& extent) {
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
    return fmt::format("fill=\"{}\" fill-opacity=\"0.8\" stroke=\"#262626\" stroke-width=\"0.6\"",
                       hex(categorical_colour(static_cast<Index>(direction))));
}

constexpr std::string_view curve_style = "fill=\"none\" stroke=\"#262626\" stroke-width=\"1.5\"";

void draw_curve(Svg& svg, const Covariance& model, const Scale& x, const Scale& y) {
    constexpr int pieces = 240;
    const double farthest = x.high;
    std::string data;
    for (int k = 0; k <= pieces; ++k) {
        // Denser near 0, where smooth and rough fields differ.
        const double fraction = static_cast<double>(k) / pieces;
        const double distance = farthest * fraction * fraction;
        data += fmt::format("{}{} {}", k == 0 ? "M" : "L", svg_number(x(distance)),
                            svg_number(y(model_variogram(model, distance))));
    }
    svg.path(data, curve_style);
}

/// Adds a line to the legend and says how wide it is.
class Legend {
public:
    explicit Legend(Svg* svg) : svg_(svg) {}

    void dot(double size, const std::string& style, const std::string& words) {
        if (svg_ != nullptr) svg_->circle({legend_left + 10, y_}, size, style);
        add_words(words);
    }
    void line(const std::string& words) {
        if (svg_ != nullptr)
            svg_->path(fmt::format("M{} {}h20", svg_number(legend_left), svg_number(y_)), std::string(curve_style));
        add_words(words);
    }
    [[nodiscard]] double width() const { return width_; }

private:
    void add_words(const std::string& words) {
        if (svg_ != nullptr) svg_->text({legend_left + 28, y_ + 0.35 * text_size}, words, {.size = text_size});
        width_ = std::max(width_, 28 + text_width(words, text_size));
        y_ += legend_row;
    }

    Svg* svg_;
    double y_ = area.y + 10;
    double width_ = 0;
};

void fill_legend(Legend& legend, const VariogramPlot& plot, const Extent& extent) {
    const std::vector<double> directions = directions_of(plot.sample);
    if (directions.size() > 1)
        for (std::size_t k = 0; k < directions.size(); ++k)
            legend.dot(5, dot_style(k), fmt::format("{}° ± {}°", directions[k], plot.sample.tolerance));
    if (plot.model) legend.line(plot.model_label);
    constexpr auto plain = "fill=\"none\" stroke=\"#262626\" stroke-width=\"0.8\"";
    legend.dot(radius(extent.most, extent), plain, fmt::format("{} pairs", extent.most));
    if (extent.fewest < extent.most)
        legend.dot(radius(extent.fewest, extent), plain, fmt::format("{} pairs", extent.fewest));
}

void draw_frame(Svg& svg, const VariogramPlot& plot, const Scale& x, const Scale& y) {
    svg.text({area.x, area.y - 20}, plot.title, {.size = 14, .weight = TextWeight::bold});
    svg.rect(area, "fill=\"none\" stroke=\"#262626\" stroke-width=\"0.8\"");
    draw_axis(svg, {.scale = x,
                    .at = area.y + area.height,
                    .side = AxisSide::bottom,
                    .ticks = ticks_along(x.low, x.high, area.width),
                    .label = plot.x_label});
    draw_axis(svg, {.scale = y,
                    .at = area.x,
                    .side = AxisSide::left,
                    .ticks = ticks_upward(y.low, y.high, area.height),
                    .label = plot.y_label});
}

}  // namespace

std::string draw_variogram(const VariogramPlot& plot) {
    if (plot.sample.points.empty()) throw Error("a variogram without points cannot be drawn");
    const Extent extent = extent_of(plot);
    // Room for the largest dots.
    const Scale x{.low = 0, .high = 1.04 * extent.distance, .first = area.x, .last = area.x + area.width};
    const Scale y{.low = 0, .high = 1.08 * extent.gamma, .first = area.y + area.height, .last = area.y};
    Legend measured(nullptr);
    fill_legend(measured, plot, extent);
    Svg svg(legend_left + measured.width() + 10, picture_height);
    draw_frame(svg, plot, x, y);
    if (plot.model) draw_curve(svg, *plot.model, x, y);
    const std::vector<double> directions = directions_of(plot.sample);
    for (const VariogramPoint& point : plot.sample.points) {
        const auto k = std::find(directions.begin(), directions.end(), point.direction) - directions.begin();
        svg.circle({x(point.distance), y(point.gamma)}, radius(point.pairs, extent),
                   dot_style(static_cast<std::size_t>(k)));
    }
    Legend legend(&svg);
    fill_legend(legend, plot, extent);
    return std::move(svg).finish();
}

}  // namespace tesela::geo
