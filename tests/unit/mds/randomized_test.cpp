#include "tesela/mds/decomposition.hpp"
#include "tesela/mds/goodness_of_fit.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/io/memory_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tesela::mds::mds_randomized_test {
namespace {

using tesela::testing::by_lapack;
using tesela::testing::by_products;
using ::testing::HasSubstr;

double normal(std::uint64_t seed, Index i, Index j) {
    return Random(seed).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
}

/// Points whose coordinate j has deviation 2^-j: the spectrum of all that is made of them decays.
std::vector<double> points(Index n, Index dimensions, std::uint64_t seed) {
    std::vector<double> x;
    for (Index j = 0; j < dimensions; ++j)
        for (Index i = 0; i < n; ++i) x.push_back(std::ldexp(normal(seed, i, j), static_cast<int>(-j)));
    return x;
}

std::unique_ptr<MatrixFile> table_for(Analysis analysis, Index rows, Index cols, std::uint64_t seed) {
    const Index dimensions = 12;
    const std::vector<double> x = points(rows, dimensions, seed);
    const auto at = [](Index i, Index j, Index m) { return static_cast<std::size_t>(i + j * m); };
    std::vector<double> values;
    if (analysis == Analysis::scaling) {
        for (Index j = 0; j < rows; ++j)
            for (Index i = 0; i < rows; ++i) {
                double sum = 0;
                for (Index d = 0; d < dimensions; ++d) sum += std::pow(x[at(i, d, rows)] - x[at(j, d, rows)], 2);
                values.push_back(std::sqrt(sum));
            }
        return memory_matrix({.rows = rows, .cols = rows, .values = values});
    }
    const std::vector<double> y = points(cols, dimensions, seed + 1);
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) {
            double sum = 0;
            for (Index d = 0; d < dimensions; ++d) sum += x[at(i, d, rows)] * y[at(j, d, cols)];
            values.push_back(analysis == Analysis::correspondence ? std::exp(0.3 * sum) : 1000 + sum);
        }
    return memory_matrix({.rows = rows, .cols = cols, .values = values});
}

double relative(double a, double b) { return std::abs(a - b) / std::max(std::abs(b), 1e-300); }

RC_GTEST_PROP(RandomizedDecomposition, IsThatOfLapackWhereSpectraDecay, ()) {
    const auto analysis = *rc::gen::element(Analysis::scaling, Analysis::components, Analysis::scaled_components,
                                            Analysis::correspondence);
    const Index m = *rc::gen::inRange<Index>(40, 120);
    const Index n = analysis == Analysis::scaling ? m : *rc::gen::inRange<Index>(30, 90);
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    const auto file = table_for(analysis, m, n, seed);
    DecompositionOptions options{.dimensions = *rc::gen::inRange<Index>(1, 5),
                                 .oversampling = *rc::gen::inRange<Index>(2, 9),
                                 .algorithm = *rc::gen::element(Algorithm::power, Algorithm::krylov),
                                 .tolerance = 1e-11,
                                 .seed = seed,
                                 .tile = *rc::gen::inRange<Index>(17, 50),
                                 .overlap = static_cast<StreamingStep>(*rc::gen::inRange(0, 7))};
    if (analysis != Analysis::correspondence && *rc::gen::arbitrary<bool>())
        for (Index i = 0; i < m; ++i) options.row_weights.push_back(1 + static_cast<double>(i % 3));
    if (options.overlap >= StreamingStep::split_gram && *rc::gen::arbitrary<bool>())
        options.memory = 8.0 * static_cast<double>(m * n) * 0.7;
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    const Decomposition exact = by_lapack(engine, *file, analysis, options);
    const Decomposition random = by_products(engine, *file, analysis, options);
    RC_LOG() << m << " x " << n << ", analysis " << static_cast<int>(analysis) << ", passes " << random.passes
             << ", estimated error " << random.error_estimate;
    RC_ASSERT(random.wanted == options.dimensions);
    RC_ASSERT(random.error_estimate <= 1e-11);
    for (Index k = 0; k < options.dimensions; ++k) {
        const auto c = static_cast<std::size_t>(k);
        RC_ASSERT(relative(random.values[c], exact.values[c]) < 1e-8);
        for (Index i = 0; i < m; ++i) {
            const auto e = static_cast<std::size_t>(i + k * m);
            RC_ASSERT(std::abs(random.left[e] - exact.left[e]) < 1e-4);
        }
        for (Index j = 0; analysis != Analysis::scaling && j < n; ++j) {
            const auto e = static_cast<std::size_t>(j + k * n);
            RC_ASSERT(std::abs(random.right[e] - exact.right[e]) < 1e-4);
        }
    }
    RC_ASSERT(relative(random.frobenius, exact.frobenius) < 1e-9);
    RC_ASSERT(relative(random.total, exact.total) < 1e-10);
    RC_ASSERT(relative(random.weight, exact.weight) < 1e-12);
    if (analysis == Analysis::scaling) RC_ASSERT(relative(random.trace, exact.trace) < 1e-9);
    RC_ASSERT(random.row_sums.size() == exact.row_sums.size());
    for (std::size_t i = 0; i < exact.row_sums.size(); ++i)
        RC_ASSERT(relative(random.row_sums[i], exact.row_sums[i]) < 1e-10);
    RC_ASSERT(random.col_sums.size() == exact.col_sums.size());
    for (std::size_t j = 0; j < exact.col_sums.size(); ++j) {
        RC_ASSERT(relative(random.col_sums[j], exact.col_sums[j]) < 1e-10);
        if (!exact.col_squares.empty()) RC_ASSERT(relative(random.col_squares[j], exact.col_squares[j]) < 1e-8);
    }
}

/// Slowly decaying: where power iterations of this many columns need many passes.
std::unique_ptr<MatrixFile> slow_distances(Index n, std::uint64_t seed, Index dimensions = 60) {
    std::vector<double> values;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index d = 0; d < dimensions; ++d)
                sum += std::pow((normal(seed, i, d) - normal(seed, j, d)) / std::sqrt(static_cast<double>(d + 1)), 2);
            values.push_back(std::sqrt(sum));
        }
    return memory_matrix({.rows = n, .cols = n, .values = values});
}

TEST(RandomizedDecomposition, OfASlowSpectrumTakesFewerPassesWithAllBlocks) {
    const auto file = slow_distances(400, 3);
    InlineEngine engine;
    DecompositionOptions options{.dimensions = 5, .oversampling = 5, .tolerance = 1e-9, .tile = 100};
    const Decomposition exact = by_lapack(engine, *file, Analysis::scaling, options);
    options.algorithm = Algorithm::krylov;
    const Decomposition krylov = by_products(engine, *file, Analysis::scaling, options);
    options.algorithm = Algorithm::power;
    const Decomposition power = by_products(engine, *file, Analysis::scaling, options);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_LT(relative(krylov.values[k], exact.values[k]), 1e-8);
    EXPECT_LT(krylov.error_estimate, 1e-9);
    EXPECT_LE(2 * krylov.passes, power.passes);
    EXPECT_LT(2 * krylov.products, power.products);
}

// A file that is read again for each pass is to be read seldom; in memory products are what takes time.
TEST(RandomizedDecomposition, InMemoryTakesFewerProductsAndFromAFileFewerPasses) {
    const auto file = slow_distances(400, 3);
    InlineEngine engine;
    DecompositionOptions options{
        .dimensions = 5, .oversampling = 5, .algorithm = Algorithm::krylov, .tolerance = 1e-9, .tile = 50};
    const Decomposition exact = by_lapack(engine, *file, Analysis::scaling, options);
    const Decomposition in_memory = by_products(engine, *file, Analysis::scaling, options);
    options.memory = 8.0 * 400 * 400 * 0.3;
    const Decomposition read_again = by_products(engine, *file, Analysis::scaling, options);
    for (const Decomposition* found : {&in_memory, &read_again})
        for (std::size_t k = 0; k < 5; ++k) EXPECT_LT(relative(found->values[k], exact.values[k]), 1e-8);
    EXPECT_LT(read_again.passes, in_memory.passes);
    EXPECT_LT(in_memory.products, 0.8 * static_cast<double>(read_again.products));
    EXPECT_EQ(read_again.products, read_again.passes * 10);
}

// QR needs square tiles, so that blocks of many columns are cut as the matrix is.
TEST(RandomizedDecomposition, MayHaveMoreColumnsThanATile) {
    InlineEngine engine;
    const auto file = slow_distances(150, 6);
    DecompositionOptions options{.dimensions = 30, .oversampling = 5, .algorithm = Algorithm::krylov, .tile = 16};
    const Decomposition exact = by_lapack(engine, *file, Analysis::scaling, options);
    const Decomposition random = by_products(engine, *file, Analysis::scaling, options);
    for (std::size_t k = 0; k < 30; ++k) EXPECT_LT(relative(random.values[k], exact.values[k]), 1e-7);
    const Decomposition parts = by_lapack(engine, *file, Analysis::components, options);
    const Decomposition found = by_products(engine, *file, Analysis::components, options);
    for (std::size_t k = 0; k < 30; ++k) EXPECT_LT(relative(found.values[k], parts.values[k]), 1e-7);
}

// Eigenvalues that nobody met may be anything, so that nothing is exact.
TEST(RandomizedDecomposition, WithoutOversamplingDoesNotTakeTheRestForNothing) {
    InlineEngine engine;
    const auto file = slow_distances(150, 7);
    const DecompositionOptions options{
        .dimensions = 3, .oversampling = 0, .algorithm = Algorithm::power, .tolerance = 1e-4, .tile = 40};
    const Decomposition random = by_products(engine, *file, Analysis::scaling, options);
    const GoodnessOfFit fit = goodness_of_fit(random, 3);
    const GoodnessOfFit truth = goodness_of_fit(by_lapack(engine, *file, Analysis::scaling, options), 3);
    EXPECT_FALSE(fit.is_exact());
    EXPECT_LE(fit.of_positive.low, truth.of_positive.low * (1 + 1e-3));
    EXPECT_GE(fit.of_positive.high, truth.of_positive.low * (1 - 1e-3));
}

TEST(RandomizedDecomposition, OfCountsWithoutDifferencesIsZero) {
    InlineEngine engine;
    const auto file = memory_matrix({.rows = 60, .cols = 50, .values = std::vector<double>(3000, 7.0)});
    const DecompositionOptions options{.dimensions = 2, .algorithm = Algorithm::krylov, .tile = 20};
    const Decomposition random = by_products(engine, *file, Analysis::correspondence, options);
    EXPECT_EQ(random.frobenius, 0);
    EXPECT_EQ(random.values, (std::vector<double>{0, 0}));
    EXPECT_LE(random.passes, 4);
}

TEST(RandomizedDecomposition, ErrorsAreEstimatedAboutAsLargeAsTheyAre) {
    const auto file = slow_distances(300, 4);
    InlineEngine engine;
    DecompositionOptions options{.dimensions = 4, .oversampling = 4, .tolerance = {}, .tile = 100};
    const Decomposition exact = by_lapack(engine, *file, Analysis::scaling, options);
    options.algorithm = Algorithm::krylov;
    for (options.iterations = 0; options.iterations < 5; ++options.iterations) {
        const Decomposition random = by_products(engine, *file, Analysis::scaling, options);
        double error = 0;
        for (std::size_t k = 0; k < 4; ++k) error = std::max(error, relative(random.values[k], exact.values[k]));
        EXPECT_EQ(random.passes, 2 + options.iterations);
        EXPECT_LE(error, 20 * random.error_estimate) << options.iterations;
    }
}

TEST(RandomizedDecomposition, BeginsAnewWhereTheBasisIsFull) {
    const auto file = slow_distances(150, 5);
    InlineEngine engine;
    DecompositionOptions options{.dimensions = 4, .oversampling = 2, .tolerance = 1e-11, .most_blocks = 3, .tile = 40};
    const Decomposition exact = by_lapack(engine, *file, Analysis::scaling, options);
    options.algorithm = Algorithm::krylov;
    const Decomposition random = by_products(engine, *file, Analysis::scaling, options);
    EXPECT_GT(random.passes, 5);
    EXPECT_LE(random.error_estimate, 1e-11);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_LT(relative(random.values[k], exact.values[k]), 1e-9);
}

TEST(RandomizedDecomposition, OfPointsInAPlaneFindsThePlane) {
    const Index n = 90;
    std::vector<double> values;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            values.push_back(std::hypot(normal(1, i, 0) - normal(1, j, 0), normal(1, i, 1) - normal(1, j, 1)));
    const auto file = memory_matrix({.rows = n, .cols = n, .values = values});
    InlineEngine engine;
    DecompositionOptions options{.dimensions = 4, .algorithm = Algorithm::krylov, .tile = 30};
    const Decomposition result = by_products(engine, *file, Analysis::scaling, options);
    EXPECT_LE(result.passes, 3);
    for (std::size_t k = 2; k < 4; ++k) EXPECT_LT(std::abs(result.values[k]), 1e-10 * result.values[0]);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index k = 0; k < 2; ++k) {
                const double difference =
                    result.left[static_cast<std::size_t>(i + k * n)] - result.left[static_cast<std::size_t>(j + k * n)];
                sum += result.values[static_cast<std::size_t>(k)] * difference * difference;
            }
            EXPECT_NEAR(std::sqrt(sum), values[static_cast<std::size_t>(i + j * n)], 1e-7);
        }
}

std::string refused(Analysis analysis, MatrixValues values, Symmetry symmetry = Symmetry::checked) {
    const auto file = memory_matrix(std::move(values), "D.csv");
    InlineEngine engine;
    try {
        (void)by_products(engine, *file, analysis, {.dimensions = 1, .symmetry = symmetry});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(RandomizedDecomposition, SaysWhatIsWrongWithAFileAndWhere) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(refused(Analysis::scaling, {.rows = 3, .cols = 3, .values = {0, 1, 2, 1, 0, 2, 2, 3, 0}}),
                HasSubstr("symmetric"));
    EXPECT_THAT(refused(Analysis::scaling, {.rows = 3, .cols = 3, .values = {0, -1, 2, -1, 0, 3, 2, 3, 0}}),
                HasSubstr("negative"));
    EXPECT_THAT(refused(Analysis::scaling, {.rows = 3, .cols = 3, .values = {0, 1, 2, 1, 5, 3, 2, 3, 0}}),
                HasSubstr("row 2"));
    EXPECT_THAT(refused(Analysis::components, {.rows = 3, .cols = 2, .values = {0, 1, 2, 1, nan, 3}}),
                HasSubstr("row 2"));
    EXPECT_THAT(refused(Analysis::scaled_components, {.rows = 3, .cols = 2, .values = {0, 1, 2, 7, 7, 7}}),
                HasSubstr("column 2"));
    EXPECT_THAT(refused(Analysis::correspondence, {.rows = 3, .cols = 2, .values = {0, 1, 2, 0, 3, 4}}),
                HasSubstr("row 1"));
}

TEST(RandomizedDecomposition, AveragesDistancesThatDifferByDirection) {
    InlineEngine engine;
    const auto both = memory_matrix({.rows = 3, .cols = 3, .values = {0, 1, 2, 3, 0, 2, 4, 4, 0}});
    const auto mean = memory_matrix({.rows = 3, .cols = 3, .values = {0, 2, 3, 2, 0, 3, 3, 3, 0}});
    const Decomposition a =
        by_products(engine, *both, Analysis::scaling, {.dimensions = 2, .symmetry = Symmetry::averaged});
    const Decomposition b = by_products(engine, *mean, Analysis::scaling, {.dimensions = 2});
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(a.values[k], b.values[k], 1e-12);
}

TEST(RandomizedDecomposition, OwnersThatDoNotFitAreRefused) {
    const auto file = table_for(Analysis::scaling, 60, 60, 1);
    const Distribution three = tabulate(GridSize{3, 3}, 1, [](Index, Index) { return Index{0}; });
    const auto problem = [&](const DecompositionOptions& options) {
        InlineEngine engine;
        Stream stream(engine);
        try {
            (void)decompose(stream, *file, Analysis::scaling, options);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    DecompositionOptions options{.algorithm = Algorithm::krylov, .tile = 20, .owners = TileOwners{three, three}};
    EXPECT_EQ(problem(options), "");
    options.tile = 12;
    EXPECT_THAT(problem(options), HasSubstr("has 5 x 5 tiles of 12, and owners are for 3 x 3"));
    options.tile = 0;
    EXPECT_THAT(problem(options), HasSubstr("need the size"));
    options.tile = 20;
    options.memory = 1e4;
    EXPECT_THAT(problem(options), HasSubstr("keep all tiles"));
    options.memory = 0;
    options.algorithm = Algorithm::automatic;
    EXPECT_THAT(problem(options), HasSubstr("LAPACK decomposes on one node"));
}

}  // namespace
}  // namespace tesela::mds::mds_randomized_test
