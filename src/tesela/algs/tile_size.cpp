#include "tesela/algs/tile_size.hpp"

#include <algorithm>
#include <cmath>

namespace tesela {

Index automatic_tile_size(Index n, Index cores) {
    constexpr Index smallest = 64;
    constexpr Index largest = 640;
    constexpr Index grain = 32;
    const double rows = 7.0 * std::sqrt(static_cast<double>(std::max<Index>(1, cores)) / 2.0);
    const auto wanted = static_cast<Index>(static_cast<double>(n) / rows);
    const Index rounded = wanted / grain * grain;
    return std::max<Index>(1, std::min(n, std::clamp(rounded, smallest, largest)));
}

}  // namespace tesela
