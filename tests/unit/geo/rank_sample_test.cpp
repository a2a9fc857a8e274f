#include "tesela/geo/rank_sample.hpp"

#include "tesela/algs/ranks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/geo/tile_accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela::geo::rank_sample_test {
namespace {

constexpr CovarianceParameters theta{.sigma2 = 2, .range = 0.1, .nugget = 0.02};
const Model model{.family = CovarianceFamily::exponential};
constexpr double accuracy = 1e-6;

Observations some_points(Index n) {
    Observations points{.coordinates = random_points(n, 11)};
    points.values = points.coordinates[0];
    return points;
}

/// The root of the mean square of the ranks that tiles of a factor have, this many tiles below the diagonal.
double rank_of_all(const RankMap& map, Index distance) {
    double squares = 0;
    for (Index i = distance; i < map.grid.rows; ++i) {
        const auto rank = static_cast<double>(map.ranks[static_cast<std::size_t>(i * map.grid.cols + i - distance)]);
        squares += rank * rank;
    }
    return std::sqrt(squares / static_cast<double>(map.grid.rows - distance));
}

TEST(RankSample, TellsTheRanksOfAFactor) {
    const Observations points = some_points(3000);
    const RankSample some = sample_ranks(points, model, accuracy, theta);  // in a tenth of an evaluation
    const PointSet set(model.metric, in_hilbert_order(points, model.metric).coordinates);
    const RankSample sample(Covariance(model.family, theta, model.metric, set.diameter_bound()), set,
                            accuracy * theta.sigma2);
    InlineEngine engine;
    Stream s(engine);
    for (const Index tile : {150, 300}) {
        Likelihood likelihood(s, points, model, {.tile = tile, .compression = TileAccuracy{.accuracy = accuracy}});
        ASSERT_TRUE(likelihood.evaluate(theta).status.ok());
        const RankMap map = tile_ranks(s, likelihood.sigma());
        for (const Index distance : {2, 4}) {
            const double ratio = sample.rank(tile, distance) / rank_of_all(map, distance);
            EXPECT_GT(ratio, 0.7) << tile << " " << distance;
            EXPECT_LT(ratio, 1.5) << tile << " " << distance;
            EXPECT_GT(some.rank(tile, distance) / rank_of_all(map, distance), 0.5) << tile << " " << distance;
            EXPECT_LT(some.rank(tile, distance) / rank_of_all(map, distance), 2) << tile << " " << distance;
        }
    }
}

TEST(RankSample, FallsWithTheDistanceAndGrowsWithTheTile) {
    const RankSample sample = sample_ranks(some_points(2000), model, accuracy, theta);
    for (const Index tile : {50, 100, 200, 400}) {
        EXPECT_GE(sample.rank(tile, 1), sample.rank(tile, 3));
        EXPECT_GE(sample.rank(2 * tile, 1), sample.rank(tile, 1));
        EXPECT_LE(sample.rank(tile, 1), static_cast<double>(tile));
        EXPECT_GE(sample.mean_rank(tile), sample.rank(tile, 2000 / tile));
        EXPECT_LE(sample.mean_rank(tile), sample.rank(tile, 1));
    }
}

TEST(RankSample, IsTheSameWheneverItIsTaken) {
    const RankSample one = sample_ranks(some_points(500), model, accuracy, theta);
    const RankSample other = sample_ranks(some_points(500), model, accuracy, theta);
    for (const Index tile : {20, 77, 250}) EXPECT_EQ(one.rank(tile, 1), other.rank(tile, 1));
}

TEST(RankSample, DoesNotDependOnThreadsNorOnMeasuredSpeeds) {
    const RankSample one = sample_ranks(some_points(2000), model, accuracy, theta);
    const RankSample other =
        sample_ranks(some_points(2000), model, accuracy, theta, {.threads = 3, .speeds = Speeds::measured});
    EXPECT_EQ(one.sampled(), other.sampled());
    for (const Index tile : {50, 111, 300, 700})
        for (const Index distance : {1, 3}) EXPECT_EQ(one.rank(tile, distance), other.rank(tile, distance));
    EXPECT_EQ(one.usual_cost_over_dense(), other.usual_cost_over_dense());
    EXPECT_EQ(one.cost_over_dense(one.cheapest_cut({1}), {}), one.usual_cost_over_dense());
}

TEST(RankSample, MeasuresWhatCovariancesTake) {
    const PointSet points(Metric::euclidean, random_points(500, 1));
    const Covariance covariance(CovarianceFamily::exponential, theta, Metric::euclidean, points.diameter_bound());
    const double seconds = measure_rates(covariance, points).covariance_seconds;
    EXPECT_GT(seconds, 1e-11);
    EXPECT_LT(seconds, 1e-5);
}

TEST(RankSample, EndsWhenItTakesTooMuchOfAnEvaluation) {
    // In space hardly anything compresses.
    Observations points = some_points(3000);
    points.coordinates.push_back(random_points(3000, 12)[0]);
    const RankSample once = sample_ranks(points, model, 1e-8, theta);
    const RankSample fit = sample_ranks(points, model, 1e-8, {});
    EXPECT_LT(once.sampled(), fit.sampled());
    EXPECT_LT(once.work_over_dense(), 0.25);
    EXPECT_GE(once.sampled(), 5);
    const PointSet set(model.metric, in_hilbert_order(points, model.metric).coordinates);
    const Covariance covariance(model.family, theta, model.metric, set.diameter_bound());
    const RankSample least(covariance, set, 1e-8, {.work = 0});
    const RankSample all(covariance, set, 1e-8);
    EXPECT_LT(least.sampled(), all.sampled());
    EXPECT_NEAR(least.rank(200, 1) / all.rank(200, 1), 1, 0.3);
}

TEST(RankSample, NeedsNoParameters) {
    const RankSample sample = sample_ranks(some_points(500), model, accuracy, {});
    EXPECT_GT(sample.rank(100, 1), 1);
}

TEST(RankSample, OfSmoothFieldsSaysThatCompressionPays) {
    const Observations points = some_points(6000);
    const RankSample rough = sample_ranks(points, model, 1e-12, CovarianceParameters{.sigma2 = 1, .range = 0.1});
    const RankSample smooth = sample_ranks(points, {.family = CovarianceFamily::squared_exponential}, 1e-4,
                                           CovarianceParameters{.sigma2 = 1, .range = 0.2});
    EXPECT_LT(smooth.cost_over_dense(smooth.cheapest_cut({1}), {}), 0.3);
    EXPECT_GT(rough.cost_over_dense(rough.cheapest_cut({1}), {}), smooth.cost_over_dense(smooth.cheapest_cut({1}), {}));
}

TEST(RankSample, IsThereForAFewPointsAndRefusesOne) {
    for (const Index n : {2, 3, 7, 20}) {
        const RankSample sample = sample_ranks(some_points(n), model, accuracy, theta);
        EXPECT_GE(sample.rank(1, 1), 0);
        EXPECT_LE(sample.cheapest_cut({2}).tile, n);
    }
    EXPECT_THROW((void)sample_ranks(some_points(1), model, accuracy, theta), Error);
}

}  // namespace
}  // namespace tesela::geo::rank_sample_test
