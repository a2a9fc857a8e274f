#include "tesela/algs/compressed_cut.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace tesela::compressed_cut_test {
namespace {

/// As near the diagonal of a covariance matrix in the plane: ranks grow with the root of the tile and fall with the
/// distance.
double plane(Index tile, Index distance) {
    return 4 * std::sqrt(static_cast<double>(tile)) / static_cast<double>(distance);
}

CompressedProblem problem(Index n, Index workers, RankAt rank) {
    return {.n = n, .crew = {workers}, .rank = std::move(rank)};
}

TEST(CompressedCut, IsTheCheapestOfAll) {
    const CompressedCut best = cheapest_compressed_cut(problem(20'000, 2, plane));
    const double least = compressed_cholesky_cost(problem(20'000, 2, plane), best);
    for (const Index tile : {100, 200, 400, 800, 1600, 3200, 6400, 20'000})
        for (const Index band : {1, 2, 3, 4})
            EXPECT_GE(compressed_cholesky_cost(problem(20'000, 2, plane), {tile, band}), least * 0.9)
                << tile << " " << band;
    EXPECT_GT(best.tile, 200);
    EXPECT_LT(best.tile, 5000);
}

TEST(CompressedCut, CostsTheDenseFactorisationWhereAllIsStoredWhole) {
    constexpr double n = 4000;
    const CompressedCut whole{.tile = 100, .band = 40};
    const double one = compressed_cholesky_cost(problem(4000, 1, plane), whole);
    // Generation and what tasks cost besides make it more than n³/3.
    EXPECT_GT(one, n * n * n / 3);
    EXPECT_LT(one, 1.9 * n * n * n / 3);
    EXPECT_NEAR(compressed_cholesky_cost(problem(4000, 2, plane), whole) / one, 0.5, 0.05);
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
    EXPECT_LT(compressed_cholesky_cost(problem(4000, 1, full), {400, 10}),
              compressed_cholesky_cost(problem(4000, 1, full), {400, 1}));
}

TEST(CompressedCut, StoresWholeWhatHasHighRanksAndNothingMore) {
    const auto steep = [](Index tile, Index distance) { return distance < 3 ? 0.45 * static_cast<double>(tile) : 2.0; };
    EXPECT_EQ(cheapest_compressed_cut(problem(10'000, 2, steep), {500, 0}).band, 3);
    const auto flat = [](Index, Index) { return 2.0; };
    EXPECT_EQ(cheapest_compressed_cut(problem(10'000, 2, flat), {500, 0}).band, 1);
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
    EXPECT_LE(share(60'000, cheapest_compressed_cut(problem(60'000, 2, steep))), 0.18);
    // Where nothing does, the cheapest is taken all the same.
    const auto full = [](Index tile, Index) { return 0.45 * static_cast<double>(tile); };
    const CompressedProblem dear = problem(60'000, 2, full);
    const double least = compressed_cholesky_cost(dear, cheapest_compressed_cut(dear));
    for (const Index tile : {500, 2000, 8000})
        EXPECT_LE(least, 1.05 * compressed_cholesky_cost(dear, {tile, 4})) << tile;
}

TEST(CompressedCut, KeepsWhatIsGiven) {
    EXPECT_EQ(cheapest_compressed_cut(problem(10'000, 2, plane), {321, 2}), (CompressedCut{321, 2}));
    EXPECT_EQ(cheapest_compressed_cut(problem(10'000, 2, plane), {321, 0}).tile, 321);
    EXPECT_EQ(cheapest_compressed_cut(problem(10'000, 2, plane), {0, 3}).band, 3);
}

TEST(CompressedCut, DividesTheMatrixEvenly) {
    for (const Index n : {1000, 4000, 12'345}) {
        const Index tile = cheapest_compressed_cut(problem(n, 2, plane)).tile;
        const Index rows = ceil_div(n, tile);
        EXPECT_LT(rows * tile - n, rows) << n << " in tiles of " << tile;
    }
}

TEST(CompressedCut, FollowsTheSpeedOfRecompression) {
    // Where it is slow there are fewer of them, in larger tiles or with more tiles stored whole.
    CompressedProblem fast = problem(20'000, 2, plane);
    CompressedProblem slow = fast;
    fast.rates.low_rank.recompression = {{16, 1}};
    slow.rates.low_rank.recompression = {{16, 20}};
    const CompressedCut quick = cheapest_compressed_cut(fast);
    const CompressedCut careful = cheapest_compressed_cut(slow);
    EXPECT_GT(careful.tile * careful.band, quick.tile * quick.band);
    EXPECT_LT(compressed_cholesky_cost(slow, careful), compressed_cholesky_cost(slow, quick));
    EXPECT_LT(compressed_cholesky_cost(fast, quick), compressed_cholesky_cost(fast, careful));
}

TEST(CompressedCut, CountsThatWorkersOfANodeWaitForEachOthersCallsOfBlas) {
    const CompressedCut cut{.tile = 300, .band = 1};
    CompressedProblem free = problem(20'000, 16, plane);
    free.rates.lock_seconds = 0;
    const CompressedProblem apart{.n = 20'000, .crew = {.workers = 16, .nodes = 16}, .rank = plane};
    EXPECT_GT(compressed_cholesky_cost(problem(20'000, 16, plane), cut), 1.1 * compressed_cholesky_cost(free, cut));
    EXPECT_EQ(compressed_cholesky_cost(apart, cut), compressed_cholesky_cost(free, cut));
    EXPECT_GT(cheapest_compressed_cut(problem(20'000, 16, plane)).tile, cheapest_compressed_cut(free).tile);
}

TEST(CompressedCut, HasMoreRowsOfTilesForMoreWorkers) {
    const CompressedProblem many{.n = 20'000, .crew = {.workers = 64, .nodes = 64}, .rank = plane};
    EXPECT_LT(cheapest_compressed_cut(many).tile, cheapest_compressed_cut(problem(20'000, 1, plane)).tile);
}

TEST(CompressedCut, CostsNoLessThanItsCriticalPath) {
    // A pivot a row, and between two of them a solve and an update of the tile below.
    const CompressedCut cut{.tile = 500, .band = 2};
    const double nb = 500;
    const double chain = 8 * nb * nb * nb / 3 + 7 * (nb * nb * nb + nb * nb * nb);
    EXPECT_GT(compressed_cholesky_cost(problem(4000, 10'000, plane), cut), chain);
    EXPECT_LT(compressed_cholesky_cost(problem(4000, 10'000, plane), cut), 1.1 * chain);
}

TEST(CompressedCut, CountsWhatACovarianceTakes) {
    CompressedRates slow;
    slow.covariance_seconds *= 10;
    EXPECT_NEAR(compression_cost({1000, 1000, 0}, slow) / compression_cost({1000, 1000, 0}), 10, 0.1);
    EXPECT_GT(dense_cholesky_cost(1000, slow), dense_cholesky_cost(1000));
}

TEST(CompressedCut, RefusesWhatIsNoMatrix) {
    EXPECT_THROW((void)cheapest_compressed_cut(problem(0, 2, plane)), Error);
    EXPECT_THROW((void)cheapest_compressed_cut(problem(100, 2, {})), Error);
    EXPECT_THROW((void)cheapest_compressed_cut(problem(100, 2, plane), {-5, 0}), Error);
    EXPECT_THROW((void)compressed_cholesky_cost(problem(100, 2, plane), {0, 1}), Error);
    EXPECT_THROW((void)compressed_bytes(problem(100, 2, plane), {10, 0}), Error);
}

TEST(CompressedCut, IsThereForMatricesOfAnyOrder) {
    for (const Index n : {1, 2, 63, 64, 65, 1000}) {
        const CompressedCut cut = cheapest_compressed_cut(problem(n, 16, plane));
        EXPECT_GE(cut.tile, 1) << n;
        EXPECT_LE(cut.tile, n) << n;
    }
}

}  // namespace
}  // namespace tesela::compressed_cut_test
