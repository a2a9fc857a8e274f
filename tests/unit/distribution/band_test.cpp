// Paper 004, sections III-C and V-A.
#include "tesela/distribution/band.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tesela::band_test {
namespace {

TEST(Band, TakesTilesNearTheDiagonalFromTheInnerDistribution) {
    const GridSize grid{7, 9};
    const Distribution inner = random_distribution(grid, 5, 1), outer = random_distribution(grid, 5, 2);
    for (Index width = 0; width <= 10; ++width) {
        const Distribution joined = band(width, inner, outer);
        for (Index i = 0; i < grid.rows; ++i)
            for (Index j = 0; j < grid.cols; ++j)
                EXPECT_EQ(joined.owner({i, j}), (std::abs(i - j) < width ? inner : outer).owner({i, j}));
    }
    EXPECT_THROW((void)band(1, inner, random_distribution(grid, 6, 1)), Error);
    EXPECT_THROW((void)band(-1, inner, outer), Error);
}

TEST(BandHybrid, SpreadsTheDiagonalOverAllNodes) {
    TileMap diagonal({48, 48});
    for (Index i = 0; i < 48; ++i) diagonal[{i, i}] = 1;
    for (const double load : node_loads(band_hybrid({48, 48}, 16), diagonal)) EXPECT_EQ(load, 3);
    const auto plain = node_loads(squarest_block_cyclic({48, 48}, 16), diagonal);
    EXPECT_EQ(std::ranges::count(plain, 0.0), 12);  // only 4 of the 4x4 nodes meet the diagonal
}

double mean_of_those_that_hold_any(const std::vector<double>& memory) {
    double sum = 0, count = 0;
    for (const double bytes : memory) sum += bytes, count += bytes > 0 ? 1 : 0;
    return sum / count;
}

/// What a node with diagonal tiles saves on average, in 10^9 bytes, with tiles of 2700 doubles: equation (1).
/// Off-diagonal tiles have rank 0 here: what counts is the memory of the dense diagonal.
double saved_gigabytes(Index nodes, Index size) {
    const Tiling tiling = Tiling::square(size, 2700);
    const GridSize grid = tiling.grid();
    std::vector<Index> ranks(static_cast<std::size_t>(grid.count()));
    for (Index i = 0; i < grid.rows; ++i) ranks[static_cast<std::size_t>(i * grid.cols + i)] = -1;
    const MemoryQuestion question{.tiling = tiling, .ranks = ranks, .stored = Stored::lower};
    const double plain = mean_of_those_that_hold_any(node_memory(squarest_block_cyclic(grid, nodes), question));
    const double hybrid = mean_of_those_that_hold_any(node_memory(band_hybrid(grid, nodes), question));
    return (plain - hybrid) / 1e9;
}

struct MemoryRow {
    Index nodes, size;
    double saved_gb;
};

TEST(BandHybrid, SavesTheMemoryOfTable1) {
    // The sixth row of the table (64 nodes, 6480000: 20.412) does not follow equation (1), which gives 15.309.
    for (const auto& [nodes, size, saved_gb] :
         {MemoryRow{16, 1080000, 4.374}, MemoryRow{16, 2160000, 8.748}, MemoryRow{16, 4320000, 17.496},
          MemoryRow{64, 2160000, 5.103}, MemoryRow{64, 4320000, 10.206}, MemoryRow{64, 6480000, 15.309}}) {
        EXPECT_EQ(std::round(saved_gigabytes(nodes, size) * 1e3) / 1e3, saved_gb) << nodes << " nodes, " << size;
    }
}

}  // namespace
}  // namespace tesela::band_test
