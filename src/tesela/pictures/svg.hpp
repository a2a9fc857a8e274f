#pragma once

#include "tesela/pictures/colour.hpp"

#include <limits>
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

/// Attributes of a line.
[[nodiscard]] std::string stroked(std::string_view colour, double width);
/// Attributes of an area.
[[nodiscard]] std::string filled(std::string_view colour);
/// The colour of the number-th of several things without an order.
[[nodiscard]] std::string series_colour(std::size_t number);

/// A growing SVG picture: as large as what is drawn in it, with a margin. `attributes` are written as they are:
/// `fill="none" stroke="#333"`. Rectangles, circles and words make it larger; lines and paths lie inside of what does.
class Svg {
public:
    /// With a title that stands on y = 0, from x = 0 on.
    explicit Svg(std::string_view title);

    void rect(const SvgBox& box, std::string_view attributes);
    void circle(SvgPoint centre, double radius, std::string_view attributes);
    void path(std::string_view data, std::string_view attributes);
    /// From point to point; an area of them, if the attributes fill it.
    void line(const std::vector<SvgPoint>& points, std::string_view attributes);
    void line(SvgPoint from, SvgPoint to, std::string_view attributes);
    void text(SvgPoint at, std::string_view words, const TextStyle& style);
    void open_group(std::string_view attributes);
    void close_group();
    /// What comes next is cut off at a box.
    void open_clip(const SvgBox& box);
    void close_clip();
    /// Where to draw an area with the whole of a colour map, low values at the bottom.
    void colour_ramp(const SvgBox& box, ColourMap map);

    /// The greatest x that was drawn at, apart from the title.
    [[nodiscard]] double right() const { return right_; }
    [[nodiscard]] std::string finish() &&;

private:
    void include(const SvgBox& box);

    std::string title_;
    std::string out_;
    double left_ = std::numeric_limits<double>::infinity();
    double right_ = -std::numeric_limits<double>::infinity();
    double top_ = std::numeric_limits<double>::infinity();
    double bottom_ = -std::numeric_limits<double>::infinity();
};

}  // namespace tesela
