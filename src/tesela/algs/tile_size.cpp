#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

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

Tiling qr_tiling(ElementIndex size, Index cores) {
    constexpr Index widest = 128;               // of one column of tiles
    constexpr Index in_cache = Index{1} << 16;  // elements: 512 KiB of doubles
    constexpr Index tiles_per_core = 8;
    const Index columns = std::max<Index>(1, size.j);
    const Index least_rows = 4 * columns;
    if (columns > widest || size.i < least_rows * tiles_per_core) {
        const Index tile = automatic_tile_size(std::min(size.i, size.j), cores);
        return Tiling::uniform(size, {tile, tile});
    }
    const Index share = size.i / (tiles_per_core * std::max<Index>(1, cores));
    return Tiling::uniform(size, {std::max(least_rows, std::min(share, in_cache / columns)), columns});
}

/// nb ≈ √(3·N·k·(3 + √(9 + 32·P)) / (4·P))
Index low_rank_tile_size(Index n, Index nodes, const MeanRank& rank) {
    if (n < 1 || nodes < 1) throw Error("a tile size needs rows and nodes above 0; they are {} and {}", n, nodes);
    const auto rows = static_cast<double>(n);
    const auto count = static_cast<double>(nodes);
    const double per_rank = 3 * rows * (3 + std::sqrt(9 + 32 * count)) / (4 * count);
    Index tile = std::max<Index>(1, std::llround(std::sqrt(rows)));
    for (int k = 0; k < 100; ++k) {
        const double average = rank(tile);
        if (!(average > 0)) throw Error("a tile size needs a rank above 0; it is {}", average);
        const Index next = std::clamp<Index>(std::llround(std::sqrt(per_rank * average)), 1, n);
        if (next == tile) break;
        tile = next;
    }
    return tile;
}

}  // namespace tesela
