#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace tesela {
namespace {

constexpr double tick_length = 4;
constexpr double tick_text = 10;
constexpr double label_text = 11;

/// Length in bytes of the well-formed UTF-8 character at the start of a text; 0 if there is none.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf && continues(1)) return 2;
    if ((lead & 0xf0U) == 0xe0 && continues(1) && continues(2)) {
        const unsigned code = (lead & 0x0fU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
        return code >= 0x800 && (code < 0xd800 || code > 0xdfff) && code < 0xfffe ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4 && continues(1) && continues(2) && continues(3)) {
        const unsigned top = (lead & 0x07U) << 6U | (byte(1) & 0x3fU);  // the code without its last 12 bits
        return top >= 0x10 && top <= 0x10f ? 4 : 0;
    }
    return 0;
}

bool is_allowed_in_xml(char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' || c == '\r'; }

std::string escaped_character(std::string_view character) {
    switch (character.front()) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        default: return is_allowed_in_xml(character.front()) ? std::string(character) : "\xef\xbf\xbd";
    }
}

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

/// The axis at the right of a colour bar.
Axis bar_axis(const ColourBar& bar) {
    return {.scale = {bar.low, bar.high, bar.box.y + bar.box.height, bar.box.y},
            .at = bar.box.x + bar.box.width,
            .side = AxisSide::right,
            .ticks = ticks_upward(bar.low, bar.high, bar.box.height),
            .label = bar.label};
}

}  // namespace

std::string xml_escaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        result += length == 0 ? "\xef\xbf\xbd" : escaped_character(text.substr(0, length));
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return result;
}

std::string svg_number(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size) {
    const auto characters = std::count_if(text.begin(), text.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; });
    return 0.6 * size * static_cast<double>(characters);
}

Svg::Svg(double width, double height) {
    fmt::format_to(std::back_inserter(out_),
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                   "font-family=\"Helvetica,Arial,sans-serif\" fill=\"{2}\">\n",
                   svg_number(width), svg_number(height), ink);
    rect({0, 0, width, height}, "fill=\"#fff\"");
}

void Svg::rect(const SvgBox& box, std::string_view attributes) {
    fmt::format_to(std::back_inserter(out_), "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n",
                   svg_number(box.x), svg_number(box.y), svg_number(box.width), svg_number(box.height), attributes);
}

void Svg::circle(SvgPoint centre, double radius, std::string_view attributes) {
    fmt::format_to(std::back_inserter(out_), "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", svg_number(centre.x),
                   svg_number(centre.y), svg_number(radius), attributes);
}

void Svg::path(std::string_view data, std::string_view attributes) {
    fmt::format_to(std::back_inserter(out_), "<path {} d=\"{}\"/>\n", attributes, data);
}

void Svg::text(SvgPoint at, std::string_view words, const TextStyle& style) {
    const std::string_view anchor = style.anchor == TextAnchor::middle ? " text-anchor=\"middle\""
                                    : style.anchor == TextAnchor::end  ? " text-anchor=\"end\""
                                                                       : "";
    const std::string_view weight = style.weight == TextWeight::bold ? " font-weight=\"bold\"" : "";
    const std::string x = svg_number(at.x);
    const std::string y = svg_number(at.y);
    const std::string turn =
        style.rotate == 0 ? "" : fmt::format(" transform=\"rotate({} {} {})\"", svg_number(style.rotate), x, y);
    fmt::format_to(std::back_inserter(out_), "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}>{}</text>\n", x, y,
                   svg_number(style.size), anchor, weight, turn, xml_escaped(words));
}

void Svg::open_group(std::string_view attributes) { fmt::format_to(std::back_inserter(out_), "<g {}>\n", attributes); }

void Svg::close_group() { out_ += "</g>\n"; }

void Svg::colour_ramp(const SvgBox& box, ColourMap map) {
    constexpr int stops = 32;
    // Pictures on one page may define the same id again: the definition is the same, so that does no harm.
    const std::string id = fmt::format("tesela-{}", name(map));
    fmt::format_to(std::back_inserter(out_), "<linearGradient id=\"{}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", id);
    for (int k = 0; k <= stops; ++k) {
        const double fraction = static_cast<double>(k) / stops;
        fmt::format_to(std::back_inserter(out_), "<stop offset=\"{:.5g}\" stop-color=\"{}\"/>", fraction,
                       hex(colour_at(map, fraction)));
    }
    out_ += "</linearGradient>\n";
    rect(box, fmt::format("fill=\"url(#{})\"", id));
}

std::string Svg::finish() && {
    out_ += "</svg>\n";
    return std::move(out_);
}

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

double axis_room(const Axis& axis) {
    const bool numbered = !axis.ticks.labels.empty();
    const double numbers = !numbered ? 0 : axis.side == AxisSide::bottom ? tick_text + 3 : widest_label(axis.ticks) + 3;
    return tick_length + numbers + (axis.label.empty() ? 0 : label_text + 7);
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
    svg.path(marks, fmt::format("stroke=\"{}\" stroke-width=\"0.8\" fill=\"none\"", ink));
    if (axis.label.empty()) return;
    const double middle = (axis.scale.first + axis.scale.last) / 2;
    const double edge = axis.at + out * axis_room(axis);
    TextStyle style{.size = label_text, .anchor = TextAnchor::middle};
    if (axis.side == AxisSide::bottom) return svg.text({middle, edge - 2}, axis.label, style);
    style.rotate = -90;
    svg.text({axis.side == AxisSide::left ? edge + label_text - 1 : edge - 2, middle}, axis.label, style);
}

double colour_bar_room(const ColourBar& bar) { return bar.box.width + axis_room(bar_axis(bar)); }

void draw_colour_bar(Svg& svg, const ColourBar& bar) {
    svg.colour_ramp(bar.box, bar.colours);
    svg.rect(bar.box, fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"0.8\"", ink));
    draw_axis(svg, bar_axis(bar));
}

}  // namespace tesela
