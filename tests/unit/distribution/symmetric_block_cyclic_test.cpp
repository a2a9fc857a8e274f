#include "tesela/distribution/symmetric_block_cyclic.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tesela::symmetric_block_cyclic_test {
namespace {

/// Nodes that own a lower tile of row i or of column i: all that a panel tile of row i must reach.
Index nodes_on_cross(const Distribution& d, Index i) {
    std::set<Index> nodes;
    for (Index j = 0; j <= i; ++j) nodes.insert(d.owner({i, j}).number());
    for (Index k = i; k < d.grid().rows; ++k) nodes.insert(d.owner({k, i}).number());
    return static_cast<Index>(nodes.size());
}

TEST(SymmetricBlockCyclic, IsSymmetric) {
    for (const Index nodes : {1, 3, 6, 8, 10, 15, 18, 21, 28, 32})
        EXPECT_EQ(symmetric_block_cyclic({40, 40}, nodes), symmetric_block_cyclic({40, 40}, nodes).transposed())
            << nodes;
}

TEST(SymmetricBlockCyclic, ReachesOneNodeLessThanTheWidthOfThePattern) {
    for (Index r = 2; r <= 12; ++r) {
        const Index nodes = r * (r - 1) / 2;
        const Distribution d = symmetric_block_cyclic({60, 60}, nodes);
        for (Index i = 0; i < 60; ++i) EXPECT_LE(nodes_on_cross(d, i), r - 1) << "r = " << r;
    }
    for (Index r = 2; r <= 12; r += 2) {
        const Distribution d = symmetric_block_cyclic({60, 60}, r * r / 2);
        for (Index i = 0; i < 60; ++i) EXPECT_LE(nodes_on_cross(d, i), r) << "r = " << r;
    }
}

TEST(SymmetricBlockCyclic, ReachesFewerNodesThanTheSquarestGrid) {
    for (const Index nodes : {15, 21, 28}) {
        const Distribution d = symmetric_block_cyclic({60, 60}, nodes), grid = squarest_block_cyclic({60, 60}, nodes);
        // Where row and column are long enough to meet every node they can.
        for (Index i = 7; i < 53; ++i) EXPECT_LT(nodes_on_cross(d, i), nodes_on_cross(grid, i));
    }
}

TEST(SymmetricBlockCyclic, SharesTheTilesEvenly) {
    for (Index r = 4; r <= 9; ++r) {
        const Index n = 24 * r;  // whole patterns
        const auto [least, most] =
            std::ranges::minmax(tile_counts(symmetric_block_cyclic({n, n}, r * (r - 1) / 2), Stored::lower));
        EXPECT_LE(most - least, 24) << "r = " << r;
    }
}

TEST(SymmetricBlockCyclic, NamesTheNumbersThatFit) {
    EXPECT_TRUE(fits_symmetric_block_cyclic(18));
    EXPECT_FALSE(fits_symmetric_block_cyclic(16));
    try {
        (void)symmetric_block_cyclic({4, 4}, 16);
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("15 and 18"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace tesela::symmetric_block_cyclic_test
