#include "tesela/pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace tesela {
namespace {

constexpr double margin = 12;

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

std::string stroked(std::string_view colour, double width) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", colour, svg_number(width));
}

std::string filled(std::string_view colour) { return fmt::format("fill=\"{}\"", colour); }

std::string series_colour(std::size_t number) { return hex(categorical_colour(static_cast<Index>(number))); }

Svg::Svg(std::string_view title) : title_(title) { include({0, 0, 0, 0}); }

void Svg::include(const SvgBox& box) {
    left_ = std::min(left_, box.x);
    right_ = std::max(right_, box.x + box.width);
    top_ = std::min(top_, box.y);
    bottom_ = std::max(bottom_, box.y + box.height);
}

void Svg::rect(const SvgBox& box, std::string_view attributes) {
    include(box);
    fmt::format_to(std::back_inserter(out_), "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n",
                   svg_number(box.x), svg_number(box.y), svg_number(box.width), svg_number(box.height), attributes);
}

void Svg::circle(SvgPoint centre, double radius, std::string_view attributes) {
    include({centre.x - radius, centre.y - radius, 2 * radius, 2 * radius});
    fmt::format_to(std::back_inserter(out_), "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", svg_number(centre.x),
                   svg_number(centre.y), svg_number(radius), attributes);
}

void Svg::path(std::string_view data, std::string_view attributes) {
    fmt::format_to(std::back_inserter(out_), "<path {} d=\"{}\"/>\n", attributes, data);
}

void Svg::line(const std::vector<SvgPoint>& points, std::string_view attributes) {
    std::string data;
    for (const SvgPoint& at : points)
        data += fmt::format("{}{} {}", data.empty() ? "M" : "L", svg_number(at.x), svg_number(at.y));
    path(data, attributes);
}

void Svg::line(SvgPoint from, SvgPoint to, std::string_view attributes) { line(std::vector{from, to}, attributes); }

void Svg::text(SvgPoint at, std::string_view words, const TextStyle& style) {
    const double length = text_width(words, style.size);
    const double before = style.anchor == TextAnchor::start    ? 0
                          : style.anchor == TextAnchor::middle ? length / 2
                                                               : length;
    const double angle = style.rotate * std::numbers::pi / 180;
    for (const double along : {-before, length - before})
        for (const double above : {0.75 * style.size, -0.25 * style.size})
            include({at.x + along * std::cos(angle) + above * std::sin(angle),
                     at.y + along * std::sin(angle) - above * std::cos(angle), 0, 0});
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

void Svg::open_clip(const SvgBox& box) {
    // An inner picture needs no id, which would have to differ among pictures on one page.
    fmt::format_to(std::back_inserter(out_),
                   "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
                   svg_number(box.x), svg_number(box.y), svg_number(box.width), svg_number(box.height));
}

void Svg::close_clip() { out_ += "</svg>\n"; }

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
    if (!title_.empty()) text({0, 0}, title_, {.size = 14, .weight = TextWeight::bold});
    const std::string width = svg_number(right_ - left_ + 2 * margin), height = svg_number(bottom_ - top_ + 2 * margin);
    const std::string x = svg_number(left_ - margin), y = svg_number(top_ - margin);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\" "
        "font-family=\"Helvetica,Arial,sans-serif\" fill=\"{4}\">\n"
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"#fff\"/>\n{5}</svg>\n",
        x, y, width, height, ink, out_);
}

}  // namespace tesela
