#include "tesela/mds/ordination_plot.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace tesela::mds {
namespace {

constexpr double top = 18;
constexpr double most_width = 560;
constexpr double most_height = 460;
constexpr double least_side = 200;
constexpr double line_height = 240;  ///< of a picture of one dimension
constexpr double label_size = 10;
constexpr double arrow_reach = 0.85;  ///< of the points' extent, for the longest arrow

/// Values with 0 among them.
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

/// Whether there is one dimension.
bool is_line(const OrdinationPlot& plot) {
    return std::ranges::all_of(plot.points, [](const PlottedPoints& points) { return points.y.empty(); });
}

double y_of(const PlottedPoints& points, std::size_t i) { return points.y.empty() ? 0 : points.y[i]; }

/// The same number of pixels for a unit of x and of y; of one dimension, a line across the middle of a low picture.
Frame frame_of(const OrdinationPlot& plot) {
    Range x;
    Range y;
    for (const PlottedPoints& points : plot.points) {
        x.include(points.x);
        y.include(points.y);
    }
    Frame frame{.x_label = plot.x_label, .grid = GridLines::through_zero};
    if (is_line(plot)) {
        x.widen(x.extent() > 0 ? 1.12 * x.extent() : 1.0);
        y = {-1, 1};
        frame.area = {0, top, most_width, line_height};
        frame.y_ticks = Ticks{};
    } else {
        const double largest = std::max(x.extent(), y.extent());
        const double unit = largest > 0 ? largest : 1.0;
        // Room for dots and names, and for data that lie on a line.
        x.widen(std::max(1.12 * x.extent(), 0.05 * unit));
        y.widen(std::max(1.12 * y.extent(), 0.05 * unit));
        const double pixels = std::min(most_width / x.extent(), most_height / y.extent());
        x.widen(least_side / pixels);
        y.widen(least_side / pixels);
        frame.area = {0, top, x.extent() * pixels, y.extent() * pixels};
        frame.y_label = plot.y_label;
    }
    frame.x = {x.low, x.high};
    frame.y = {y.low, y.high};
    return frame;
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
        svg_.line(dot, {dot.x, end}, stroked("#bfbfbf", 0.5));
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
        svg_.open_group(filled(colour));
        svg_.text({best.x, best.y + 0.85 * label_size}, words, {.size = label_size});
        svg_.close_group();
        return best;
    }

    Svg& svg_;
    SvgBox area_;
    std::vector<SvgBox> taken_;
};

double dot_radius(std::size_t count) { return std::clamp(50 / std::sqrt(static_cast<double>(count)), 1.2, 3.5); }

/// Round for the first kind, a triangle for others.
void draw_kind(Svg& svg, SvgPoint at, std::size_t kind, double radius) {
    const std::string fill = filled(series_colour(kind));
    draw_mark(svg, at,
              kind == 0 ? Mark{MarkShape::circle, radius, fill + " fill-opacity=\"0.85\""}
                        : Mark{MarkShape::triangle, 1.3 * radius, fill});
}

/// The unit of arrows: the greatest with which all stay inside.
double arrow_unit(const PlottedPoints& arrows, const Frame& frame) {
    double unit = 0;
    const auto consider = [&](double value, const ValueRange& range) {
        const double room = value > 0 ? range.high : -range.low;
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
    const std::string style = stroked(colour, 1.4);
    svg.line(from, to, style);
    svg.line({{to.x - 7 * ux - 3 * uy, to.y - 7 * uy + 3 * ux}, to, {to.x - 7 * ux + 3 * uy, to.y - 7 * uy - 3 * ux}},
             style);
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
    const auto name = [&](SvgPoint dot, const std::string& words, const std::string& colour) {
        if (is_line(plot)) return labels.write_off_line(dot, words, colour);
        labels.write(dot, words, colour);
    };
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind) {
        const PlottedPoints& points = plot.points[kind];
        for (std::size_t i = 0; i < points.x.size(); ++i) {
            draw_kind(svg, frame.at(points.x[i], y_of(points, i)), kind, dot_radius(points.x.size()));
            labels.keep_free(frame.at(points.x[i], y_of(points, i)));
        }
    }
    const std::string arrow_colour = series_colour(plot.points.size());
    for (std::size_t k = 0; k < plot.arrows.x.size(); ++k) {
        const SvgPoint tip = frame.at(unit * plot.arrows.x[k], unit * y_of(plot.arrows, k));
        draw_arrow(svg, frame.at(0, 0), tip, arrow_colour);
        if (k < plot.arrows.labels.size() && plot.arrows.x.size() <= static_cast<std::size_t>(most_labels))
            name(tip, plot.arrows.labels[k], arrow_colour);
    }
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind) {
        if (!are_named(plot, kind)) continue;
        const PlottedPoints& points = plot.points[kind];
        for (std::size_t i = 0; i < points.labels.size(); ++i)
            name(frame.at(points.x[i], y_of(points, i)), points.labels[i],
                 plot.points.size() > 1 ? series_colour(kind) : std::string(ink));
    }
}

std::vector<LegendEntry> legend_of(Svg& svg, const OrdinationPlot& plot, double unit) {
    if (plot.points.size() < 2 && plot.arrows.x.empty()) return {};
    std::vector<LegendEntry> legend;
    for (std::size_t kind = 0; kind < plot.points.size(); ++kind)
        legend.push_back({plot.points[kind].name, [&svg, kind](SvgPoint at) { draw_kind(svg, at, kind, 3.5); }});
    if (!plot.arrows.x.empty())
        legend.push_back({fmt::format("{}, × {:.3g}", plot.arrows.name, unit), [&](SvgPoint at) {
                              draw_arrow(svg, {at.x - 8, at.y}, {at.x + 8, at.y}, series_colour(plot.points.size()));
                          }});
    return legend;
}

}  // namespace

std::string draw_ordination(const OrdinationPlot& plot) {
    const Frame frame = frame_of(plot);
    const double unit = arrow_unit(plot.arrows, frame);
    Svg svg(plot.title);
    draw_frame(svg, frame, [&] { draw_content(svg, plot, frame, unit); });
    draw_legend(svg, frame.beside(), legend_of(svg, plot, unit), LegendLayout::column);
    return std::move(svg).finish();
}

std::string draw_scree(const ScreePlot& plot) {
    constexpr std::size_t most_bars = 30;
    constexpr std::size_t most_sums = 12;
    constexpr double bar_width = 34;
    const std::size_t count = std::min(most_bars, plot.values.size());
    if (count == 0) throw Error("there are no values to draw");
    const std::string label = "dimension; above the bars what all up to it explain";
    Range range;
    range.include({plot.values.begin(), plot.values.begin() + static_cast<std::ptrdiff_t>(count)});
    if (!(range.extent() > 0)) range.high = 1;
    range.high += 0.08 * range.extent();  // for the sums
    if (range.low < 0) range.low -= 0.04 * range.extent();
    Ticks numbers;
    for (std::size_t k = 0; k < count; ++k) {
        if (count > 15 && k % 5 != 4 && k != 0) continue;
        numbers.at.push_back(static_cast<double>(k + 1));
        numbers.labels.push_back(fmt::format("{}", k + 1));
    }
    const double width = std::max({least_side, bar_width * static_cast<double>(count), text_width(label, 13)});
    const Frame frame{.area = {0, top, width, 300},
                      .x = {0.5, static_cast<double>(count) + 0.5},
                      .y = {range.low, range.high},
                      .x_label = label,
                      .y_label = plot.value_label,
                      .x_ticks = numbers};
    Svg svg(plot.title);
    draw_frame(svg, frame, [&] {
        double explained = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const double value = plot.values[k];
            const auto place = static_cast<double>(k + 1);
            const SvgPoint left = frame.at(place - 0.36, std::max(value, 0.0));
            const SvgPoint right = frame.at(place + 0.36, std::min(value, 0.0));
            svg.rect({left.x, left.y, right.x - left.x, std::max(0.5, right.y - left.y)},
                     filled(series_colour(value < 0 ? 1 : 0)));
            if (k >= plot.parts.size()) continue;
            explained += plot.parts[k];
            if (k < most_sums && value > 0)
                svg.text({(left.x + right.x) / 2, left.y - 4}, fmt::format("{:.3g} %", 100 * explained),
                         {.size = 9, .anchor = TextAnchor::middle});
        }
        svg.line(frame.at(frame.x.low, 0), frame.at(frame.x.high, 0), stroked(ink, 0.8));
    });
    return std::move(svg).finish();
}

}  // namespace tesela::mds
