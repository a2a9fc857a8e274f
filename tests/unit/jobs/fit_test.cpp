#include "tesela/jobs/fit.hpp"

#include "tesela/flow/inline_engine.hpp"
#include "tesela/geo/sample.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace tesela::jobs::fit_test {
namespace {

using geo::Method;
using geo::Parameter;
using geo::Refusal;
using By = geo::NeedForSlopes::By;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A rough field at random points.
FitRequest request_of(Index n) {
    FitRequest request;
    request.model.family = CovarianceFamily::exponential;
    request.observations.coordinates = geo::random_points(n, 5);
    InlineEngine engine;
    Stream stream(engine);
    request.observations.values = geo::sample(
        stream, {.family = CovarianceFamily::exponential, .theta = {.sigma2 = 1, .range = 0.2, .nugget = 0.1}},
        request.observations.coordinates, {.seed = 3});
    return request;
}

geo::ResolvedEvaluation compressed() {
    geo::ResolvedEvaluation resolved;
    resolved.likelihood.compression = geo::TileAccuracy{};
    return resolved;
}

bool searches_without_slopes(const ResolvedFit& resolved) {
    for (const geo::Reason& reason : resolved.evaluation.reasons)
        if (std::holds_alternative<geo::reason::WithoutSlopes>(reason)) return true;
    return false;
}

TEST(FitRequest, NeedsSlopesForWhatWasAskedForAlone) {
    FitRequest request;
    EXPECT_FALSE(evaluation_of(request).slopes) << "what is left out may be decided otherwise";
    request.optimizer = geo::Optimizer::bobyqa;
    request.errors = ErrorsFrom::none;
    EXPECT_FALSE(evaluation_of(request).slopes);
    request.profile = {Parameter::range};
    EXPECT_EQ(evaluation_of(request).slopes->by, By::profile);
    request.errors = ErrorsFrom::observed;
    EXPECT_EQ(evaluation_of(request).slopes->by, By::errors);
    EXPECT_EQ(evaluation_of(request).slopes->value, "observed");
    request.optimizer = geo::Optimizer::lbfgs;
    EXPECT_EQ(evaluation_of(request).slopes->by, By::optimizer);
    EXPECT_EQ(evaluation_of(request).slopes->value, "lbfgs");
}

TEST(FitRequest, OfCompressedMatricesIsSearchedByValuesAlone) {
    const ResolvedFit resolved = resolve(FitRequest{}, compressed());
    EXPECT_EQ(resolved.optimizer, geo::Optimizer::bobyqa);
    EXPECT_EQ(resolved.errors, ErrorsFrom::none);
    EXPECT_TRUE(searches_without_slopes(resolved));
    FitRequest by_values;
    by_values.optimizer = geo::Optimizer::bobyqa;
    by_values.errors = ErrorsFrom::none;
    EXPECT_FALSE(searches_without_slopes(resolve(by_values, compressed()))) << "who asked for it knows";
    by_values.errors.reset();
    EXPECT_EQ(resolve(by_values, compressed()).errors, ErrorsFrom::none);
}

TEST(FitRequest, OfExactMatricesIsSearchedAsAskedFor) {
    FitRequest request;
    EXPECT_EQ(resolve(request, geo::ResolvedEvaluation{}).optimizer, geo::Optimizer::scoring);
    EXPECT_EQ(resolve(request, geo::ResolvedEvaluation{}).errors, ErrorsFrom::expected);
    request.optimizer = geo::Optimizer::lbfgs;
    request.errors = ErrorsFrom::average;
    EXPECT_EQ(resolve(request, geo::ResolvedEvaluation{}).optimizer, geo::Optimizer::lbfgs);
    EXPECT_EQ(resolve(request, geo::ResolvedEvaluation{}).errors, ErrorsFrom::average);
}

TEST(FitRequest, HoldsAsManyMatricesAsDerivativesNeed) {
    FitRequest request;
    const auto held = [&] { return resolve(request, geo::ResolvedEvaluation{}).matrices_held; };
    request.model.family = CovarianceFamily::matern;
    EXPECT_EQ(held(), 4);
    request.model.family = CovarianceFamily::exponential;
    EXPECT_EQ(held(), 3);
    request.errors = ErrorsFrom::none;
    EXPECT_EQ(held(), 2);
    request.optimizer = geo::Optimizer::bobyqa;
    EXPECT_EQ(held(), 1);
    request.errors = ErrorsFrom::average;
    EXPECT_EQ(held(), 2);
}

TEST(FitRequest, EvaluationsOfAPartCountByTheSquareOfItsSize) {
    FitRequest request;
    request.observations.values.resize(100);
    const auto evaluations = [&] { return resolve(request, geo::ResolvedEvaluation{}).evaluations; };
    EXPECT_EQ(evaluations(), geo::usual_evaluations_of_a_part);
    request.observations.values.resize(5000);
    const double share = static_cast<double>(geo::points_of_the_scan(5000, {})) / 5000;
    EXPECT_LT(share, 1);
    EXPECT_DOUBLE_EQ(evaluations(), geo::usual_evaluations + geo::usual_evaluations_of_a_part * share * share);
}

TEST(FitRequest, OfACheckpointRefusesAPlanForTheNodesAtHand) {
    FitRequest request = request_of(20);
    RankSampler sampler(request.observations, request.model);
    request.evaluation.owners_from = geo::OwnersFrom::own_plan;
    EXPECT_EQ(check(request, sampler.facts()), "");
    request.search.checkpoint = "none.log";
    try {
        (void)check(request, sampler.facts());
        FAIL() << "not refused";
    } catch (const Refusal& refusal) {
        EXPECT_EQ(refusal.kind(), Refusal::Kind::own_plan_of_checkpoint);
    }
}

TEST(FitRequest, IsCheckedBeforeAnythingRuns) {
    FitRequest request = request_of(20);
    RankSampler sampler(request.observations, request.model);
    request.level = 1.5;
    EXPECT_THROW((void)check(request, sampler.facts()), Error);
    request.level = 0.9;
    for (auto& column : request.observations.coordinates) column[1] = column[0];
    EXPECT_THAT(check(request, sampler.facts()), HasSubstr("lie on another one"));
    request.evaluation.method = Method::tlr;
    request.errors = ErrorsFrom::expected;
    EXPECT_THROW((void)check(request, sampler.facts()), Refusal);
}

TEST(FitRequest, TakesOverTheStorageOfItsCheckpoint) {
    const std::string log = (std::filesystem::path(testing::TempDir()) / "tesela_jobs_fit.log").string();
    std::filesystem::remove(log);
    FitRequest request = request_of(40);
    request.search.checkpoint = log;
    request.search.max_evaluations = 3;
    request.evaluation.tile = 13;
    RankSampler sampler(request.observations, request.model);
    EXPECT_FALSE(facts_of(sampler, request).checkpoint) << "there is none yet";
    InlineEngine engine;
    {
        Stream stream(engine);
        (void)fit(stream, request, resolve(request, facts_of(sampler, request), {}));
    }
    request.evaluation = {};
    EXPECT_EQ(resolve(request, facts_of(sampler, request), {}).evaluation.likelihood.tile, 13);
    std::filesystem::remove(log);
}

TEST(RankSampler, SamplesOnceAndSaysWhatThatTook) {
    const FitRequest request = request_of(200);
    RankSampler sampler(request.observations, request.model);
    EXPECT_EQ(sampler.seconds(), 0);
    const geo::EvaluationFacts facts = sampler.facts();
    EXPECT_EQ(facts.observations, 200);
    EXPECT_EQ(facts.evaluations, geo::usual_evaluations);
    const auto ranks = facts.ranks(1e-6, geo::Speeds::usual);
    EXPECT_GT(sampler.seconds(), 0);
    EXPECT_EQ(facts.ranks(1e-6, geo::Speeds::usual), ranks);
    RankSampler of_known(request.observations, request.model, CovarianceParameters{.sigma2 = 1, .range = 0.1});
    EXPECT_EQ(of_known.facts().evaluations, 1);
}

TEST(Fit, HasErrorsProfilesAndWhatWasDecided) {
    FitRequest request = request_of(60);
    request.model.choice(Parameter::nugget).fixed = 0.1;
    request.profile = {Parameter::range};
    request.evaluation.tile = 20;
    InlineEngine engine;
    Stream stream(engine);
    std::vector<FitStage> stages;
    Index evaluations = 0;
    FitObserver observer;
    observer.begins = [&](FitStage stage) { stages.push_back(stage); };
    observer.progress = [&](const geo::FitProgress&) { ++evaluations; };
    const Fit found = fit(stream, request, resolve(request, {.observations = 60}, {}), observer);
    EXPECT_THAT(stages, ElementsAre(FitStage::search, FitStage::errors, FitStage::profiles));
    EXPECT_FALSE(found.interrupted);
    EXPECT_FALSE(found.compressed);
    const geo::FittedModel& fitted = found.fitted;
    EXPECT_TRUE(fitted.uncertainty->parameters[static_cast<std::size_t>(Parameter::range)]);
    const auto& profile = fitted.profiles[static_cast<std::size_t>(Parameter::range)];
    ASSERT_TRUE(profile);
    EXPECT_GE(fitted.result.evaluations + fitted.result.scan_evaluations, evaluations + profile->evaluations);
    EXPECT_EQ(fitted.storage->tile, 20);
    EXPECT_EQ(fitted.configuration.at("overlap"), "order");
}

TEST(Fit, ThatIsInterruptedHasNoErrors) {
    FitRequest request = request_of(60);
    InlineEngine engine;
    Stream stream(engine);
    const Fit found =
        fit(stream, request, resolve(request, {.observations = 60}, {}), {.interrupted = [] { return true; }});
    EXPECT_TRUE(found.interrupted);
    EXPECT_FALSE(found.fitted.uncertainty);
}

TEST(Fit, OfACompressedMatrixSaysWhatCameOfIt) {
    FitRequest request = request_of(80);
    request.evaluation = {.method = Method::tlr, .tile = 20};
    request.search.max_evaluations = 20;
    RankSampler sampler(request.observations, request.model);
    InlineEngine engine;
    Stream stream(engine);
    const Fit found = fit(stream, request, resolve(request, sampler.facts(), {}));
    ASSERT_TRUE(found.compressed && found.compressed->found);
    EXPECT_LT(found.compressed->found->reached, 1e-7);
    EXPECT_EQ(found.fitted.configuration.at("compression").at("tile"), 20);
    EXPECT_EQ(found.fitted.configuration.at("compression").at("bytes"), found.compressed->found->ranks.bytes);
    EXPECT_FALSE(found.fitted.uncertainty);
}

TEST(Estimate, RunsAnEvaluationWhereThatIsQuick) {
    const FitRequest request = request_of(60);
    InlineEngine engine;
    Stream stream(engine);
    const ResolvedFit resolved = resolve(request, {.observations = 60}, {});
    const FitEstimate found = estimate(stream, request, resolved);
    EXPECT_DOUBLE_EQ(found.bytes_per_node[0], 3 * resolved.evaluation.bytes_per_node[0]);
    EXPECT_GT(found.product_flops, 0);
    CompressedRates rates;
    rates.low_rank.product_flops = found.product_flops;
    EXPECT_GT(found.seconds_per_evaluation, geo::expected_seconds(resolved.evaluation, rates)) << "tasks, not products";
    EXPECT_DOUBLE_EQ(found.seconds(), found.seconds_per_evaluation * found.evaluations);
}

TEST(ShownInterval, IsThatOfTheLogarithmWhereOneSaysSomething) {
    const geo::ParameterUncertainty sure{.log_standard_error = 0.9, .natural = {-1, 5}, .logarithmic = {1, 7}};
    EXPECT_EQ(*geo::shown_interval(sure).lower, 1);
    const geo::ParameterUncertainty unsure{.log_standard_error = 1.1, .natural = {-1, 5}, .logarithmic = {1, 7}};
    EXPECT_EQ(*geo::shown_interval(unsure).lower, 0);
    EXPECT_EQ(*geo::shown_interval(unsure).upper, 5);
}

}  // namespace
}  // namespace tesela::jobs::fit_test
