#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"

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

/// nb ≈ √(3·N·k·(3 + √(9 + 32·P)) / (4·P))
Index low_rank_tile_size(Index n, double rank, Index nodes) {
    if (n < 1 || !(rank > 0) || nodes < 1)
        throw Error("a tile size needs rows, a rank and nodes above 0; they are {}, {} and {}", n, rank, nodes);
    const auto rows = static_cast<double>(n);
    const auto count = static_cast<double>(nodes);
    const double square = 3 * rows * rank * (3 + std::sqrt(9 + 32 * count)) / (4 * count);
    return std::clamp<Index>(std::llround(std::sqrt(square)), 1, n);
}

Index automatic_compressed_tile_size(Index n) {
    constexpr Index smallest = 64;
    return std::clamp<Index>(std::llround(6 * std::sqrt(static_cast<double>(n))), std::min(n, smallest),
                             std::max<Index>(1, n));
}

}  // namespace tesela
