#include "tesela/apps/geo/tile_accuracy.hpp"

#include "tesela/apps/geo/likelihood.hpp"
#include "tesela/apps/geo/predict.hpp"
#include "tesela/apps/geo/sample.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tesela::geo {
namespace {

using ::testing::HasSubstr;

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
}  // namespace tesela::geo
