#pragma once

#include "tesela/pictures/colour.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The colour of what is written.
inline constexpr std::string_view ink = "#262626";

/// Pixels, from the upper left corner.
struct SvgPoint {
    double x = 0;
    double y = 0;
};

struct SvgBox {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

enum class TextAnchor { start, middle, end };
enum class TextWeight { normal, bold };

struct TextStyle {
    double size = 11;
    TextAnchor anchor = TextAnchor::start;
    TextWeight weight = TextWeight::normal;
    double rotate = 0;  ///< degrees, clockwise about the anchor
};

/// Text as XML content or attribute value: markup escaped, what XML 1.0 and UTF-8 forbid replaced by U+FFFD.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// A number with at most two decimals and nothing superfluous: "12", "0.5", "-3.25".
[[nodiscard]] std::string svg_number(double value);

/// About how wide a text is, in pixels, in a common sans-serif font.
[[nodiscard]] double text_width(std::string_view text, double size);

/// A growing SVG picture. `attributes` are written as they are: `fill="none" stroke="#333"`.
class Svg {
public:
    Svg(double width, double height);

    void rect(const SvgBox& box, std::string_view attributes);
    void circle(SvgPoint centre, double radius, std::string_view attributes);
    void path(std::string_view data, std::string_view attributes);
    void text(SvgPoint at, std::string_view words, const TextStyle& style);
    void open_group(std::string_view attributes);
    void close_group();
    /// Where to draw an area with the whole of a colour map, low values at the bottom.
    void colour_ramp(const SvgBox& box, ColourMap map);

    [[nodiscard]] std::string finish() &&;

private:
    std::string out_;
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

enum class AxisSide { bottom, left, right };

struct Axis {
    Scale scale;
    double at = 0;  ///< the fixed coordinate: y of a bottom axis, x of the others
    AxisSide side = AxisSide::bottom;
    Ticks ticks;  ///< without labels, only marks are drawn
    std::string label;
};

/// Room that an axis takes outside the area it borders, in pixels.
[[nodiscard]] double axis_room(const Axis& axis);
void draw_axis(Svg& svg, const Axis& axis);

struct ColourBar {
    SvgBox box;
    double low = 0;
    double high = 1;
    ColourMap colours = ColourMap::viridis;
    std::string label;
};

/// Width of a colour bar with ticks and label.
[[nodiscard]] double colour_bar_room(const ColourBar& bar);
void draw_colour_bar(Svg& svg, const ColourBar& bar);

}  // namespace tesela
