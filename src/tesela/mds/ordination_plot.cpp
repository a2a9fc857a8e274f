#include "tesela/mds/ordination_plot.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace tesela::mds {
namespace {

constexpr double left = 76;
constexpr double top = 48;
constexpr double most_width = 560;
constexpr double most_height = 460;
constexpr double least_side = 200;
constexpr double line_height = 240;  ///< of a picture of one dimension
constexpr double below = 56;
constexpr double label_size = 10;
constexpr double legend_size = 11;
constexpr double legend_row = 18;
constexpr double arrow_reach = 0.85;  ///< of the points' extent, for the longest arrow
constexpr auto ink = "#262626";

struct Range {
    double low = 0;
    double high = 0;
    void include(const std::vector<double>& values) {
        for (const double value : values) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    [[nodiscard]] double extent() const { return high - low; }
    void widen(double to) {
        const double by = std::max(0.0, to - extent()) / 2;
        low -= by;
        high += by;
    }
};

/// What is drawn where: the same number of pixels for a unit of x and of y.
struct Frame {
    SvgBox area{};
    Scale x{};
    Scale y{};
};

/// Whether there is one dimension.
bool is_line(const OrdinationPlot& plot) {
    return std::ranges::all_of(plot.points, [](const PlottedPoints& points) { return points.y.empty(); });
}

double y_of(const PlottedPoints& points, std::size_t i) { return points.y.empty() ? 0 : points.y[i]; }

/// A line across the middle of a low picture.
Frame frame_of_line(Range x) {
    x.widen(x.extent() > 0 ? 1.12 * x.extent() : 1.0);
    const SvgBox area{left, top, most_width, line_height};
    return {
        .area = area, .x = {x.low, x.high, area.x, area.x + area.width}, .y = {-1, 1, area.y + area.height, area.y}};
}

Frame frame_of(const OrdinationPlot& plot) {
    Range x;
    Range y;
    for (const PlottedPoints& points : plot.points) {
        x.include(points.x);
        y.include(points.y);
    }
    if (is_line(plot)) return frame_of_line(x);
    const double largest = std::max(x.extent(), y.extent());
    const double unit = largest > 0 ? largest : 1.0;
    // Room for dots and names, and for data that lie on a line.
    x.widen(std::max(1.12 * x.extent(), 0.05 * unit));
    y.widen(std::max(1.12 * y.extent(), 0.05 * unit));
    const double pixels = std::min(most_width / x.extent(), most_height / y.extent());
    x.widen(least_side / pixels);
    y.widen(least_side / pixels);
    const SvgBox area{left, top, x.extent() * pixels, y.extent() * pixels};
    return {.area = area,
            .x = {x.low, x.high, area.x, area.x + area.width},
            .y = {y.low, y.high, area.y + area.height, area.y}};
}

/// The area that two boxes share.
double overlap(const SvgBox& a, const SvgBox& b) {
    const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
    const double height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
    return std::max(0.0, width) * std::max(0.0, height);
}

/// Puts names where they cover no dot and no other name, as far as there is such a place.
class Labels {
public:
    Labels(Svg& svg, const SvgBox& area) : svg_(svg), area_(area) {}

    void keep_free(SvgPoint dot) { taken_.push_back({dot.x - 4, dot.y - 4, 8, 8}); }

    void write(SvgPoint dot, const std::string& words, const std::string& colour) {
        const double width = text_width(words, label_size);
        const std::array<SvgPoint, 8> places{{{dot.x + 6, dot.y - 5},
                                              {dot.x - 6 - width, dot.y - 5},
                                              {dot.x - width / 2, dot.y - 16},
                                              {dot.x - width / 2, dot.y + 6},
                                              {dot.x + 5, dot.y - 14},
                                              {dot.x + 5, dot.y + 4},
                                              {dot.x - 5 - width, dot.y - 14},
                                              {dot.x - 5 - width, dot.y + 4}}};
        write_at_best(places, words, colour);
    }

    /// Above or below a dot on a line, as near as there is room, with a stroke from one to the other.
    void write_off_line(SvgPoint dot, const std::string& words, const std::string& colour) {
        const double width = text_width(words, label_size);
        const double last = std::max(area_.x, area_.x + area_.width - width);
        const double x = std::clamp(dot.x - width / 2, area_.x, last);
        std::vector<SvgPoint> places;
        for (double away = 10; away + label_size < line_height / 2; away += label_size + 2) {
            places.push_back({x, dot.y - away - label_size});
            places.push_back({x, dot.y + away});
        }
        const SvgPoint at = write_at_best(places, words, colour);
        const double end = at.y < dot.y ? at.y + label_size : at.y;
        svg_.path(fmt::format("M{} {}V{}", svg_number(dot.x), svg_number(dot.y), svg_number(end)),
                  "fill=\"none\" stroke=\"#bfbfbf\" stroke-width=\"0.5\"");
    }

private:
    /// Writes at the place of the least cost, the first of several, and says which one it is.
    SvgPoint write_at_best(std::span<const SvgPoint> places, const std::string& words, const std::string& colour) {
        const double width = text_width(words, label_size);
        const auto cost = [&](SvgPoint at) {
            const SvgBox box{at.x, at.y, width, label_size};
            double sum = 0;
            for (const SvgBox& other : taken_) sum += overlap(box, other);
            const bool inside = box.x >= area_.x && box.x + width <= area_.x + area_.width && box.y >= area_.y &&
                                box.y + label_size <= area_.y + area_.height;
            return sum + (inside ? 0 : 1000);
        };
        const SvgPoint best = *std::ranges::min_element(places, {}, cost);
        taken_.push_back({best.x, best.y, width, label_size});
        svg_.open_group(fmt::format("fill=\"{}\"", colour));
        svg_.text({best.x, best.y + 0.85 * label_size}, words, {.size = label_size});
        svg_.close_group();
        return best;
    }

    Svg& svg_;
    SvgBox area_;
    std::vector<SvgBox> taken_;
};

std::string colour_of(std::size_t kind) { return hex(categorical_colour(static_cast<Index>(kind))); }

double dot_radius(std::size_t count) { return std::clamp(50 / std::sqrt(static_cast<double>(count)), 1.2, 3.5); }

/// Round for the first kind, a triangle for others.
void draw_mark(Svg& svg, SvgPoint at, std::size_t kind, double radius) {
    if (kind == 0) return svg.circle(at, radius, fmt::format("fill=\"{}\" fill-opacity=\"0.85\"", colour_of(kind)));
    const double r = 1.3 * radius;
    svg.path(fmt::format("M{} {}l{} {}h{}z", svg_number(at.x), svg_number(at.y - r), svg_number(0.9 * r),
                         svg_number(1.6 * r), svg_number(-1.8 * r)),
             fmt::format("fill=\"{}\"", colour_of(kind)));
}

void draw_frame(Svg& svg, const OrdinationPlot& plot, const Frame& frame) {
    const SvgBox& area = frame.area;
    svg.text({area.x, area.y - 20}, plot.title, {.size = 14, .weight = TextWeight::bold});
    const auto line = [&](double x, double y, const char* direction, double length) {
        svg.path(fmt::format("M{} {}{}{}", svg_number(x), svg_number(y), direction, svg_number(length)),
                 "fill=\"none\" stroke=\"#bfbfbf\" stroke-width=\"0.8\"");
    };
    line(frame.x(0), area.y, "v", area.height);
    line(area.x, frame.y(0), "h", area.width);
    svg.rect(area, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"", ink));
    draw_axis(svg, {.scale = frame.x,
                    .at = area.y + area.height,
                    .side = AxisSide::bottom,
                    .ticks = ticks_along(frame.x.low, frame.x.high, area.width),
                    .label = plot.x_label});
    if (is_line(plot)) return;
    draw_axis(svg, {.scale = frame.y,
                    .at = area.x,
                    .side = AxisSide::left,
                    .ticks = ticks_upward(frame.y.low, frame.y.high, area.height),
                    .label = plot.y_label});
}

/// The unit of arrows: the greatest with which all stay inside.
double arrow_unit(const PlottedPoints& arrows, const Frame& frame) {
    double unit = 0;
    const auto consider = [&](double value, const Scale& scale) {
        const double room = value > 0 ? scale.high : -scale.low;
        if (value == 0 || room <= 0) return;
        const double most = arrow_reach * room / std::abs(value);
        unit = unit == 0 ? most : std::min(unit, most);
    };
    for (std::size_t k = 0; k < arrows.x.size(); ++k) {
        consider(arrows.x[k], frame.x);
        consider(y_of(arrows, k), frame.y);
    }
    return unit;
}

void draw_arrow(Svg& svg, SvgPoint from, SvgPoint to, const std::string& colour) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 1) return;
    const double ux = (to.x - from.x) / length;
    const double uy = (to.y - from.y) / length;
    svg.path(fmt::format("M{} {}L{} {}M{} {}L{} {}L{} {}", svg_number(from.x), svg_number(from.y), svg_number(to.x),
                         svg_number(to.y), svg_number(to.x - 7 * ux - 3 * uy), svg_number(to.y - 7 * uy + 3 * ux),
                         svg_number(to.x), svg_number(to.y), svg_number(to.x - 7 * ux + 3 * uy),
                         svg_number(to.y - 7 * uy - 3 * ux)),
             fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"", colour));
}

/// Whether the points of a kind have their names beside them: the least numerous kinds first, while names can be read.
bool are_named(const OrdinationPlot& plot, std::size_t kind) {
    const auto precedes = [&](std::size_t other) {
        return std::pair(plot.points[other].labels.size(), other) <= std::pair(plot.points[kind].labels.size(), kind);
    };
    std::size_t count = 0;
    for (std::size_t other = 0; other < plot.points.size(); ++other)
        if (precedes(other)) count += plot.points[other].labels.size();
    return count <= static_cast<std::size_t>(most_labels);
}

void draw_content(Svg& svg, const OrdinationPlot& plot, const Frame& frame, double unit) {
    Labels labels(svg, frame.area);
    const auto at = [&](double x, double y) { return SvgPoint{frame.x(x), frame.y(y)}; };
    const auto name = [&](SvgPoint dot, const std::string& words, const std::string& colour) {
        if (is_line(plot)) return labels.write_off_line(dot, words, colour);
        labels.write(dot, words, colour);
    };
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind) {
        const PlottedPoints& points = plot.points[kind];
        for (std::size_t i = 0; i < points.x.size(); ++i) {
            draw_mark(svg, at(points.x[i], y_of(points, i)), kind, dot_radius(points.x.size()));
            labels.keep_free(at(points.x[i], y_of(points, i)));
        }
    }
    const std::string arrow_colour = colour_of(plot.points.size());
    for (std::size_t k = 0; k < plot.arrows.x.size(); ++k) {
        const SvgPoint tip = at(unit * plot.arrows.x[k], unit * y_of(plot.arrows, k));
        draw_arrow(svg, at(0, 0), tip, arrow_colour);
        if (k < plot.arrows.labels.size() && plot.arrows.x.size() <= static_cast<std::size_t>(most_labels))
            name(tip, plot.arrows.labels[k], arrow_colour);
    }
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind) {
        if (!are_named(plot, kind)) continue;
        const PlottedPoints& points = plot.points[kind];
        for (std::size_t i = 0; i < points.labels.size(); ++i)
            name(at(points.x[i], y_of(points, i)), points.labels[i], plot.points.size() > 1 ? colour_of(kind) : ink);
    }
}

std::string arrow_legend(const PlottedPoints& arrows, double unit) {
    return fmt::format("{}, × {:.3g}", arrows.name, unit);
}

bool has_legend(const OrdinationPlot& plot) { return plot.points.size() > 1 || !plot.arrows.x.empty(); }

double legend_width(const OrdinationPlot& plot, double unit) {
    if (!has_legend(plot)) return 0;
    double width = 0;
    for (const PlottedPoints& points : plot.points) width = std::max(width, text_width(points.name, legend_size));
    if (!plot.arrows.x.empty()) width = std::max(width, text_width(arrow_legend(plot.arrows, unit), legend_size));
    return 40 + width;
}

void draw_legend(Svg& svg, const OrdinationPlot& plot, const Frame& frame, double unit) {
    if (!has_legend(plot)) return;
    const double x = frame.area.x + frame.area.width + 16;
    double y = frame.area.y + 10;
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind) {
        draw_mark(svg, {x + 8, y}, kind, 3.5);
        svg.text({x + 22, y + 0.35 * legend_size}, plot.points[kind].name, {.size = legend_size});
        y += legend_row;
    }
    if (plot.arrows.x.empty()) return;
    draw_arrow(svg, {x, y}, {x + 17, y}, colour_of(plot.points.size()));
    svg.text({x + 22, y + 0.35 * legend_size}, arrow_legend(plot.arrows, unit), {.size = legend_size});
}

}  // namespace

std::string draw_ordination(const OrdinationPlot& plot) {
    const Frame frame = frame_of(plot);
    const double unit = arrow_unit(plot.arrows, frame);
    const double width =
        std::max(frame.area.x + frame.area.width + legend_width(plot, unit), left + text_width(plot.title, 15));
    Svg svg(width + 16, frame.area.y + frame.area.height + below);
    draw_frame(svg, plot, frame);
    draw_content(svg, plot, frame, unit);
    draw_legend(svg, plot, frame, unit);
    return std::move(svg).finish();
}

std::string draw_scree(const ScreePlot& plot) {
    constexpr std::size_t most_bars = 30;
    constexpr std::size_t most_sums = 12;
    constexpr double bar_width = 34;
    constexpr double height = 300;
    const std::size_t count = std::min(most_bars, plot.values.size());
    if (count == 0) throw Error("there are no values to draw");
    const std::string label = "dimension; above the bars what all up to it explain";
    const double width = std::max({least_side, bar_width * static_cast<double>(count), text_width(label, 13)});
    const SvgBox area{left, top, width, height};
    Range range;
    range.include({plot.values.begin(), plot.values.begin() + static_cast<std::ptrdiff_t>(count)});
    if (!(range.extent() > 0)) range.high = 1;
    range.high += 0.08 * range.extent();  // for the sums
    if (range.low < 0) range.low -= 0.04 * range.extent();
    const Scale y{range.low, range.high, area.y + area.height, area.y};
    const double step = area.width / static_cast<double>(count);
    Svg svg(std::max(area.x + area.width, left + text_width(plot.title, 15)) + 20, area.y + height + below);
    svg.text({area.x, area.y - 20}, plot.title, {.size = 14, .weight = TextWeight::bold});
    double explained = 0;
    Ticks numbers;
    for (std::size_t k = 0; k < count; ++k) {
        const double x = area.x + step * (static_cast<double>(k) + 0.5);
        const double value = plot.values[k];
        const double upper = y(std::max(value, 0.0));
        svg.rect({x - 0.36 * step, upper, 0.72 * step, std::max(0.5, std::abs(y(value) - y(0)))},
                 fmt::format("fill=\"{}\"", hex(categorical_colour(value < 0 ? 1 : 0))));
        if (k < plot.parts.size()) explained += plot.parts[k];
        if (k < plot.parts.size() && k < most_sums && value > 0)
            svg.text({x, upper - 4}, fmt::format("{:.3g} %", 100 * explained),
                     {.size = 9, .anchor = TextAnchor::middle});
        if (count > 15 && k % 5 != 4 && k != 0) continue;
        numbers.at.push_back(static_cast<double>(k + 1));
        numbers.labels.push_back(fmt::format("{}", k + 1));
    }
    svg.path(fmt::format("M{} {}h{}", svg_number(area.x), svg_number(y(0)), svg_number(area.width)),
             fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"", ink));
    svg.rect(area, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"", ink));
    draw_axis(svg, {.scale = {0.5, static_cast<double>(count) + 0.5, area.x, area.x + area.width},
                    .at = area.y + height,
                    .side = AxisSide::bottom,
                    .ticks = numbers,
                    .label = label});
    draw_axis(svg, {.scale = y,
                    .at = area.x,
                    .side = AxisSide::left,
                    .ticks = ticks_upward(y.low, y.high, height),
                    .label = plot.value_label});
    return std::move(svg).finish();
}

}  // namespace tesela::mds
