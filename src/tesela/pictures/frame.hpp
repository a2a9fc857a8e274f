#pragma once

#include "tesela/pictures/svg.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela {

struct ValueRange {
    double low = 0;
    double high = 1;
};

/// Values on an axis and how they are written.
struct Ticks {
    std::vector<double> at;
    std::vector<std::string> labels;
};

/// The multiples of 1, 2 or 5 times a power of ten in [low, high], with the finest step that gives at most
/// `most` (>= 1) of them. Labels have exactly the decimals that the step needs. low < high, both finite.
[[nodiscard]] Ticks nice_ticks(double low, double high, int most);

/// The finest nice_ticks() whose labels do not crowd a horizontal axis of that many pixels.
[[nodiscard]] Ticks ticks_along(double low, double high, double pixels);
/// The same for a vertical axis; never more than eight.
[[nodiscard]] Ticks ticks_upward(double low, double high, double pixels);

/// A straight axis: values [low, high] at pixels [first, last].
struct Scale {
    double low = 0;
    double high = 1;
    double first = 0;
    double last = 1;
    [[nodiscard]] double operator()(double value) const {
        return first + (value - low) / (high - low) * (last - first);
    }
};

/// What a frame looks like: an outline in ink, or a light ground, where several of them belong together.
enum class FrameStyle : std::uint8_t { outlined, shaded };
/// Lines behind the content: at the ticks of y, or where x and y are 0.
enum class GridLines : std::uint8_t { none, horizontal, through_zero };

/// An area in which values are drawn, and what is written around it.
struct Frame {
    SvgBox area;
    ValueRange x;                    ///< at the left and at the right edge
    ValueRange y;                    ///< at the lower and at the upper edge
    std::string title{};             ///< above the area
    std::string x_label{};           ///< below
    std::string y_label{};           ///< at the left
    std::optional<Ticks> x_ticks{};  ///< those that suit the range, if absent; without labels, only marks are drawn
    std::optional<Ticks> y_ticks{};
    FrameStyle style = FrameStyle::outlined;
    GridLines grid = GridLines::none;

    [[nodiscard]] Scale x_scale() const { return {x.low, x.high, area.x, area.x + area.width}; }
    [[nodiscard]] Scale y_scale() const { return {y.low, y.high, area.y + area.height, area.y}; }
    /// Where a legend begins that stands at the right of the area.
    [[nodiscard]] SvgPoint beside() const { return {area.x + area.width + 14, area.y + 10}; }
    /// Where a point is.
    [[nodiscard]] SvgPoint at(double across, double upward) const { return {x_scale()(across), y_scale()(upward)}; }
};

/// Pixels that a frame's axis takes at its left.
[[nodiscard]] double left_room(const Frame& frame);
/// Draws a frame with what is in it, which `content` draws when the ground and the grid are there and the outline is
/// not.
void draw_frame(Svg& svg, const Frame& frame, const std::function<void()>& content = {});

/// Colours of values, and what they are values of.
struct ColourBar {
    ValueRange range;
    ColourMap colours = ColourMap::viridis;
    std::string label{};
};
/// Draws a colour bar at the right of an area.
void draw_colour_bar(Svg& svg, const SvgBox& area, const ColourBar& bar);

enum class MarkShape : std::uint8_t { circle, square, diamond, triangle };
/// A mark for a value.
struct Mark {
    MarkShape shape = MarkShape::circle;
    double radius = 3.5;
    std::string attributes{};  ///< filled("#333")
};
void draw_mark(Svg& svg, SvgPoint at, const Mark& mark);
/// Colour and shape of the number-th of several series, so that colour is not all that tells them apart.
[[nodiscard]] Mark series_mark(std::size_t number);

/// A name in a legend, and what draws its mark around a point; a mark is at most 16 pixels wide.
struct LegendEntry {
    std::string name;
    std::function<void(SvgPoint)> mark;
};
enum class LegendLayout : std::uint8_t { row, column };
/// Pixels that a legend takes in a row.
[[nodiscard]] double legend_width(const std::vector<LegendEntry>& entries);
/// Draws a legend whose first line is as high as a line of text about `at`, its left end.
void draw_legend(Svg& svg, SvgPoint at, const std::vector<LegendEntry>& entries, LegendLayout layout);

}  // namespace tesela
