#pragma once

#include "tesela/base/index.hpp"

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

/// Sequential colour maps, perceptually uniform and readable with any colour vision and in greyscale (S. van der Walt
/// and N. Smith, mpl-colormaps, released under CC0), from dark (low) to light (high).
enum class ColourMap { viridis, magma };

[[nodiscard]] std::string_view name(ColourMap map);

/// The colour at a fraction of a map, linear between control values; outside [0, 1] the nearer end.
[[nodiscard]] Rgb colour_at(ColourMap map, double fraction);

/// The number-th colour for things without an order: the colour-blind-safe palette of Okabe and Ito (2002) with a
/// grey, then the same darkened, then lightened, and again from the start. number >= 0.
[[nodiscard]] Rgb categorical_colour(Index number);

}  // namespace tesela
