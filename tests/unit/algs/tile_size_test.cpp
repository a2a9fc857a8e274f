#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela::tile_size_test {
namespace {

MeanRank always(double rank) {
    return [rank](Index) { return rank; };
}

TEST(QrTiling, IsSquareUnlessOneColumnOfTilesIsEnough) {
    EXPECT_EQ(qr_tiling({4000, 4000}, 2), Tiling::square(4000, automatic_tile_size(4000, 2)));
    EXPECT_EQ(qr_tiling({5000, 1000}, 4).rows(0), qr_tiling({5000, 1000}, 4).cols(0));
    const Tiling tall = qr_tiling({100'000, 64}, 2);
    EXPECT_EQ(tall.grid().cols, 1);
    EXPECT_GE(tall.rows(0), 4 * 64);
    EXPECT_LE(tall.rows(0) * 64 * 8, 512 * 1024);
    EXPECT_GE(qr_tiling({2000, 20}, 2).grid().rows, 16) << "every core has work";
    EXPECT_EQ(qr_tiling({7, 3}, 2).size(), (ElementIndex{7, 3}));
}

TEST(LowRankTileSize, SolvesEquation2OfPaper004ByHand) {
    // P = 1: √(9 + 32) = 6.4031242, so nb² = 3·N·k·9.4031242/4.
    EXPECT_EQ(low_rank_tile_size(100'000, 1, always(20)), std::llround(std::sqrt(3 * 1e5 * 20 * 9.40312423743 / 4)));
    // P = 5: √169 = 13, so nb² = 3·N·k·16/20.
    EXPECT_EQ(low_rank_tile_size(10'000, 5, always(15)), 600);
}

TEST(LowRankTileSize, IsIteratedWithTheRankOfItsSize) {
    // k = √nb: nb² = 3·N·√nb·16/20, so nb = (12·N/5)^(2/3).
    const Index tile = low_rank_tile_size(10'000, 5, [](Index nb) { return std::sqrt(static_cast<double>(nb)); });
    EXPECT_NEAR(static_cast<double>(tile), std::pow(24'000, 2.0 / 3), 1);
}

TEST(LowRankTileSize, GrowsWithTheRootOfRowsTimesRankAndFallsWithTheFourthRootOfNodes) {
    // Proportionality (3) of the paper: n·k over √P.
    const auto size = [](Index n, Index nodes) {
        return static_cast<double>(low_rank_tile_size(n, nodes, always(20)));
    };
    EXPECT_NEAR(size(4'000'000, 64) / size(1'000'000, 64), 2, 0.01);
    EXPECT_NEAR(size(1'000'000, 4096) / size(1'000'000, 256), std::pow(16, -0.25), 0.05);
}

TEST(LowRankTileSize, IsAtMostTheMatrix) { EXPECT_EQ(low_rank_tile_size(100, 1, always(1000)), 100); }

TEST(LowRankTileSize, RefusesWhatIsNotAboveZero) {
    EXPECT_THROW((void)low_rank_tile_size(100, 1, always(0)), Error);
    EXPECT_THROW((void)low_rank_tile_size(0, 1, always(1)), Error);
    EXPECT_THROW((void)low_rank_tile_size(100, 0, always(1)), Error);
    EXPECT_THROW((void)low_rank_tile_size(100, 1, always(std::nan(""))), Error);
}

}  // namespace
}  // namespace tesela::tile_size_test
