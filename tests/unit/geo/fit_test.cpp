#include "tesela/geo/fit.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/geometry.hpp"
#include "tesela/geo/internal/part_of.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/sample.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tesela::geo::fit_test {
namespace {

using tesela::testing::meuse;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Problem {
    InlineEngine engine;
    Stream s{engine};
    Likelihood likelihood;
    explicit Problem(const Model& model, Index tile = 50) : likelihood(s, meuse(), model, {.tile = tile}) {}
    Problem(const Observations& data, const Model& model) : likelihood(s, data, model, {.tile = 64}) {}
};

Model with_smoothness(double smoothness) {
    Model model;
    model.choice(Parameter::smoothness).fixed = smoothness;
    return model;
}

void expect_near_fraction(double value, double expected, double fraction, std::string_view what) {
    EXPECT_NEAR(value, expected, fraction * std::abs(expected)) << what;
}

TEST(Fit, ReachesTheReferenceOnMeuse) {
    for (const auto& reference : tesela::testing::meuse_fits())
        for (const Index tile : {16, 50, 200}) {
            Problem p(with_smoothness(reference.theta.smoothness), tile);
            const FitResult result = fit(p.likelihood);
            EXPECT_EQ(result.stop_reason, StopReason::converged);
            EXPECT_NEAR(result.log_likelihood, reference.log_likelihood, 1e-5);
            for (const Parameter q : all_parameters)
                expect_near_fraction(value_of(result.theta, q), value_of(reference.theta, q), 0.01, name(q));
        }
}

TEST(Fit, EstimatesTheMeanOfTheTrend) {
    Problem p(with_smoothness(0.5));
    const FitResult result = fit(p.likelihood);
    EXPECT_NEAR(result.trend.coefficients.at(0), tesela::testing::meuse_mean_of_the_exponential_fit, 1e-3);
}

TEST(Fit, TheExponentialFamilyIsMaternOfSmoothnessOneHalf) {
    Problem p(Model{.family = CovarianceFamily::exponential});
    EXPECT_NEAR(fit(p.likelihood).log_likelihood, tesela::testing::meuse_fits()[0].log_likelihood, 1e-5);
}

TEST(Fit, AFreeSmoothnessIsAtLeastAsLikelyAsAnyFixedOne) {
    Problem p(Model{});
    const FitResult result = fit(p.likelihood);
    for (const auto& reference : tesela::testing::meuse_fits())
        EXPECT_GE(result.log_likelihood, reference.log_likelihood);
}

TEST(Fit, IsAMaximumInEveryFreeParameter) {
    Problem p(Model{});
    const FitResult result = fit(p.likelihood);
    for (const Parameter q : all_parameters)
        for (const double factor : {0.97, 1.03}) {
            CovarianceParameters moved = result.theta;
            value_of(moved, q) *= factor;
            EXPECT_LT(p.likelihood.evaluate(moved).log_likelihood, result.log_likelihood) << name(q);
        }
}

TEST(Fit, ProfilingSigma2OutChangesNothing) {
    Model searched = with_smoothness(1.5);
    searched.choice(Parameter::sigma2).lower = 1e-3;  // bounds of the user make sigma2 a variable of the search
    ASSERT_TRUE(profiles_sigma2(with_smoothness(1.5)));
    ASSERT_FALSE(profiles_sigma2(searched));
    Problem p(searched);
    const FitResult result = fit(p.likelihood);
    EXPECT_NEAR(result.log_likelihood, tesela::testing::meuse_fits()[1].log_likelihood, 1e-5);
    expect_near_fraction(result.theta.sigma2, tesela::testing::meuse_fits()[1].theta.sigma2, 0.01, "sigma2");
}

TEST(Fit, FixedParametersStayAndOnlySigma2HasAClosedForm) {
    Model model = with_smoothness(0.5);
    model.choice(Parameter::range).fixed = 300;
    model.choice(Parameter::nugget).fixed = 0;
    Problem p(model);
    const FitResult result = fit(p.likelihood);
    EXPECT_EQ(result.theta.range, 300);
    EXPECT_EQ(result.theta.smoothness, 0.5);
    EXPECT_EQ(result.theta.nugget, 0);
    EXPECT_LE(result.evaluations, 2);
    for (const double factor : {0.99, 1.01}) {
        CovarianceParameters moved = result.theta;
        moved.sigma2 *= factor;
        EXPECT_LT(p.likelihood.evaluate(moved).log_likelihood, result.log_likelihood);
    }
}

TEST(Fit, OneFreeParameterIsFoundToo) {
    Model model = with_smoothness(0.5);
    model.choice(Parameter::sigma2).fixed = 1.84992;
    model.choice(Parameter::nugget).fixed = 0.0346556;
    Problem p(model);
    const FitResult result = fit(p.likelihood);
    expect_near_fraction(result.theta.range, 2144.92, 0.01, "range");
}

TEST(Fit, WarnsOfAParameterAtItsBound) {
    Model model = with_smoothness(0.5);
    model.choice(Parameter::range).upper = 500;
    Problem p(model);
    const FitResult result = fit(p.likelihood);
    ASSERT_EQ(result.warnings.size(), 1U);
    EXPECT_EQ(result.warnings[0].kind, FitWarning::Kind::at_upper_bound);
    EXPECT_EQ(result.warnings[0].parameter, Parameter::range);
    EXPECT_THAT(result.warnings[0].text, HasSubstr("upper bound 500"));
    EXPECT_NEAR(result.theta.range, 500, 0.5);
}

TEST(Fit, WarnsOfAFlatLikelihood) {
    // Values without any correlation: the range means nothing as long as it is far below the spacing.
    Observations noise{.coordinates = {std::vector<double>(60)}, .values = std::vector<double>(60)};
    for (std::size_t i = 0; i < 60; ++i) {
        noise.coordinates[0][i] = static_cast<double>(i);
        noise.values[i] = i % 2 == 0 ? 1 : -1;  // neighbours repel each other, which no covariance here can say
    }
    Model model{.family = CovarianceFamily::exponential};
    Problem p(noise, model);
    const FitResult result = fit(p.likelihood);
    const auto about = [](Parameter q) { return [q](const FitWarning& warning) { return warning.parameter == q; }; };
    EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(), about(Parameter::range)));
}

TEST(Fit, HasNoWarningsWhereTheDataDetermineAll) {
    Problem p(with_smoothness(1.5));
    EXPECT_THAT(fit(p.likelihood).warnings, IsEmpty());
}

TEST(Fit, StopsAtTheLimitsThatItIsGiven) {
    Problem p(Model{});
    const FitResult few = fit(p.likelihood, {.max_evaluations = 15});
    EXPECT_EQ(few.stop_reason, StopReason::max_evaluations);
    EXPECT_EQ(few.evaluations, 15);
    ASSERT_FALSE(few.warnings.empty());
    const auto warned = std::ranges::find(few.warnings, FitWarning::Kind::cut_short, &FitWarning::kind);
    ASSERT_NE(warned, few.warnings.end());
    EXPECT_THAT(warned->text, HasSubstr("ended after 15 evaluations"));
    const auto json = to_json({.model = {}, .observations = meuse(), .result = few, .program = "test"});
    EXPECT_EQ(json.at("warnings").back(), few.warnings.back().text);
    const FitResult quick = fit(p.likelihood, {.max_seconds = 1e-9});
    EXPECT_EQ(quick.stop_reason, StopReason::time_limit);
    EXPECT_TRUE(std::isfinite(quick.log_likelihood));
}

TEST(Fit, ReportsEveryEvaluation) {
    Problem p(with_smoothness(0.5));
    std::vector<FitProgress> steps;
    const FitResult result = fit(p.likelihood, {.progress = [&](const FitProgress& step) { steps.push_back(step); }});
    ASSERT_GE(static_cast<Index>(steps.size()), result.evaluations - 1);
    EXPECT_EQ(steps.front().evaluation, 1);
    EXPECT_NEAR(steps.back().best, result.log_likelihood, 1e-8);
    for (std::size_t k = 1; k < steps.size(); ++k) EXPECT_GE(steps[k].best, steps[k - 1].best);
}

TEST(Fit, TheSecondFitFromTheEstimateEndsThere) {
    Problem p(with_smoothness(1.5));
    const FitResult first = fit(p.likelihood);
    Model again = with_smoothness(1.5);
    again.choice(Parameter::range).start = first.theta.range;
    again.choice(Parameter::sigma2).start = first.theta.sigma2;
    again.choice(Parameter::nugget).start = first.theta.nugget;
    Problem q(again);
    const FitResult second = fit(q.likelihood);
    EXPECT_NEAR(second.log_likelihood, first.log_likelihood, 1e-7);
    EXPECT_LE(second.evaluations, first.evaluations);
}

TEST(Fit, SaysWhyNoStartIsPositiveDefinite) {
    Observations twins = meuse();
    twins.coordinates[0][1] = twins.coordinates[0][0];
    twins.coordinates[1][1] = twins.coordinates[1][0];
    Model model = with_smoothness(1.5);
    model.choice(Parameter::nugget).fixed = 0;
    Problem p(twins, model);
    try {
        (void)fit(p.likelihood);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("not positive definite at sigma2 1, range"));
        EXPECT_THAT(error.what(), HasSubstr("line 2 of meuse.csv and line 3"));
    }
}

TEST(Fit, GoesOnWherePartOfTheSearchSpaceIsNotPositiveDefinite) {
    // A squared exponential without a nugget is singular in double precision for all but short ranges.
    Model model{.family = CovarianceFamily::squared_exponential};
    model.choice(Parameter::nugget).fixed = 0;
    Problem p(model);
    Index failed = 0;
    const FitResult result = fit(p.likelihood, {.progress = [&](const FitProgress& step) {
                                     if (std::isinf(step.log_likelihood)) ++failed;
                                 }});
    EXPECT_GT(failed, 0);
    EXPECT_EQ(result.stop_reason, StopReason::converged);
    EXPECT_TRUE(std::isfinite(result.log_likelihood));
}

TEST(Fit, RecoversTheParametersOfASampledField) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters truth{.sigma2 = 2, .range = 0.08, .smoothness = 1, .nugget = 0.1};
    Observations data{.coordinates = random_points(500, 4), .values = {}};
    data.values = sample(s, {.theta = truth, .mean = 10}, data.coordinates, {.seed = 4});
    Likelihood likelihood(s, data, {});
    const FitResult result = fit(likelihood);
    // The likelihood ratio at the truth is chi-square distributed with four degrees of freedom: 18.5 is its 0.1 %.
    const double at_truth = likelihood.evaluate(truth).log_likelihood;
    EXPECT_GE(result.log_likelihood, at_truth);
    EXPECT_LE(2 * (result.log_likelihood - at_truth), 18.5);
}

/// What ends a process at any moment, as far as a fit can tell.
struct Killed {};

TEST(Fit, GoesOnFromACheckpointToTheSameDigits) {
    const TemporaryDirectory folder;
    const Model model = with_smoothness(0.5);
    Observations few = meuse();
    for (auto* column : {&few.coordinates[0], &few.coordinates[1], &few.values}) column->resize(40);
    few.lines.clear();
    Problem p(few, model);
    const FitResult whole = fit(p.likelihood);
    const Index asked = whole.evaluations - 1;
    for (Index last = 1; last < asked; last += 3) {
        const std::string file = folder.path(fmt::format("fit{}.log", last));
        const auto killed = [&](const FitProgress& step) {
            if (step.evaluation == last) throw Killed();
        };
        Problem first(few, model);
        EXPECT_THROW((void)fit(first.likelihood, {.checkpoint = file, .progress = killed}), Killed);
        Problem second(few, model);
        const FitResult result = fit(second.likelihood, {.checkpoint = file});
        EXPECT_EQ(result.theta, whole.theta);
        EXPECT_EQ(result.log_likelihood, whole.log_likelihood);
        EXPECT_EQ(result.evaluations, whole.evaluations);
    }
}

TEST(Fit, RefusesTheCheckpointOfAnotherFit) {
    const TemporaryDirectory folder;
    const std::string file = folder.path("fit.log");
    Problem p(with_smoothness(0.5));
    EXPECT_FALSE(storage_in_checkpoint(file));
    (void)fit(p.likelihood, {.checkpoint = file});
    EXPECT_EQ(storage_in_checkpoint(file)->tile, p.likelihood.options().tile);
    EXPECT_FALSE(storage_in_checkpoint(file)->compression);
    Problem other(with_smoothness(1.5));
    EXPECT_THROW((void)fit(other.likelihood, {.checkpoint = file}), Error);
}

TEST(Fit, EndsWithTheBestPointWhenItIsInterrupted) {
    Problem p(with_smoothness(0.5));
    Index asked = 0;
    const FitResult result = fit(p.likelihood, {.interrupted = [&] { return ++asked > 5; }});
    EXPECT_EQ(result.stop_reason, StopReason::interrupted);
    EXPECT_EQ(result.evaluations, 7);  // the first, five that were allowed, and one at the best of them
    ASSERT_FALSE(result.warnings.empty());
    EXPECT_EQ(result.warnings.back().kind, FitWarning::Kind::cut_short);
}

TEST(Fit, AllOptimizersEndAtTheSameMaximum) {
    for (const Optimizer optimizer : {Optimizer::bobyqa, Optimizer::lbfgs, Optimizer::scoring}) {
        Problem p(with_smoothness(1.5));
        const FitResult result = fit(p.likelihood, {.optimizer = optimizer});
        EXPECT_EQ(result.stop_reason, StopReason::converged) << name_in(optimizer_names, optimizer);
        EXPECT_NEAR(result.log_likelihood, tesela::testing::meuse_fits()[1].log_likelihood, 1e-5)
            << name_in(optimizer_names, optimizer);
        EXPECT_LE(result.slope, 1e-3);
        EXPECT_EQ(result.gradients > 0, optimizer != Optimizer::bobyqa);
    }
}

TEST(Fit, OfAFamilyNeverEndsBelowOneThatItContains) {
    const auto of = [](CovarianceFamily family, Trend trend) {
        Problem p(Model{.family = family, .trend = trend});
        return fit(p.likelihood).log_likelihood;
    };
    using enum CovarianceFamily;
    for (const Trend trend : {Trend::constant, Trend::linear}) {
        const double powered = of(powered_exponential, trend);
        EXPECT_GE(powered, of(exponential, trend) - 1e-6);
        EXPECT_GE(powered, of(squared_exponential, trend) - 1e-6);
        EXPECT_GE(of(matern, trend), of(exponential, trend) - 1e-6);
    }
}

TEST(Fit, LooksForStartsOnAPartOfManyObservations) {
    InlineEngine engine;
    Stream s(engine);
    const CovarianceParameters truth{.sigma2 = 2, .range = 0.08, .smoothness = 1, .nugget = 0.1};
    Observations data{.coordinates = random_points(400, 9), .values = {}};
    data.values = sample(s, {.theta = truth, .mean = 10}, data.coordinates, {.seed = 9});
    Likelihood likelihood(s, data, {}, {.tile = 100});
    const FitResult whole = fit(likelihood, {.scan_points = 400});
    EXPECT_EQ(whole.scan_evaluations, 0);
    const FitResult parted = fit(likelihood, {.scan_points = 100});
    EXPECT_GT(parted.scan_evaluations, 30);
    EXPECT_LT(parted.evaluations, whole.evaluations / 2);
    EXPECT_NEAR(parted.log_likelihood, whole.log_likelihood, 1e-3);
}

TEST(PartOfObservations, TakesPointsWithTheirNeighbours) {
    const Observations data{.coordinates = random_points(300, 3), .values = std::vector<double>(300, 1.0)};
    const PointSet points(Metric::euclidean, data.coordinates);
    const Observations part = part_of(data, points, 80);
    EXPECT_EQ(part.size(), 80);
    EXPECT_EQ(part.coordinates[1].size(), 80U);
    // Eighty of 300 points drawn alone would be about twice as far from each other.
    EXPECT_LT(typical_spacing(PointSet(Metric::euclidean, part.coordinates)), 1.3 * typical_spacing(points));
    EXPECT_EQ(part_of(data, points, 1000).size(), 300);
}

TEST(Duplicates, AreFatalOnlyWithoutNoise) {
    Observations twins = meuse();
    twins.coordinates[0][9] = twins.coordinates[0][4];
    twins.coordinates[1][9] = twins.coordinates[1][4];
    EXPECT_THAT(check_duplicates(meuse(), {}), IsEmpty());
    EXPECT_THAT(
        check_duplicates(twins, {}),
        HasSubstr("1 of 155 points lie on another one, at 1 place; the first is line 11 of meuse.csv, on line 6"));
    Model no_noise;
    no_noise.choice(Parameter::nugget).fixed = 0;
    EXPECT_THROW((void)check_duplicates(twins, no_noise), Error);
    no_noise.jitter = 1e-8;
    EXPECT_NO_THROW((void)check_duplicates(twins, no_noise));
}

TEST(Model, RefusesChoicesThatMakeNoSense) {
    const auto message = [](const auto& change) -> std::string {
        Model model;
        change(model);
        try {
            validate(model);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message([](Model& m) { m.choice(Parameter::range).fixed = -1; }), HasSubstr("range is -1"));
    EXPECT_THAT(message([](Model& m) { m.choice(Parameter::nugget).fixed = -1; }), HasSubstr("nugget"));
    EXPECT_THAT(message([](Model& m) { m.choice(Parameter::nugget).lower = 0; }), HasSubstr("fix it at 0"));
    EXPECT_THAT(message([](Model& m) {
                    m.choice(Parameter::range).lower = 3;
                    m.choice(Parameter::range).upper = 2;
                }),
                HasSubstr("not below"));
    EXPECT_THAT(message([](Model& m) {
                    m.choice(Parameter::range).lower = 3;
                    m.choice(Parameter::range).start = 2;
                }),
                HasSubstr("outside"));
    EXPECT_THAT(message([](Model& m) {
                    m.choice(Parameter::sigma2).fixed = 3;
                    m.choice(Parameter::sigma2).start = 2;
                }),
                HasSubstr("fixed"));
    EXPECT_THAT(message([](Model& m) {
                    m.family = CovarianceFamily::exponential;
                    m.choice(Parameter::smoothness).fixed = 1;
                }),
                HasSubstr("has no smoothness"));
    EXPECT_THAT(message([](Model& m) { m.jitter = -1; }), HasSubstr("jitter"));
    EXPECT_THAT(message([](Model&) {}), IsEmpty());
}

}  // namespace
}  // namespace tesela::geo::fit_test
