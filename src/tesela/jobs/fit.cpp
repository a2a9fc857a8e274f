#include "tesela/jobs/fit.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/fields.hpp"
#include "tesela/geo/prediction_table.hpp"

#include <algorithm>
#include <utility>

namespace tesela::jobs {
namespace {

using geo::FitWarning;
using geo::Parameter;

std::optional<geo::NeedForSlopes> need_for_slopes(const FitRequest& request) {
    using By = geo::NeedForSlopes::By;
    if (request.optimizer && *request.optimizer != geo::Optimizer::bobyqa)
        return geo::NeedForSlopes{By::optimizer, std::string(name_in(geo::optimizer_names, *request.optimizer))};
    if (request.errors && *request.errors != ErrorsFrom::none)
        return geo::NeedForSlopes{By::errors, std::string(name_in(errors_from_names, *request.errors))};
    if (!request.profile.empty()) return geo::NeedForSlopes{};
    return std::nullopt;
}

double matrices_held(const ResolvedFit& resolved, const geo::Model& model) {
    if (resolved.errors == ErrorsFrom::expected) return geo::uses(model.family, Parameter::smoothness) ? 4 : 3;
    return resolved.optimizer == geo::Optimizer::bobyqa && resolved.errors == ErrorsFrom::none ? 1 : 2;
}

/// What a fit takes in evaluations of all observations. Those of a part are of work that grows with its square: tiles
/// are few there, and covariances and tasks as long as products.
double expected_evaluations(Index n, const geo::FitOptions& search) {
    const Index part = geo::points_of_the_scan(n, search);
    const double share = static_cast<double>(part) / static_cast<double>(n);
    return static_cast<double>(geo::usual_evaluations_of_a_part) * share * share +
           (part < n ? static_cast<double>(geo::usual_evaluations) : 0.0);
}

geo::InformationKind information_of(ErrorsFrom errors) {
    if (errors == ErrorsFrom::observed) return geo::InformationKind::observed;
    return errors == ErrorsFrom::expected ? geo::InformationKind::expected : geo::InformationKind::average;
}

/// One fit on its way.
struct Work {
    const FitRequest& request;
    const ResolvedFit& resolved;
    const FitObserver& observer;
    geo::Likelihood& likelihood;
    Fit& fit;

    void begin(FitStage stage) const {
        if (observer.begins) observer.begins(stage);
    }
    void warn(FitWarning::Kind kind, Parameter parameter, std::string text) const {
        fit.fitted.result.warnings.push_back({kind, parameter, std::move(text)});
    }
};

void search(const Work& work) {
    work.begin(FitStage::search);
    geo::FitOptions options = work.request.search;
    options.optimizer = work.resolved.optimizer;
    options.progress = work.observer.progress;
    options.between = work.observer.between;
    options.interrupted = work.observer.interrupted;
    work.fit.fitted.result = geo::fit(work.likelihood, options);
}

void add_profile(const Work& work, Parameter p) {
    geo::FittedModel& fitted = work.fit.fitted;
    geo::ProfileOptions options{
        .level = work.request.level, .optimizer = work.resolved.optimizer, .interrupted = work.observer.interrupted};
    if (work.observer.profiling) options.progress = [&](Index evaluations) { work.observer.profiling(p, evaluations); };
    const geo::ProfileInterval found = geo::profile_interval(work.likelihood, fitted.result, p, options);
    fitted.profiles[static_cast<std::size_t>(p)] = found;
    fitted.result.evaluations += found.evaluations;
    if (found.above_fit > geo::noticeable_difference)
        work.warn(FitWarning::Kind::other_maximum, p,
                  fmt::format("the profile of {} came to a point that is {:.2g} more likely than the fit: fit again "
                              "with more starts",
                              name(p), found.above_fit));
}

/// None if the search did not end at a maximum.
void add_uncertainty(const Work& work) {
    geo::FittedModel& fitted = work.fit.fitted;
    const ErrorsFrom errors = work.resolved.errors;
    if (errors == ErrorsFrom::none && work.request.profile.empty()) return;
    if (fitted.result.stop_reason != geo::StopReason::converged &&
        fitted.result.stop_reason != geo::StopReason::roundoff_limited)
        return;
    const auto warn = [&](std::string text) {
        work.warn(FitWarning::Kind::no_errors, Parameter::sigma2, std::move(text));
    };
    work.begin(FitStage::errors);
    try {
        fitted.uncertainty =
            geo::uncertainty(work.likelihood, fitted.result, information_of(errors), work.request.level);
        if (!fitted.uncertainty->missing.empty()) warn(fitted.uncertainty->missing);
        if (errors == ErrorsFrom::none) fitted.uncertainty->parameters = {};
        work.begin(FitStage::profiles);
        for (const Parameter p : work.request.profile) add_profile(work, p);
    } catch (const geo::Interrupted& error) {
        warn(fmt::format("no more profiles: {}", error.what()));
        work.fit.interrupted = true;
    } catch (const Error& error) {
        warn(fmt::format("no {}: {}", fitted.uncertainty ? "more profiles" : "standard errors", error.what()));
    }
}

/// What was decided, for the model's file.
void describe(const Work& work) {
    geo::FittedModel& fitted = work.fit.fitted;
    const geo::LikelihoodOptions& options = work.likelihood.options();
    const Engine& engine = work.likelihood.stream().engine();
    fitted.storage = {options.tile, options.compression};
    fitted.configuration = {
        {"overlap", geo::name(options.overlap)}, {"nodes", engine.node_count()}, {"workers", engine.worker_count()}};
    if (!options.compression) return;
    (void)geo::evaluate_well(work.likelihood, fitted.result.theta);
    work.fit.doubts = doubts_about(work.likelihood);
    work.fit.compressed = compressed_matrix(work.likelihood, Look::at_ranks);
    fitted.configuration["compression"] = to_json(*work.fit.compressed);
}

}  // namespace

geo::EvaluationRequest evaluation_of(const FitRequest& request) {
    geo::EvaluationRequest evaluation = request.evaluation;
    evaluation.slopes = need_for_slopes(request);
    return evaluation;
}

geo::EvaluationFacts facts_of(RankSampler& sampler, const FitRequest& request) {
    geo::EvaluationFacts facts = sampler.facts();
    if (!request.search.checkpoint.empty()) facts.checkpoint = geo::storage_in_checkpoint(request.search.checkpoint);
    return facts;
}

std::string check(const FitRequest& request, const geo::EvaluationFacts& facts) {
    (void)geo::choose_method(evaluation_of(request), facts);
    std::string twins = geo::check_duplicates(request.observations, request.model);
    if (request.evaluation.owners_from == geo::OwnersFrom::own_plan && !request.search.checkpoint.empty())
        throw geo::Refusal(geo::Refusal::Kind::own_plan_of_checkpoint);
    (void)geo::normal_interval(request.level);
    return twins;
}

ResolvedFit resolve(const FitRequest& request, geo::ResolvedEvaluation evaluation) {
    ResolvedFit resolved{.evaluation = std::move(evaluation),
                         .optimizer = request.optimizer.value_or(geo::Optimizer::scoring),
                         .errors = request.errors.value_or(ErrorsFrom::expected)};
    const bool by_values = resolved.optimizer == geo::Optimizer::bobyqa && resolved.errors == ErrorsFrom::none;
    if (resolved.evaluation.likelihood.compression && !by_values) {
        resolved.optimizer = geo::Optimizer::bobyqa;
        resolved.errors = ErrorsFrom::none;
        resolved.evaluation.reasons.emplace_back(geo::reason::WithoutSlopes{});
    }
    resolved.matrices_held = matrices_held(resolved, request.model);
    resolved.evaluations = expected_evaluations(request.observations.size(), request.search);
    return resolved;
}

ResolvedFit resolve_together(Engine& engine, const FitRequest& request, const geo::EvaluationFacts& facts) {
    ResolvedFit resolved = resolve(request, resolve_together(engine, evaluation_of(request), facts));
    Digest asked;
    add_fields(asked, resolved.errors);
    add_fields(asked, request.level);
    for (const Parameter parameter : request.profile) add_fields(asked, parameter);
    engine.require_alike("errors, level and profiles", asked.value());
    return resolved;
}

FitEstimate estimate(Stream& stream, const FitRequest& request, const ResolvedFit& resolved) {
    constexpr double quick = 0.5;
    const geo::ResolvedEvaluation& evaluation = resolved.evaluation;
    FitEstimate result{
        .bytes_per_node = evaluation.bytes_per_node, .flops = evaluation.flops, .evaluations = resolved.evaluations};
    for (double& bytes : result.bytes_per_node) bytes *= resolved.matrices_held;
    Engine& engine = stream.engine();
    const PointSet points(request.model.metric, request.observations.coordinates);
    const double diameter = points.diameter_bound();
    const CovarianceParameters somewhere{.sigma2 = 1, .range = diameter / 10, .smoothness = 0.5, .nugget = 0.1};
    const Covariance covariance(request.model.family, somewhere, request.model.metric, diameter);
    const CompressedRates rates = rates_of_slowest(engine, covariance, points);
    result.product_flops = rates.low_rank.product_flops;
    result.seconds_per_evaluation = geo::expected_seconds(evaluation, rates);
    if (result.seconds_per_evaluation > quick) return result;
    geo::Likelihood likelihood(stream, request.observations, request.model, evaluation.likelihood);
    (void)likelihood.evaluate(somewhere);  // makes tiles and tables
    const auto start = Clock::now();
    (void)likelihood.evaluate(somewhere);
    result.seconds_per_evaluation = engine.max(seconds_since(start));
    return result;
}

Fit fit(Stream& stream, const FitRequest& request, const ResolvedFit& resolved, const FitObserver& observer) {
    Fit result;
    result.fitted.observations = request.observations;
    result.fitted.model = request.model;
    geo::Likelihood likelihood(stream, request.observations, request.model, resolved.evaluation.likelihood);
    const Work work{request, resolved, observer, likelihood, result};
    search(work);
    if (result.fitted.result.stop_reason == geo::StopReason::interrupted)
        result.interrupted = true;
    else
        add_uncertainty(work);
    describe(work);
    return result;
}

}  // namespace tesela::jobs
