#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela {
namespace {

TEST(LowRankTileSize, SolvesEquation2OfPaper004ByHand) {
    // P = 1: √(9 + 32) = 6.4031242, so nb² = 3·N·k·9.4031242/4.
    EXPECT_EQ(low_rank_tile_size(100'000, 20, 1), std::llround(std::sqrt(3 * 1e5 * 20 * 9.40312423743 / 4)));
    // P = 5: √169 = 13, so nb² = 3·N·k·16/20.
    EXPECT_EQ(low_rank_tile_size(10'000, 15, 5), 600);
}

TEST(LowRankTileSize, GrowsWithTheRootOfRowsTimesRankAndFallsWithTheFourthRootOfNodes) {
    // Proportionality (3) of the paper: n·k over √P.
    const auto size = [](Index n, Index nodes) { return static_cast<double>(low_rank_tile_size(n, 20, nodes)); };
    EXPECT_NEAR(size(4'000'000, 64) / size(1'000'000, 64), 2, 0.01);
    EXPECT_NEAR(size(1'000'000, 4096) / size(1'000'000, 256), std::pow(16, -0.25), 0.05);
}

TEST(LowRankTileSize, IsAtMostTheMatrix) { EXPECT_EQ(low_rank_tile_size(100, 1000, 1), 100); }

TEST(LowRankTileSize, RefusesWhatIsNotAboveZero) {
    EXPECT_THROW((void)low_rank_tile_size(100, 0, 1), Error);
    EXPECT_THROW((void)low_rank_tile_size(0, 1, 1), Error);
    EXPECT_THROW((void)low_rank_tile_size(100, std::nan(""), 1), Error);
}

}  // namespace
}  // namespace tesela
