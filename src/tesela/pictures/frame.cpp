#include "tesela/pictures/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

constexpr double tick_length = 4;
constexpr double tick_text = 10;
constexpr double label_text = 11;
constexpr double outline = 0.8;

std::string with_minus_sign(std::string text) {
    for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at))
        text.replace(at, 1, "\u2212");
    return text;
}

/// mantissa * 10^exponent with a mantissa of 1, 2 or 5.
struct Step {
    double mantissa;
    int exponent;
    [[nodiscard]] double size() const { return mantissa * std::pow(10.0, exponent); }
    [[nodiscard]] Step next() const {
        if (mantissa == 1) return {2, exponent};
        if (mantissa == 2) return {5, exponent};
        return {1, exponent + 1};
    }
    /// times * size(), correctly rounded as far as powers of ten are exact: 3 * 0.1 is 0.3.
    [[nodiscard]] double multiple(double times) const {
        return exponent < 0 ? times * mantissa / std::pow(10.0, -exponent)
                            : times * mantissa * std::pow(10.0, exponent);
    }
};

/// Digits after the point that a multiple of a step needs; numbers too long to print in full get an exponent.
std::string tick_label(double value, Step step, double largest) {
    if (largest < 1e8 && step.exponent >= -5)
        return with_minus_sign(fmt::format("{:.{}f}", value, std::max(0, -step.exponent)));
    if (value == 0) return "0";
    const int decimals = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)) - step.exponent;
    const std::string text = fmt::format("{:.{}e}", value, std::max(0, decimals));
    const std::size_t e = text.find('e');
    return with_minus_sign(fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1))));
}

double widest_label(const Ticks& ticks) {
    double width = 0;
    for (const std::string& label : ticks.labels) width = std::max(width, text_width(label, tick_text));
    return width;
}

enum class AxisSide { bottom, left, right };

struct Axis {
    Scale scale;
    double at = 0;  ///< the fixed coordinate: y of a bottom axis, x of the others
    AxisSide side = AxisSide::bottom;
    Ticks ticks;
    std::string label;
};

/// Pixels that an axis takes outside the area that it borders.
double axis_room(const Axis& axis) {
    const bool numbered = !axis.ticks.labels.empty();
    const double numbers = !numbered ? 0 : axis.side == AxisSide::bottom ? tick_text + 3 : widest_label(axis.ticks) + 3;
    return tick_length + numbers + (axis.label.empty() ? 0 : label_text + 7);
}

void draw_label(Svg& svg, const Axis& axis) {
    if (axis.label.empty()) return;
    const double middle = (axis.scale.first + axis.scale.last) / 2;
    TextStyle style{.size = label_text, .anchor = TextAnchor::middle};
    if (axis.side == AxisSide::bottom) return svg.text({middle, axis.at + axis_room(axis) - 2}, axis.label, style);
    style.rotate = -90;
    const double x =
        axis.side == AxisSide::left ? axis.at - axis_room(axis) + label_text - 1 : axis.at + axis_room(axis) - 2;
    svg.text({x, middle}, axis.label, style);
}

void draw_axis(Svg& svg, const Axis& axis) {
    const double out = axis.side == AxisSide::left ? -1 : 1;
    const double text_at = axis.at + out * (tick_length + 3);
    std::string marks;
    for (std::size_t k = 0; k < axis.ticks.at.size(); ++k) {
        const double along = axis.scale(axis.ticks.at[k]);
        const std::string_view label = k < axis.ticks.labels.size() ? axis.ticks.labels[k] : std::string_view{};
        if (axis.side == AxisSide::bottom) {
            marks += fmt::format("M{} {}v{}", svg_number(along), svg_number(axis.at), tick_length);
            if (!label.empty())
                svg.text({along, text_at + tick_text - 1}, label, {.size = tick_text, .anchor = TextAnchor::middle});
        } else {
            marks += fmt::format("M{} {}h{}", svg_number(axis.at), svg_number(along), out * tick_length);
            const TextAnchor anchor = axis.side == AxisSide::left ? TextAnchor::end : TextAnchor::start;
            if (!label.empty())
                svg.text({text_at, along + 0.35 * tick_text}, label, {.size = tick_text, .anchor = anchor});
        }
    }
    if (!marks.empty()) svg.path(marks, stroked(ink, outline));
    draw_label(svg, axis);
}

Axis bottom_axis(const Frame& frame) {
    return {.scale = frame.x_scale(),
            .at = frame.area.y + frame.area.height,
            .side = AxisSide::bottom,
            .ticks = frame.x_ticks ? *frame.x_ticks : ticks_along(frame.x.low, frame.x.high, frame.area.width),
            .label = frame.x_label};
}

Axis left_axis(const Frame& frame) {
    return {.scale = frame.y_scale(),
            .at = frame.area.x,
            .side = AxisSide::left,
            .ticks = frame.y_ticks ? *frame.y_ticks : ticks_upward(frame.y.low, frame.y.high, frame.area.height),
            .label = frame.y_label};
}

void draw_grid(Svg& svg, const Frame& frame) {
    const auto& [left, top, width, height] = frame.area;
    const std::string style = stroked("#ccc", 0.6);
    const auto horizontal = [&](double y) { svg.line({left, y}, {left + width, y}, style); };
    if (frame.grid == GridLines::horizontal)
        for (const double y : left_axis(frame).ticks.at) horizontal(frame.y_scale()(y));
    if (frame.grid != GridLines::through_zero) return;
    const SvgPoint zero = frame.at(0, 0);
    horizontal(zero.y);
    svg.line({zero.x, top}, {zero.x, top + height}, style);
}

constexpr double entry_gap = 16;
double entry_width(const LegendEntry& entry) { return 22 + text_width(entry.name, label_text); }

}  // namespace

Ticks nice_ticks(double low, double high, int most) {
    const double smallest = (high - low) / (most + 1);
    Step step{1, static_cast<int>(std::floor(std::log10(smallest)))};
    // A hair's breadth of rounding must not lose the tick at an end.
    const auto first = [&] { return std::ceil(low / step.size() - 1e-9); };
    const auto last = [&] { return std::floor(high / step.size() + 1e-9); };
    while (last() - first() + 1 > most) step = step.next();
    Ticks ticks;
    const double largest = std::max(std::abs(low), std::abs(high));
    const int count = static_cast<int>(last() - first()) + 1;
    for (int k = 0; k < count; ++k) {
        const double value = step.multiple(first() + k);
        ticks.at.push_back(std::clamp(value, low, high));
        ticks.labels.push_back(tick_label(value, step, largest));
    }
    return ticks;
}

Ticks ticks_along(double low, double high, double pixels) {
    for (int most = static_cast<int>(pixels / 40); most > 2; --most) {
        Ticks ticks = nice_ticks(low, high, most);
        const double spacing = ticks.at.size() < 2 ? pixels : (ticks.at[1] - ticks.at[0]) / (high - low) * pixels;
        if (widest_label(ticks) + 20 <= spacing) return ticks;
    }
    return nice_ticks(low, high, 2);
}

Ticks ticks_upward(double low, double high, double pixels) {
    return nice_ticks(low, high, std::clamp(static_cast<int>(pixels / 32), 2, 8));
}

double left_room(const Frame& frame) { return axis_room(left_axis(frame)); }

void draw_frame(Svg& svg, const Frame& frame, const std::function<void()>& content) {
    const bool shaded = frame.style == FrameStyle::shaded;
    if (shaded) svg.rect(frame.area, filled("#f7f7f7"));
    draw_grid(svg, frame);
    if (content) content();
    svg.rect(frame.area, shaded ? stroked("#ccc", 1) : stroked(ink, outline));
    draw_axis(svg, bottom_axis(frame));
    draw_axis(svg, left_axis(frame));
    if (!frame.title.empty())
        svg.text({frame.area.x, frame.area.y - 8}, frame.title, {.size = 12, .weight = TextWeight::bold});
}

void draw_colour_bar(Svg& svg, const SvgBox& area, const ColourBar& bar) {
    const SvgBox box{area.x + area.width + 10, area.y, 12, area.height};
    svg.colour_ramp(box, bar.colours);
    svg.rect(box, stroked(ink, outline));
    draw_axis(svg, {.scale = {bar.range.low, bar.range.high, box.y + box.height, box.y},
                    .at = box.x + box.width,
                    .side = AxisSide::right,
                    .ticks = ticks_upward(bar.range.low, bar.range.high, box.height),
                    .label = bar.label});
}

void draw_mark(Svg& svg, SvgPoint at, const Mark& mark) {
    const double r = mark.radius;
    const auto shape = [&](std::vector<SvgPoint> corners) {
        corners.push_back(corners.front());
        svg.line(corners, mark.attributes);
    };
    switch (mark.shape) {
        case MarkShape::circle: return svg.circle(at, r, mark.attributes);
        case MarkShape::square: return svg.rect({at.x - r, at.y - r, 2 * r, 2 * r}, mark.attributes);
        case MarkShape::diamond: return shape({{at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}});
        case MarkShape::triangle:
            return shape({{at.x, at.y - r}, {at.x + 0.9 * r, at.y + 0.6 * r}, {at.x - 0.9 * r, at.y + 0.6 * r}});
    }
}

Mark series_mark(std::size_t number) {
    // Alike in area, as far as the eye tells.
    constexpr std::array<std::pair<MarkShape, double>, 4> shapes{
        {{MarkShape::circle, 3.5}, {MarkShape::square, 3}, {MarkShape::diamond, 4}, {MarkShape::triangle, 4.5}}};
    const auto& [shape, radius] = shapes[number % shapes.size()];
    return {.shape = shape, .radius = radius, .attributes = filled(series_colour(number))};
}

double legend_width(const std::vector<LegendEntry>& entries) {
    double width = -entry_gap;
    for (const LegendEntry& entry : entries) width += entry_width(entry) + entry_gap;
    return std::max(0.0, width);
}

void draw_legend(Svg& svg, SvgPoint at, const std::vector<LegendEntry>& entries, LegendLayout layout) {
    for (const LegendEntry& entry : entries) {
        entry.mark({at.x + 8, at.y});
        svg.text({at.x + 22, at.y + 0.35 * label_text}, entry.name, {.size = label_text});
        if (layout == LegendLayout::row)
            at.x += entry_width(entry) + entry_gap;
        else
            at.y += 20;
    }
}

}  // namespace tesela
