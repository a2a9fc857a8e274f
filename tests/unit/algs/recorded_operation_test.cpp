#include "tesela/algs/recorded_operation.hpp"

#include "tesela/distribution/families.hpp"
#include "tesela/distribution/symmetric_block_cyclic.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tesela::recorded_operation_test {
namespace {

TEST(RecordedOperation, NeedsNoTransfersOnOneNode) {
    for (const auto operation : {Operation::product, Operation::lu, Operation::cholesky})
        EXPECT_EQ(RecordedOperation(operation, {.tiles = 6, .nodes = 3})
                      .transfers(block_cyclic({6, 6}, {.p = 1, .q = 1}))
                      .messages,
                  0);
}

TEST(RecordedOperation, BroadcastsAlongRowsAndColumnsInAProduct) {
    // Paper 001, section 3.2: every tile of A reaches the other q - 1 nodes of its row, of B the other p - 1.
    const Index n = 12;
    const RecordedOperation product(Operation::product, {.tiles = n, .nodes = 12, .tile = 3});
    for (const auto& [p, q] : {std::pair<Index, Index>{3, 4}, {1, 5}, {6, 2}}) {
        const Transfers transfers = product.transfers(block_cyclic({n, n}, {.p = p, .q = q}));
        EXPECT_EQ(transfers.messages, n * n * (p - 1 + q - 1));
        EXPECT_EQ(transfers.bytes, static_cast<double>(transfers.messages * 9 * 8));
    }
}

/// Paper 001, section 3.3: the diagonal tile goes along its row and column, a solved tile along one of them.
Index lu_messages(const Distribution& d) {
    const Index n = d.grid().rows;
    Index messages = 0;
    const auto add = [&](TileIndex from, const std::set<Index>& readers) {
        messages += static_cast<Index>(readers.size()) - (readers.contains(d.owner(from).number()) ? 1 : 0);
    };
    for (Index k = 0; k < n; ++k) {
        std::set<Index> cross;
        for (Index l = k + 1; l < n; ++l) {
            cross.insert(d.owner({k, l}).number());
            cross.insert(d.owner({l, k}).number());
            std::set<Index> row, col;
            for (Index m = k + 1; m < n; ++m) {
                row.insert(d.owner({l, m}).number());
                col.insert(d.owner({m, l}).number());
            }
            add({l, k}, row);
            add({k, l}, col);
        }
        add({k, k}, cross);
    }
    return messages;
}

TEST(RecordedOperation, CountsTheBytesOfLowRankTiles) {
    // Tiles below the diagonal have rank 2: U and V of 16 x 2 elements and the rank.
    const RankMap ranks{.grid = {2, 2}, .ranks = {dense_rank, dense_rank, 2, dense_rank}};
    const RecordedOperation lu(Operation::lu, {.tiles = 2, .nodes = 4, .tile = 16, .ranks = ranks});
    const Transfers moved = lu.transfers(Distribution({2, 2}, 4, {0, 1, 2, 3}));
    // (0, 0) goes to both panels, each panel to the last tile.
    EXPECT_EQ(moved.messages, 4);
    EXPECT_EQ(moved.bytes, 2 * 16 * 16 * 8 + 16 * 16 * 8 + (16 + 16) * 2 * 8 + 8);
}

TEST(RecordedOperation, BroadcastsEachTileOfLuOnce) {
    const RecordedOperation lu(Operation::lu, {.tiles = 11, .nodes = 7});
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const Distribution d = random_distribution({11, 11}, 7, seed);
        EXPECT_EQ(lu.transfers(d).messages, lu_messages(d)) << "seed " << seed;
    }
}

TEST(RecordedOperation, SendsLessUnderSymmetricBlockCyclic) {
    for (const Index nodes : {15, 21, 28}) {
        const RecordedOperation cholesky(Operation::cholesky, {.tiles = 60, .nodes = nodes});
        EXPECT_LT(cholesky.transfers(symmetric_block_cyclic({60, 60}, nodes)).messages,
                  cholesky.transfers(squarest_block_cyclic({60, 60}, nodes)).messages);
    }
}

}  // namespace
}  // namespace tesela::recorded_operation_test
