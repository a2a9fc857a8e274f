#include "tesela/geo/tile_accuracy.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/conditioning.hpp"
#include "tesela/geo/covariance_kernel.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/point_order.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/geo/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

namespace tesela::geo::tile_accuracy_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Points of the unit square in no order, with a wave over them and noise enough to stay positive definite.
Observations some_points(Index n) {
    Observations points{.coordinates = random_points(n, 5)};
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        points.values.push_back(std::sin(9 * points.coordinates[0][i]) + std::cos(7 * points.coordinates[1][i]) +
                                0.1 * std::sin(1000.0 * static_cast<double>(i)));
    return points;
}

constexpr CovarianceParameters theta{.sigma2 = 2.5, .range = 0.15, .smoothness = 1.5, .nugget = 0.03};

LikelihoodValue evaluate(InlineEngine& engine, CovarianceFamily family, std::optional<TileAccuracy> compression) {
    Stream s(engine);
    Likelihood likelihood(s, some_points(260), {.family = family, .trend = Trend::linear},
                          {.tile = 40, .compression = compression});
    likelihood.evaluate({.sigma2 = 1, .range = 0.2, .smoothness = 1.5, .nugget = 0.1});
    return likelihood.evaluate(theta);
}

TEST(CompressedLikelihood, IsTheExactOneToTheAccuracy) {
    InlineEngine engine(3);
    for (const auto family :
         {CovarianceFamily::exponential, CovarianceFamily::matern, CovarianceFamily::squared_exponential}) {
        const LikelihoodValue exact = evaluate(engine, family, {});
        for (const double accuracy : {1e-6, 1e-10, 0.0}) {
            const LikelihoodValue value = evaluate(engine, family, TileAccuracy{.accuracy = accuracy});
            ASSERT_TRUE(value.status.ok());
            const double allowed = (1e3 * accuracy + 1e-10) * std::abs(exact.log_likelihood);
            EXPECT_NEAR(value.log_likelihood, exact.log_likelihood, allowed) << name(family) << " " << accuracy;
            for (std::size_t k = 0; k < exact.trend.coefficients.size(); ++k)
                EXPECT_NEAR(value.trend.coefficients[k], exact.trend.coefficients[k], 1e4 * accuracy + 1e-9);
        }
    }
}

TEST(CompressedLikelihood, OfFourThousandPointsAgreesToAMillionthAt1e9) {
    constexpr CovarianceParameters field{.sigma2 = 1, .range = 0.1, .nugget = 0.01};
    InlineEngine engine;
    Stream s(engine);
    const Model model{.family = CovarianceFamily::exponential};
    const auto value = [&](Index tile, std::optional<TileAccuracy> compression) {
        Likelihood likelihood(s, some_points(4000), model, {.tile = tile, .compression = compression});
        return likelihood.evaluate(field).log_likelihood;
    };
    const double exact = value(500, {});
    EXPECT_NEAR(value(400, TileAccuracy{.accuracy = 1e-9}), exact, 1e-6 * std::abs(exact));
}

TEST(CompressedLikelihood, ReportsTheAccuracyThatItReachedAndTheMemory) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, some_points(600), {.family = CovarianceFamily::exponential},
                          {.tile = 50, .compression = TileAccuracy{.accuracy = 1e-5}});
    ASSERT_TRUE(likelihood.evaluate(theta).status.ok());
    const CompressionReport report = report_compression(likelihood, 20);
    EXPECT_EQ(report.asked, 1e-5);
    EXPECT_GT(report.reached, 1e-7);  // something was left out
    EXPECT_LT(report.reached, 10 * 1e-5 * std::sqrt(12.0));
    EXPECT_EQ(report.ranks.tiles, 12 * 13 / 2);
    EXPECT_GE(report.ranks.compressed, 50);  // of 66 off the diagonal; the others are stored with all elements
    EXPECT_GT(report.ranks.mean, 1);
    EXPECT_LT(report.ranks.bytes, 0.8 * report.ranks.dense_bytes);
}

/// Points of the unit square or cube on the curve.
PointSet ordered_points(Index n, Index dimensions) {
    std::vector<std::vector<double>> columns = random_points(n, 5);
    if (dimensions == 3) columns.push_back(random_points(n, 6).front());
    const std::vector<Index> order = hilbert_order(PointSet(Metric::euclidean, columns));
    for (auto& column : columns) column = in_order(column, order);
    return {Metric::euclidean, std::move(columns)};
}

struct FactorCase {
    CovarianceFamily family;
    Index dimensions;
    double accuracy;
    Index nodes;
    double range = 0.2;
};

/// ‖A − L·Lᵀ‖₂ over what it may be, 10·ε·sigma2·√NT.
double residual_over_bound(const FactorCase& of) {
    constexpr Index n = 810;
    constexpr double sigma2 = 3;
    const PointSet points = ordered_points(n, of.dimensions);
    const CovarianceParameters parameters{
        .sigma2 = sigma2, .range = of.range, .smoothness = 1.5, .nugget = sigma2 * std::max(10 * of.accuracy, 1e-10)};
    const Covariance covariance(of.family, parameters, Metric::euclidean, points.diameter_bound());
    InlineEngine engine(of.nodes);
    Stream s(engine);
    const Tiling tiling = Tiling::square(n, 97);  // the last tile is smaller
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), of.nodes),
                           {.stored = Stored::lower, .compression = Compression{.accuracy = of.accuracy * sigma2}});
    for (Index i = 0; i < A.tile_rows(); ++i)
        for (Index j = 0; j <= i; ++j) {
            const CovarianceArguments arguments{.covariance = &covariance,
                                                .rows = &points,
                                                .cols = &points,
                                                .first = {tiling.row_begin(i), tiling.col_begin(j)},
                                                .sets = ObservationSets::same};
            s.submit({covariance_kernel, arguments, write(A(i, j))});
        }
    cholesky(s, A.lower());
    const Status status = s.wait();
    EXPECT_TRUE(status.ok()) << status.describe();
    const double bound = 10 * of.accuracy * sigma2 * std::sqrt(static_cast<double>(A.tile_rows()));
    return factor_residual(s, {covariance, points, A.lower()}, 12) / bound;
}

TEST(CompressedFactor, IsThatOfTheMatrixToTheAccuracyOfItsTiles) {
    double largest = 0;
    for (const auto family :
         {CovarianceFamily::exponential, CovarianceFamily::matern, CovarianceFamily::squared_exponential})
        for (const Index dimensions : {2, 3})
            for (const double accuracy : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12})
                for (const Index nodes : {1, 2, 4}) {
                    const double ratio = residual_over_bound({family, dimensions, accuracy, nodes});
                    EXPECT_LE(ratio, 1) << name(family) << " " << dimensions << " " << accuracy << " " << nodes;
                    largest = std::max(largest, ratio);
                }
    EXPECT_GT(largest, 1e-3);  // something was left out at all
}

TEST(CompressedFactor, MissesNothingWhereRangesAreShort) {
    // A few pairs of points are close enough to matter, anywhere in a tile.
    for (const auto family :
         {CovarianceFamily::exponential, CovarianceFamily::matern, CovarianceFamily::squared_exponential})
        for (const double range : {1e-3, 3e-3, 1e-2, 3e-2})
            for (const double accuracy : {1e-3, 1e-6, 1e-9})
                EXPECT_LE(residual_over_bound({family, 2, accuracy, 1, range}), 1)
                    << name(family) << " " << range << " " << accuracy;
}

TEST(CompressedLikelihood, OfLowAccuracyIsRefinedToAnExactSolution) {
    constexpr CovarianceParameters rough{.sigma2 = 2.5, .range = 0.15, .nugget = 0.03};
    const Model model{.family = CovarianceFamily::exponential, .trend = Trend::linear};
    const Sites places(random_points(20, 9));
    for (const Index nodes : {1, 3}) {
        InlineEngine engine(nodes);
        Stream s(engine);
        const auto make = [&](std::optional<TileAccuracy> compression) {
            return std::make_unique<Likelihood>(s, some_points(1500), model,
                                                LikelihoodOptions{.tile = 100, .compression = compression});
        };
        const auto exact = make({});
        const auto coarse = make(TileAccuracy{.accuracy = 1e-3});
        const auto refined = make(TileAccuracy{.accuracy = 1e-3, .refine = 1e-10});
        const LikelihoodValue truth = exact->evaluate(rough);
        const LikelihoodValue before = coarse->evaluate(rough);
        const LikelihoodValue after = refined->evaluate(rough);
        ASSERT_TRUE(after.status.ok());
        EXPECT_TRUE(refined->refinement()->converged);
        EXPECT_LE(refined->refinement()->iterations, 30);
        EXPECT_GT(refined->refinement()->iterations, 2);
        EXPECT_LE(refined->refinement()->residual, 1e-10);
        EXPECT_NEAR(after.fit.quadratic, truth.fit.quadratic, 1e-8 * truth.fit.quadratic);
        EXPECT_GT(std::abs(before.fit.quadratic - truth.fit.quadratic), 1e-7 * truth.fit.quadratic);
        for (std::size_t k = 0; k < truth.trend.coefficients.size(); ++k)
            EXPECT_NEAR(after.trend.coefficients[k], truth.trend.coefficients[k], 1e-7);
        const Predictions wanted = predict(*exact, rough, places);
        const Predictions found = predict(*refined, rough, places);
        for (std::size_t i = 0; i < wanted.mean.size(); ++i) {
            EXPECT_NEAR(found.mean[i], wanted.mean[i], 1e-7);
            EXPECT_NEAR(found.variance[i], wanted.variance[i], 0.05 * wanted.variance[i]);
        }
    }
}

TEST(CompressedLikelihood, PredictsAsTheExactOne) {
    InlineEngine engine;
    Stream s(engine);
    const Model model{.family = CovarianceFamily::exponential, .trend = Trend::constant};
    const Sites places(random_points(40, 9));
    const auto predictions = [&](std::optional<TileAccuracy> compression) {
        Likelihood likelihood(s, some_points(300), model, {.tile = 40, .compression = compression});
        return predict(likelihood, theta, places);
    };
    const Predictions exact = predictions({});
    const Predictions compressed = predictions(TileAccuracy{.accuracy = 1e-10});
    for (std::size_t i = 0; i < exact.mean.size(); ++i) {
        EXPECT_NEAR(compressed.mean[i], exact.mean[i], 1e-6);
        EXPECT_NEAR(compressed.variance[i], exact.variance[i], 1e-6);
    }
}

TEST(CompressedLikelihood, ThatIsTooCoarseSaysWhichAccuracyToTry) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, some_points(500), {.family = CovarianceFamily::squared_exponential},
                          {.tile = 60, .compression = TileAccuracy{.accuracy = 1}});
    const CovarianceParameters smooth{.sigma2 = 1, .range = 0.5, .nugget = 1e-3};
    const LikelihoodValue value = likelihood.evaluate(smooth);
    ASSERT_FALSE(value.status.ok());
    EXPECT_THAT(likelihood.explain(value.status, smooth), HasSubstr("try --accuracy 1e-04"));
}

TEST(CompressedLikelihood, TakesEverySigma2ThatItsNormsTakeAndRefusesOthers) {
    InlineEngine engine;
    Stream s(engine);
    const Observations points = some_points(260);
    Likelihood exact(s, points, {}, {.tile = 65});
    Likelihood compressed(s, points, {}, {.tile = 65, .compression = TileAccuracy{.accuracy = 1e-5}});
    const auto at = [](double sigma2) {
        return CovarianceParameters{.sigma2 = sigma2, .range = 0.15, .smoothness = 1.5, .nugget = 0.03 * sigma2};
    };
    for (const double sigma2 : {1e-130, 1e-100, 1e-20, 1e20, 1e100, 1e130}) {
        const LikelihoodValue value = compressed.evaluate(at(sigma2));
        ASSERT_TRUE(value.status.ok()) << sigma2;
        const double expected = exact.evaluate(at(sigma2)).log_likelihood;
        EXPECT_NEAR(value.log_likelihood / expected, 1, 1e-5) << sigma2;
        const double reached = report_compression(compressed).reached;
        EXPECT_GT(reached, 1e-7) << sigma2;
        EXPECT_LT(reached, 1e-4) << sigma2;
    }
    for (const double sigma2 : {1e-200, 1e-131, 1e131, 1e300, 0.0})
        EXPECT_THAT([&] { compressed.evaluate({.sigma2 = sigma2, .range = 0.15, .smoothness = 1.5, .nugget = 1}); },
                    ThrowsMessage<Error>(HasSubstr("compressed matrices take 1e-130 to 1e+130")))
            << sigma2;
    for (const double sigma2 : {-1.0, std::nan("")}) EXPECT_THROW(compressed.evaluate(at(sigma2)), Error) << sigma2;
}

TEST(CompressedLikelihood, RefusesWhatNoMatrixCanBeCompressedTo) {
    InlineEngine engine;
    Stream s(engine);
    const double none = std::nan("");
    const double infinite = std::numeric_limits<double>::infinity();
    for (const TileAccuracy& wrong :
         {TileAccuracy{.accuracy = -1}, TileAccuracy{.accuracy = none}, TileAccuracy{.accuracy = infinite},
          TileAccuracy{.band = 0}, TileAccuracy{.band = -1}, TileAccuracy{.refine = -1}, TileAccuracy{.refine = none},
          TileAccuracy{.refine = 1e-17}, TileAccuracy{.refine = infinite}})
        EXPECT_THROW(Likelihood(s, some_points(60), {}, {.tile = 40, .compression = wrong}), Error);
}

/// What is said of a matrix that is not positive definite.
std::string explanation(Observations points, const CovarianceParameters& at, const TileAccuracy& accuracy) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, std::move(points), {.family = CovarianceFamily::squared_exponential},
                          {.tile = 40, .compression = accuracy});
    const LikelihoodValue value = likelihood.evaluate(at);
    return value.status.ok() ? "" : likelihood.explain(value.status, at);
}

TEST(CompressedLikelihood, DoesNotAdviseAnotherAccuracyWhereTheExactMatrixFailsToo) {
    Observations twins = some_points(260);
    for (auto& column : twins.coordinates) column.back() = column.front();
    EXPECT_THAT(explanation(twins, {.sigma2 = 1, .range = 0.01}, {.accuracy = 1e-12}),
                HasSubstr("That is not for want of accuracy"));
    // A smooth field without noise: the first diagonal tile, which is whole, cannot be factored already.
    EXPECT_THAT(explanation(some_points(260), {.sigma2 = 1, .range = 5}, {.accuracy = 1e-3}),
                HasSubstr("That is not for want of accuracy"));
    const std::string coarse =
        explanation(some_points(260), {.sigma2 = 1, .range = 0.5, .nugget = 1e-4}, {.accuracy = 0.1});
    EXPECT_THAT(coarse, HasSubstr("which may be why: try --accuracy"));
}

TEST(CompressedLikelihood, WarnsWhereItsAccuracyIsNotWellBelowTheSmallestEigenvalues) {
    InlineEngine engine;
    Stream s(engine);
    const auto warning = [&](CovarianceParameters at, TileAccuracy accuracy) {
        Likelihood likelihood(s, some_points(260), {}, {.tile = 40, .compression = accuracy});
        EXPECT_TRUE(likelihood.evaluate(at).status.ok());
        return explain_compression(estimate_condition(likelihood), likelihood);
    };
    constexpr CovarianceParameters smooth{.sigma2 = 2, .range = 0.3, .smoothness = 1.5, .nugget = 0.02};
    EXPECT_EQ(warning(smooth, {.accuracy = 1e-4}), "");
    EXPECT_THAT(warning(smooth, {.accuracy = 2e-3}), HasSubstr("Give --accuracy 1e-04, or --refine 1e-10"));
    EXPECT_EQ(warning(smooth, {.accuracy = 7e-4, .refine = 1e-10}), "");
    EXPECT_THAT(warning(smooth, {.accuracy = 2e-3, .refine = 1e-10}), HasSubstr("Give --accuracy 1e-03"));
    // A rough field is far from singular without any noise.
    EXPECT_EQ(warning({.sigma2 = 2, .range = 0.02, .smoothness = 0.5}, {.accuracy = 1e-9}), "");
}

TEST(HilbertOrder, OfObservationsKeepsEachTogetherAndTheirNames) {
    Observations points = some_points(50);
    points.covariates.push_back({.name = "k", .values = std::vector<double>(points.values)});
    const Observations sorted = in_hilbert_order(points, Metric::euclidean);
    for (Index k = 0; k < sorted.size(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const auto before = static_cast<std::size_t>(sorted.numbers[at]);
        EXPECT_EQ(sorted.values[at], points.values[before]);
        EXPECT_EQ(sorted.coordinates[1][at], points.coordinates[1][before]);
        EXPECT_EQ(std::get<0>(sorted.covariates[0].values)[at], points.values[before]);
        EXPECT_EQ(sorted.where(k), points.where(sorted.numbers[at]));
    }
}

}  // namespace
}  // namespace tesela::geo::tile_accuracy_test
