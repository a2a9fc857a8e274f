#include "tesela/distribution/weights.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela::weights_test {
namespace {

TEST(TileWeights, OfAProductAreEqualOnDenseTiles) {
    const TileMap weights = tile_weights({.operation = Operation::product, .density = full_density({3, 5})});
    for (const double weight : weights.values()) EXPECT_DOUBLE_EQ(weight, 5 * 6);
}

TEST(TileWeights, AreTheSumOfTheSteps) {
    for (const auto operation : {Operation::product, Operation::lu, Operation::cholesky}) {
        const Workload workload{.operation = operation, .density = synthetic_density(9, {.seed = 4})};
        const TileMap weights = tile_weights(workload);
        for (Index i = 0; i < 9; ++i)
            for (Index j = 0; j < 9; ++j) {
                double sum = 0;
                for (Index k = 0; k < 9; ++k) sum += step_cost(workload, {i, j}, k);
                EXPECT_NEAR((weights[{i, j}]), sum, 1e-12);
            }
    }
}

TEST(TileWeights, CountTheKernelsOfAFactorization) {
    // A dense Cholesky of n tile rows has n potrf, n(n-1)/2 trsm and syrk, n(n-1)(n-2)/6 gemm; LU has n getrf,
    // n(n-1) trsm and n(n-1)(2n-1)/6 gemm.
    const double n = 12;
    EXPECT_DOUBLE_EQ(tile_weights({.operation = Operation::cholesky, .density = full_density({12, 12})}).total(),
                     n + 3 * n * (n - 1) / 2 + 3 * n * (n - 1) / 2 + 6 * n * (n - 1) * (n - 2) / 6);
    EXPECT_DOUBLE_EQ(tile_weights({.operation = Operation::lu, .density = full_density({12, 12})}).total(),
                     n + 3 * n * (n - 1) + 6 * n * (n - 1) * (2 * n - 1) / 6);
}

TEST(TileWeights, NeedASquareGridToFactor) {
    EXPECT_THROW((void)tile_weights({.operation = Operation::lu, .density = full_density({3, 4})}), Error);
}

TEST(DensityOfRanks, IsRankOverTheSmallerSide) {
    const Tiling tiling = Tiling::uniform({25, 20}, {10, 10});
    const TileMap density = density_of_ranks({.grid = {3, 2}, .ranks = {-1, 5, 2, 10, 0, 99}}, tiling);
    EXPECT_EQ(density.values(), (std::vector<double>{1, 0.5, 0.2, 1, 0, 1}));
    EXPECT_THROW((void)density_of_ranks({.grid = {2, 2}, .ranks = {1, 1, 1, 1}}, tiling), Error);
}

TEST(SyntheticDensity, FollowsTheFormulaWithoutNoise) {
    const Index n = 40;
    const TileMap density = synthetic_density(n, {.delta = 8, .deviation = 0, .seed = 1});
    Index full = 0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            const double x = static_cast<double>(i - j) / static_cast<double>(n - 1);
            const double expected = std::exp(-4 * x * x);
            if (density[{i, j}] == 1 && i != j)
                ++full;
            else
                EXPECT_NEAR((density[{i, j}]), expected, 1e-14);
        }
    // θ ~ N(√40, √40/2): below √40 + 5 standard deviations.
    EXPECT_LE(full, 22);
}

TEST(SyntheticDensity, HasTheNoiseOfThePaper) {
    // Where v = exp(-1) no clamping happens at deviation 0.05: the noise is what is left.
    const Index n = 200;
    const SyntheticDensity options{.delta = 8, .deviation = 0.05, .seed = 7};
    const TileMap noisy = synthetic_density(n, options);
    double squares = 0, count = 0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            const double x = static_cast<double>(i - j) / static_cast<double>(n - 1);
            const double v = std::exp(-4 * x * x);
            if (v < 0.3 || v > 0.7 || noisy[{i, j}] == 1) continue;
            squares += std::pow(noisy[{i, j}] - v, 2);
            ++count;
        }
    EXPECT_NEAR(std::sqrt(squares / count), 0.05, 4 * 0.05 / std::sqrt(2 * count));
}

TEST(SyntheticDensity, IsAFunctionOfTheSeed) {
    EXPECT_EQ(synthetic_density(20, {.seed = 3}), synthetic_density(20, {.seed = 3}));
    EXPECT_NE(synthetic_density(20, {.seed = 3}), synthetic_density(20, {.seed = 4}));
    for (Index i = 0; i < 20; ++i) EXPECT_EQ((synthetic_density(20, {.seed = 3})[{i, i}]), 1);
}

}  // namespace
}  // namespace tesela::weights_test
