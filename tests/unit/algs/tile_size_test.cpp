#include "tesela/algs/tile_size.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela {
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

/// As near the diagonal of a covariance matrix in the plane: ranks grow with the root of the tile and fall with the
/// distance.
double plane(Index tile, Index distance) {
    return 4 * std::sqrt(static_cast<double>(tile)) / static_cast<double>(distance);
}

TEST(CompressedCut, IsTheCheapestOfAll) {
    const CompressedCut best = cheapest_compressed_cut(20'000, 2, plane);
    const double least = compressed_cholesky_cost(20'000, best, 2, plane);
    for (const Index tile : {100, 200, 400, 800, 1600, 3200, 6400, 20'000})
        for (const Index band : {1, 2, 3, 4})
            EXPECT_GE(compressed_cholesky_cost(20'000, {tile, band}, 2, plane), least * 0.9) << tile << " " << band;
    EXPECT_GT(best.tile, 200);
    EXPECT_LT(best.tile, 5000);
}

TEST(CompressedCut, CostsTheDenseFactorisationWhereAllIsStoredWhole) {
    constexpr double n = 4000;
    const CompressedCut whole{.tile = 100, .band = 40};
    const double one = compressed_cholesky_cost(4000, whole, 1, plane);
    // Generation and what tasks cost besides make it more than n³/3.
    EXPECT_GT(one, n * n * n / 3);
    EXPECT_LT(one, 1.9 * n * n * n / 3);
    EXPECT_NEAR(compressed_cholesky_cost(4000, whole, 2, plane) / one, 0.5, 0.05);
}

TEST(CompressedCut, CountsAllElementsOfATileThatIsCompressed) {
    // Those of a tile of rank 0 are computed and compared too; one that does not compress costs a few times as much.
    const double generated = 2 * dense_cholesky_cost(1000) - 2 * 1e9 / 3;
    EXPECT_GT(compression_cost({1000, 1000, 0}), generated);
    EXPECT_LT(compression_cost({1000, 1000, 0}), 1.5 * generated);
    EXPECT_GT(compression_cost({1000, 1000, 50}), compression_cost({1000, 1000, 10}));
    EXPECT_GT(compression_cost({500, 500}), 1.5 * 0.25 * generated);
    EXPECT_LT(compression_cost({500, 500}), 4 * 0.25 * generated);
    // A band that holds what does not compress spares that.
    const auto full = [](Index tile, Index) { return static_cast<double>(tile); };
    EXPECT_LT(compressed_cholesky_cost(4000, {400, 10}, 1, full), compressed_cholesky_cost(4000, {400, 1}, 1, full));
}

TEST(CompressedCut, StoresWholeWhatHasHighRanksAndNothingMore) {
    const auto steep = [](Index tile, Index distance) { return distance < 3 ? 0.45 * static_cast<double>(tile) : 2.0; };
    EXPECT_EQ(cheapest_compressed_cut(10'000, 2, steep, {500, 0}).band, 3);
    const auto flat = [](Index, Index) { return 2.0; };
    EXPECT_EQ(cheapest_compressed_cut(10'000, 2, flat, {500, 0}).band, 1);
}

TEST(CompressedCut, OfLargeMatricesTakesASixthOfTheirMemory) {
    const auto share = [](Index n, const CompressedCut& cut) {  // of tiles of the band
        const double rows = static_cast<double>(n) / static_cast<double>(cut.tile);
        return 2 * static_cast<double>(cut.band) / rows;
    };
    // Dense tiles would be fastest here, and there are ranks that take little.
    const auto steep = [](Index tile, Index distance) {
        return distance < 4 ? 0.2 * static_cast<double>(tile) : 0.002 * static_cast<double>(tile);
    };
    EXPECT_LE(share(60'000, cheapest_compressed_cut(60'000, 2, steep)), 0.18);
    // Where nothing does, the cheapest is taken all the same.
    const auto full = [](Index tile, Index) { return 0.45 * static_cast<double>(tile); };
    EXPECT_GE(cheapest_compressed_cut(60'000, 2, full).tile, 64);
}

TEST(CompressedCut, KeepsWhatIsGiven) {
    EXPECT_EQ(cheapest_compressed_cut(10'000, 2, plane, {321, 2}), (CompressedCut{321, 2}));
    EXPECT_EQ(cheapest_compressed_cut(10'000, 2, plane, {321, 0}).tile, 321);
    EXPECT_EQ(cheapest_compressed_cut(10'000, 2, plane, {0, 3}).band, 3);
}

TEST(CompressedCut, IsThereForMatricesOfAnyOrder) {
    for (const Index n : {1, 2, 63, 64, 65, 1000}) {
        const CompressedCut cut = cheapest_compressed_cut(n, 16, plane);
        EXPECT_GE(cut.tile, 1) << n;
        EXPECT_LE(cut.tile, n) << n;
    }
}

}  // namespace
}  // namespace tesela
