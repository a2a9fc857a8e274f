#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tesela {

struct Rgb {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// "#440154"
[[nodiscard]] std::string hex(Rgb colour);

/// Colour maps that are readable with any colour vision. viridis and magma are sequential, perceptually uniform (S. van
/// der Walt and N. Smith, mpl-colormaps, released under CC0) and, as greys, go from dark (low) to light (high), so that
/// greyscale keeps their order. blue_red has two ends and a white middle (ColorBrewer's RdBu from the other end), for
/// values around one that matters.
enum class ColourMap { viridis, magma, greys, blue_red };
inline constexpr Names<ColourMap, 4> colour_map_names{{{ColourMap::viridis, "viridis"},
                                                       {ColourMap::magma, "magma"},
                                                       {ColourMap::greys, "greys"},
                                                       {ColourMap::blue_red, "blue_red"}}};

[[nodiscard]] std::string_view name(ColourMap map);

/// The colour at a fraction of a map, linear between control values; outside [0, 1] the nearer end.
[[nodiscard]] Rgb colour_at(ColourMap map, double fraction);

/// The number-th colour for things without an order: the colour-blind-safe palette of Okabe and Ito (2002) with a
/// grey, then the same darkened, then lightened, and again from the start. number >= 0.
[[nodiscard]] Rgb categorical_colour(Index number);

}  // namespace tesela
