#include "tesela/geo/predict.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "unit/geo/meuse.hpp"
#include "unit/geo/processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tesela::geo::predict_test {
namespace {

using Columns = std::vector<std::vector<double>>;
using tesela::testing::DenseProcess;
using tesela::testing::meuse;
using tesela::testing::meuse_grid;
using tesela::testing::meuse_kriging_theta;

void expect_reference(const Predictions& got, const tesela::testing::ReferenceKriging& expected) {
    ASSERT_EQ(got.mean.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(got.mean[i], expected.mean[i], 1e-7);
        EXPECT_NEAR(got.variance[i], expected.variance[i], 1e-7);
    }
}

TEST(Predict, EqualsGstatOnMeuse) {
    InlineEngine engine;
    for (const Index tile : {16, 50, 200}) {
        Stream s(engine);
        Likelihood ordinary(s, meuse(), {.family = CovarianceFamily::exponential}, {.tile = tile});
        expect_reference(predict(ordinary, meuse_kriging_theta, meuse_grid(3)), tesela::testing::meuse_ordinary);
        Likelihood simple(s, meuse(), {.trend = Trend::none, .center = tesela::testing::mean_of_meuse()},
                          {.tile = tile});
        expect_reference(predict(simple, meuse_kriging_theta, meuse_grid(3)), tesela::testing::meuse_simple);
    }
}

RC_GTEST_PROP(Predict, EqualsTheDenseFormula, ()) {
    const DenseProcess p = tesela::testing::any_process(*rc::gen::inRange<Index>(8, 25));
    RC_PRE(tesela::testing::usable(p));
    const Index m = *rc::gen::inRange<Index>(1, 12);
    const auto at = tesela::testing::any_coordinates(p.model.metric, static_cast<Index>(p.data.coordinates.size()), m);
    InlineEngine engine(*rc::gen::inRange<Index>(1, 5));
    Stream s(engine);
    const Index tile = *rc::gen::inRange<Index>(1, 30);
    const GridSize grid = Tiling::square(p.n(), tile).grid();
    Likelihood likelihood(s, p.data, p.model,
                          {.tile = tile, .distribution = random_distribution(grid, engine.node_count(), 3)});
    const Predictions got = predict(likelihood, p.theta, at, {.block = *rc::gen::inRange<Index>(1, 15)});
    RC_ASSERT(static_cast<Index>(got.mean.size()) == m);
    for (Index i = 0; i < m; ++i) {
        const auto expected = p.predict(at, i);
        const auto k = static_cast<std::size_t>(i);
        RC_LOG() << fmt::format("{} {} | {} {}\n", got.mean[k], expected.mean, got.variance[k], expected.variance);
        RC_ASSERT(std::abs(got.mean[k] - expected.mean) <= 1e-8 * (1 + std::abs(expected.mean)));
        RC_ASSERT(std::abs(got.variance[k] - expected.variance) <= 1e-8 * (1 + std::abs(expected.variance)));
    }
}

TEST(Predict, BlocksChangeNothing) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {.trend = Trend::linear}, {.tile = 50});
    const auto points = meuse_grid(301);
    const Predictions whole = predict(likelihood, meuse_kriging_theta, points, {.block = 301});
    for (const Index block : {0, 1, 7, 128, 300}) {
        std::vector<Index> done;
        const Predictions parts = predict(likelihood, meuse_kriging_theta, points,
                                          {.block = block, .progress = [&](Index count) { done.push_back(count); }});
        EXPECT_EQ(done.back(), 301);
        for (std::size_t i = 0; i < whole.mean.size(); ++i) {
            EXPECT_NEAR(parts.mean[i], whole.mean[i], 1e-11);
            EXPECT_NEAR(parts.variance[i], whole.variance[i], 1e-11);
        }
    }
}

TEST(Predict, WithoutNoiseItInterpolates) {
    InlineEngine engine;
    Stream s(engine);
    const Observations data = meuse();
    Likelihood likelihood(s, data, {}, {.tile = 50});
    const Predictions at_data =
        predict(likelihood, {.sigma2 = 0.6, .range = 200, .smoothness = 0.5, .nugget = 0}, data.coordinates);
    for (std::size_t i = 0; i < data.values.size(); ++i) {
        EXPECT_NEAR(at_data.mean[i], data.values[i], 1e-10);
        EXPECT_NEAR(at_data.variance[i], 0, 1e-10);
    }
}

TEST(Predict, TheVarianceOfTheSignalLacksTheNugget) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    const Predictions observation = predict(likelihood, meuse_kriging_theta, meuse_grid(20));
    const Predictions signal = predict(likelihood, meuse_kriging_theta, meuse_grid(20), {.of = PredictionOf::signal});
    for (std::size_t i = 0; i < signal.mean.size(); ++i) {
        EXPECT_EQ(observation.mean[i], signal.mean[i]);
        EXPECT_NEAR(observation.variance[i] - signal.variance[i], meuse_kriging_theta.nugget, 1e-14);
    }
}

TEST(Predict, FarFromAllDataItIsTheTrendAndTheSill) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    const LikelihoodValue value = likelihood.evaluate(meuse_kriging_theta);
    const Predictions far = predict(likelihood, meuse_kriging_theta, Columns{{1e6}, {1e6}});
    const double error = value.trend.standard_errors[0];
    EXPECT_NEAR(far.mean[0], value.trend.coefficients[0], 1e-12);
    EXPECT_NEAR(far.variance[0], 0.6 + error * error, 1e-12);
}

TEST(Predict, RefusesPointsOfAnotherKindAndSingularMatrices) {
    InlineEngine engine;
    Stream s(engine);
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    EXPECT_THROW((void)predict(likelihood, meuse_kriging_theta, Columns{{1.0, 2.0}}), Error);
    EXPECT_THROW((void)predict(likelihood, meuse_kriging_theta, Columns{{1.0, NAN}, {1.0, 2.0}}), Error);
    const CovarianceParameters singular{.sigma2 = 1, .range = 1e6, .smoothness = 4, .nugget = 0};
    EXPECT_THROW((void)predict(likelihood, singular, meuse_grid(3)), Error);
    EXPECT_TRUE(predict(likelihood, meuse_kriging_theta, Columns{{}, {}}).mean.empty());
}

}  // namespace
}  // namespace tesela::geo::predict_test
