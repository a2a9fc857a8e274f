#include "tesela/pictures/colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace tesela {
namespace {

// Every fifth of the 256 published colours: linear interpolation gives the others to within 2/255.
constexpr std::array<std::uint32_t, 52> viridis_controls{
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781, 0x433d84, 0x414287,
    0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e, 0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e,
    0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c, 0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80,
    0x2eb37c, 0x35b779, 0x3dbc74, 0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840,
    0xa2da37, 0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725};
constexpr std::array<std::uint32_t, 52> magma_controls{
    0x000004, 0x02020b, 0x050416, 0x090720, 0x0e0b2b, 0x140e36, 0x1a1042, 0x21114e, 0x29115a, 0x311165, 0x390f6e,
    0x420f75, 0x4a1079, 0x52137c, 0x5a167e, 0x621980, 0x6a1c81, 0x721f81, 0x792282, 0x812581, 0x892881, 0x912b81,
    0x992d80, 0xa1307e, 0xaa337d, 0xb2357b, 0xba3878, 0xc23b75, 0xca3e72, 0xd2426f, 0xd9466b, 0xe04c67, 0xe75263,
    0xec5860, 0xf1605d, 0xf4695c, 0xf7725c, 0xf97b5d, 0xfb8560, 0xfc8e64, 0xfd9869, 0xfea16e, 0xfeaa74, 0xfeb47b,
    0xfebd82, 0xfec68a, 0xfecf92, 0xfed89a, 0xfde2a3, 0xfdebac, 0xfcf4b6, 0xfcfdbf};

// Neither ink nor the light grey of a map without values is taken for a value.
constexpr std::array<std::uint32_t, 2> greys_controls{0x1a1a1a, 0xd9d9d9};
// C. Brewer's RdBu of eleven classes (colorbrewer2.org, Apache License 2.0).
constexpr std::array<std::uint32_t, 11> blue_red_controls{0x053061, 0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7,
                                                          0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b, 0x67001f};

// Okabe and Ito, "Color universal design" (2002), in an order that keeps neighbours apart; grey added as in R.
constexpr std::array<std::uint32_t, 9> okabe_ito{0x0072b2, 0xe69f00, 0x009e73, 0xd55e00, 0xcc79a7,
                                                 0x56b4e9, 0xf0e442, 0x000000, 0x999999};

Rgb from_hex(std::uint32_t value) {
    const auto byte = [value](unsigned shift) { return static_cast<std::uint8_t>(value >> shift); };
    return {byte(16), byte(8), byte(0)};
}

std::uint8_t mix(std::uint8_t a, std::uint8_t b, double fraction) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * fraction));
}

Rgb mix(Rgb a, Rgb b, double fraction) {
    return {mix(a.red, b.red, fraction), mix(a.green, b.green, fraction), mix(a.blue, b.blue, fraction)};
}

std::span<const std::uint32_t> controls(ColourMap map) {
    switch (map) {
        case ColourMap::magma: return magma_controls;
        case ColourMap::greys: return greys_controls;
        case ColourMap::blue_red: return blue_red_controls;
        case ColourMap::viridis: break;
    }
    return viridis_controls;
}

}  // namespace

std::string hex(Rgb colour) { return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue); }

std::string_view name(ColourMap map) { return name_in(colour_map_names, map); }

Rgb colour_at(ColourMap map, double fraction) {
    const std::span<const std::uint32_t> table = controls(map);
    const double position = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(table.size() - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(position), table.size() - 2);
    return mix(from_hex(table[below]), from_hex(table[below + 1]), position - static_cast<double>(below));
}

Rgb categorical_colour(Index number) {
    const auto size = static_cast<Index>(okabe_ito.size());
    const Rgb base = from_hex(okabe_ito[static_cast<std::size_t>(number % size)]);
    switch (number / size % 3) {
        case 1: return mix(base, Rgb{0, 0, 0}, 0.4);
        case 2: return mix(base, Rgb{255, 255, 255}, 0.5);
        default: return base;
    }
}

}  // namespace tesela
