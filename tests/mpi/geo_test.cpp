#include "support/shared_engine.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/cross_validation.hpp"
#include "tesela/geo/derivatives.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/predict.hpp"
#include "tesela/geo/prediction_loss.hpp"
#include "tesela/geo/sample.hpp"
#include "unit/geo/gradient_check.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tesela::geo::geo_test {
namespace {

using tesela::testing::engine;
using tesela::testing::meuse;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::array<Index, 3> tiles{16, 50, 200};
constexpr std::array all_steps{Overlap::sync,       Overlap::async, Overlap::solve,        Overlap::memory,
                               Overlap::priorities, Overlap::order, Overlap::oversubscribe};

Model about_the_mean() { return {.trend = Trend::none, .center = tesela::testing::mean_of_meuse()}; }

TEST(Geo, LogLikelihoodsEqualTheReference) {
    for (const Index tile : tiles) {
        Stream s(engine());
        Likelihood likelihood(s, meuse(), about_the_mean(), {.tile = tile});
        for (const auto& [theta, expected] : tesela::testing::meuse_log_likelihoods())
            EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, expected, 1e-9 * std::abs(expected));
    }
}

TEST(Geo, EveryStepOfOverlapGivesTheSameValue) {
    const auto [theta, expected] = tesela::testing::meuse_log_likelihoods().back();
    for (const Overlap overlap : all_steps) {
        Stream s(engine());
        const GridSize grid = Tiling::square(155, 16).grid();
        Likelihood likelihood(
            s, meuse(), about_the_mean(),
            {.tile = 16, .distribution = random_distribution(grid, engine().node_count(), 6), .overlap = overlap});
        for (int i = 0; i < 3; ++i)
            EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, expected, 1e-9 * std::abs(expected))
                << name(overlap);
    }
}

/// What this node has sent so far.
double sent_bytes() {
    double bytes = 0;
    for (const StarpuEngine::Sent& to : engine().sent()) bytes += static_cast<double>(to.bytes);
    return bytes;
}

TEST(Geo, AGenerationWithOwnersOfItsOwnGivesTheSameValuesAndLaterEvaluationsSendWhatTheFirstSent) {
    const auto& expected = tesela::testing::meuse_log_likelihoods();
    const GridSize grid = Tiling::square(155, 16).grid();
    for (const Overlap overlap : all_steps) {
        Stream s(engine());
        Likelihood likelihood(s, meuse(), about_the_mean(),
                              {.tile = 16,
                               .distribution = random_distribution(grid, engine().node_count(), 6),
                               .generation = random_distribution(grid, engine().node_count(), 7),
                               .overlap = overlap});
        std::vector<double> sent;
        for (const auto& [theta, value] : expected) {
            engine().barrier();
            const double before = sent_bytes();
            EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, value, 1e-9 * std::abs(value)) << name(overlap);
            engine().barrier();
            sent.push_back(sent_bytes() - before);
        }
        for (const double bytes : sent) EXPECT_EQ(bytes, sent.front()) << name(overlap);
    }
}

TEST(Geo, ALikelihoodWhoseTilesGetOtherOwnersHasTheSameValuesAndSlopes) {
    const auto [theta, expected] = tesela::testing::meuse_log_likelihoods().back();
    const GridSize grid = Tiling::square(155, 16).grid();
    const auto owners = [&](std::uint64_t seed) { return random_distribution(grid, engine().node_count(), seed); };
    Stream s(engine());
    Likelihood likelihood(s, meuse(), about_the_mean(), {.tile = 16, .distribution = owners(1)});
    const Gradient slope = LikelihoodDerivatives(likelihood).gradient(likelihood.evaluate(theta));
    for (const bool moves : {true, false}) {
        likelihood.redistribute(owners(2), moves ? std::optional(owners(3)) : std::nullopt);
        for (int times = 0; times < 2; ++times) {
            const LikelihoodValue after = likelihood.evaluate(theta);
            EXPECT_NEAR(after.log_likelihood, expected, 1e-9 * std::abs(expected));
            const Gradient again = LikelihoodDerivatives(likelihood).gradient(after);
            for (std::size_t p = 0; p < slope.size(); ++p)
                EXPECT_NEAR(again[p], slope[p], 1e-7 * (1 + std::abs(slope[p])));
        }
    }
    EXPECT_EQ(likelihood.arrangement(), 2);
    EXPECT_THROW(likelihood.redistribute(random_distribution({2, 2}, engine().node_count(), 1)), Error);
    EXPECT_NEAR(likelihood.evaluate(theta).log_likelihood, expected, 1e-9 * std::abs(expected));
}

TEST(Geo, FromTheMemoryStepOnTilesHaveTheirMemoryBeforeTheFirstEvaluation) {
    const auto theta = tesela::testing::meuse_log_likelihoods().back().first;
    constexpr Index tile = 11;
    const GridSize grid = Tiling::square(155, tile).grid();
    const Distribution owners = random_distribution(grid, engine().node_count(), 6);
    double own_bytes = 0;
    for (Index j = 0; j < grid.cols; ++j)
        for (Index i = j; i < grid.rows; ++i)
            if (owners.owner({i, j}) == engine().this_node()) own_bytes += 8.0 * tile * tile;
    for (const Overlap overlap : {Overlap::solve, Overlap::memory}) {
        Stream s(engine());
        const auto before = engine().memory_use();
        Likelihood likelihood(s, meuse(), about_the_mean(), {.tile = tile, .distribution = owners, .overlap = overlap});
        const auto attached = engine().memory_use();
        if (overlap == Overlap::solve) {
            EXPECT_EQ(attached.kept, before.kept);  // nothing is asked for
            continue;
        }
        EXPECT_GE(attached.kept, 0.9 * own_bytes);  // the last tiles are smaller
        for (int times = 0; times < 2; ++times) EXPECT_TRUE(likelihood.evaluate(theta).status.ok());
        // On several nodes what others send has to go somewhere.
        if (engine().node_count() == 1) {
            EXPECT_EQ(engine().memory_use().allocations, attached.allocations);
        }
    }
}

TEST(Geo, FitsReachTheReference) {
    for (const auto& reference : tesela::testing::meuse_fits())
        for (const Index tile : tiles) {
            Stream s(engine());
            Model model;
            model.choice(Parameter::smoothness).fixed = reference.theta.smoothness;
            Likelihood likelihood(s, meuse(), model, {.tile = tile});
            const FitResult result = fit(likelihood);
            EXPECT_EQ(result.stop_reason, StopReason::converged);
            EXPECT_NEAR(result.log_likelihood, reference.log_likelihood, 1e-5);
            for (const Parameter p : all_parameters)
                EXPECT_NEAR(value_of(result.theta, p), value_of(reference.theta, p),
                            0.01 * value_of(reference.theta, p));
        }
}

TEST(Geo, GradientsEqualDifferences) {
    for (const auto& c : tesela::testing::gradient_cases()) {
        Stream s(engine());
        expect_gradient(s, c, {.trend = Trend::linear, .jitter = 0.01}, 37);
    }
}

TEST(Geo, InformationEqualsTheInlineEngine) {
    const CovarianceParameters theta{.sigma2 = 0.6, .range = 150, .smoothness = 1.2, .nugget = 0.05};
    const auto all = [&](Stream& s, Index tile) {
        const GridSize grid = Tiling::square(155, tile).grid();
        Likelihood likelihood(s, meuse(), {.trend = Trend::linear, .estimation = Estimation::reml},
                              {.tile = tile, .distribution = random_distribution(grid, s.engine().node_count(), 6)});
        LikelihoodDerivatives derivatives(likelihood);
        const LikelihoodValue value = likelihood.evaluate(theta);
        return std::array{derivatives.expected_information(value), derivatives.average_information(value),
                          observed_information(likelihood, derivatives, theta, all_parameters)};
    };
    InlineEngine oracle;
    Stream t(oracle);
    const auto expected = all(t, 155);
    Stream s(engine());
    const auto got = all(s, 23);
    for (std::size_t which = 0; which < got.size(); ++which)
        for (Index i = 0; i < 4; ++i)
            for (Index j = 0; j < 4; ++j) {
                const SmallMatrix& F = expected[which];
                EXPECT_NEAR(got[which](i, j), F(i, j), 1e-6 * std::sqrt(std::abs(F(i, i) * F(j, j))))
                    << which << ' ' << i << ' ' << j;
            }
}

TEST(Geo, KrigingEqualsGstat) {
    for (const Index tile : tiles) {
        Stream s(engine());
        Likelihood ordinary(s, meuse(), {}, {.tile = tile});
        const Predictions got = predict(ordinary, tesela::testing::meuse_kriging_theta, tesela::testing::meuse_grid(3));
        Likelihood simple(s, meuse(), about_the_mean(), {.tile = tile});
        const Predictions about_mean =
            predict(simple, tesela::testing::meuse_kriging_theta, tesela::testing::meuse_grid(3));
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(got.mean[i], tesela::testing::meuse_ordinary.mean[i], 1e-7);
            EXPECT_NEAR(got.variance[i], tesela::testing::meuse_ordinary.variance[i], 1e-7);
            EXPECT_NEAR(about_mean.mean[i], tesela::testing::meuse_simple.mean[i], 1e-7);
            EXPECT_NEAR(about_mean.variance[i], tesela::testing::meuse_simple.variance[i], 1e-7);
        }
    }
}

TEST(Geo, ManyBlocksOfPredictionsEqualTheInlineEngine) {
    const auto points = tesela::testing::meuse_grid(700);
    const Model model{.trend = Trend::linear};
    Stream s(engine());
    Likelihood likelihood(s, meuse(), model, {.tile = 32});
    const Predictions got = predict(likelihood, tesela::testing::meuse_kriging_theta, points, {.block = 150});
    InlineEngine oracle;
    Stream t(oracle);
    Likelihood whole(t, meuse(), model, {.tile = 155});
    const Predictions expected = predict(whole, tesela::testing::meuse_kriging_theta, points, {.block = 700});
    for (std::size_t i = 0; i < expected.mean.size(); ++i) {
        ASSERT_NEAR(got.mean[i], expected.mean[i], 1e-10);
        ASSERT_NEAR(got.variance[i], expected.variance[i], 1e-10);
    }
}

TEST(Geo, SamplesEqualTheInlineEngine) {
    const Field field{.theta = {.sigma2 = 2, .range = 0.1, .smoothness = 1.2, .nugget = 0.2}, .mean = 3};
    const auto points = random_points(300, 12);
    InlineEngine oracle;
    Stream t(oracle);
    const auto expected = sample(t, field, points, {.seed = 12, .tile = 300});
    for (const Index tile : {37, 100}) {
        Stream s(engine());
        const auto got = sample(s, field, points, {.seed = 12, .tile = tile});
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-12);
        const auto draws = sample_fields(s, field, points, {.seed = 12, .draws = 130, .tile = tile});
        const auto alone = sample_fields(t, field, points, {.seed = 12, .draws = 130, .tile = 300});
        ASSERT_EQ(draws.size(), alone.size());
        for (const std::size_t d : {0U, 1U, 129U})
            for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(draws[d][i], alone[d][i], 1e-12);
    }
}

TEST(Geo, AllNodesLearnOfASingularMatrixAndGoOn) {
    Stream s(engine());
    Likelihood likelihood(s, meuse(), {.family = CovarianceFamily::squared_exponential}, {.tile = 16});
    // Without a nugget and with a range far beyond the data the matrix has a rank of a few in double precision.
    const CovarianceParameters singular{.sigma2 = 0.6, .range = 1e5, .nugget = 0};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(likelihood.evaluate(singular).status.failure, Failure::not_positive_definite);
        EXPECT_TRUE(likelihood.evaluate(tesela::testing::meuse_kriging_theta).status.ok());
    }
}

TEST(Geo, NodesThatAreAskedForDifferentThingsAreTold) {
    if (engine().node_count() == 1) GTEST_SKIP() << "there is nobody to differ from";
    const auto number = static_cast<double>(engine().this_node().number());
    const auto told = [](const std::string& what) {
        return ThrowsMessage<Error>(HasSubstr(what + " on node 1 are not those of node 0"));
    };
    Stream s(engine());
    EXPECT_THAT([&] { Likelihood(s, meuse(), {.jitter = 0.1 * number}, {.tile = 50}); },
                told("the options of the model and of the likelihood"));
    EXPECT_THAT(
        [&] { Likelihood(s, meuse(), {}, {.tile = 50, .overlap = number == 1 ? Overlap::sync : Overlap::order}); },
        told("the options of the model and of the likelihood"));
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    EXPECT_THAT([&] { (void)likelihood.evaluate({.range = 100 + number, .nugget = 0.1}); },
                told("the parameters of the model"));
    EXPECT_THAT([&] { (void)fit(likelihood, {.tolerance = 1e-3 * (1 + number)}); }, told("the options of the fit"));
    const auto seed = static_cast<std::uint64_t>(number);
    EXPECT_THAT([&] { (void)sample(s, {}, random_points(20, 1), {.seed = seed}); }, told("the field and the seed"));
}

TEST(Geo, ATimeLimitStopsAllNodesAtTheSameEvaluation) {
    Stream s(engine());
    Likelihood likelihood(s, meuse(), {}, {.tile = 50});
    const FitResult result = fit(likelihood, {.max_seconds = 0.02});
    EXPECT_TRUE(result.stop_reason == StopReason::time_limit || result.stop_reason == StopReason::converged);
    // Nodes that had gone different ways would not agree on this.
    EXPECT_NEAR(likelihood.evaluate(result.theta).log_likelihood, result.log_likelihood, 1e-9);
}

TEST(Geo, CrossValidationEqualsTheInlineEngine) {
    const Observations data = meuse();
    const Model model{.trend = Trend::linear};
    const CovarianceParameters theta{.sigma2 = 0.6, .range = 150, .smoothness = 1.2, .nugget = 0.05};
    for (const Folds& folds :
         {leave_one_out(155), random_folds(155, 3, 2), block_folds(data, Metric::euclidean, {4, 4})}) {
        InlineEngine oracle;
        Stream t(oracle);
        const Predictions expected = cross_validate(t, {data, model, theta}, folds);
        for (const Index tile : {13, 40}) {
            Stream s(engine());
            const GridSize grid = fold_tiling(folds, tile).grid();
            const Distribution owners = random_distribution(grid, engine().node_count(), 6);
            const Predictions got =
                cross_validate(s, {data, model, theta}, folds, {.likelihood = {.tile = tile, .distribution = owners}});
            for (std::size_t i = 0; i < 155; ++i) {
                EXPECT_NEAR(got.mean[i], expected.mean[i], 1e-10);
                EXPECT_NEAR(got.variance[i], expected.variance[i], 1e-10);
            }
        }
    }
}

TEST(Geo, PredictionErrorsEqualTheInlineEngine) {
    const auto errors = [](Stream& s, Index tile) {
        const GridSize grid = Tiling::square(155, tile).grid();
        const LikelihoodOptions options{.tile = tile,
                                        .distribution = random_distribution(grid, s.engine().node_count(), 6)};
        const auto fitted = [](const Model& model, Likelihood& likelihood, const CovarianceParameters& theta) {
            FittedModel result{.model = model, .observations = meuse(), .result = {}, .program = {}};
            result.result.theta = theta;
            result.result.trend = likelihood.evaluate(theta).trend;
            return result;
        };
        const Model linear{.trend = Trend::linear};
        const Model constant{.trend = Trend::constant};
        Likelihood of_truth(s, meuse(), linear, options);
        Likelihood of_other(s, meuse(), constant, options);
        const FittedModel truth =
            fitted(linear, of_truth, {.sigma2 = 0.6, .range = 150, .smoothness = 1.2, .nugget = 0.05});
        const FittedModel other =
            fitted(constant, of_other, {.sigma2 = 0.5, .range = 300, .smoothness = 0.5, .nugget = 0.1});
        return prediction_errors({of_truth, truth}, {of_other, other}, tesela::testing::meuse_grid(200),
                                 {.block = 150});
    };
    InlineEngine oracle;
    Stream t(oracle);
    const PredictionErrors expected = errors(t, 155);
    Stream s(engine());
    const PredictionErrors got = errors(s, 23);
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_NEAR(got.best[i], expected.best[i], 1e-10);
        EXPECT_NEAR(got.real[i], expected.real[i], 1e-10);
        EXPECT_NEAR(got.claimed[i], expected.claimed[i], 1e-10);
    }
}

}  // namespace
}  // namespace tesela::geo::geo_test
