#include "tesela/jobs/predict.hpp"

#include "tesela/base/digest.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tesela::jobs {
namespace {

std::optional<OtherCoefficient> other_coefficient(const geo::TrendEstimate& model, const geo::TrendEstimate& used) {
    constexpr double same = 1e-3;  // of a standard error
    const std::vector<double>& given = model.coefficients;
    for (std::size_t k = 0; k < std::min(given.size(), used.coefficients.size()); ++k)
        if (std::abs(given[k] - used.coefficients[k]) > same * used.standard_errors[k])
            return OtherCoefficient{used.names[k], used.coefficients[k], given[k]};
    return std::nullopt;
}

Validation cross_validate(Stream& stream, const ValidateRequest& request, geo::ResolvedEvaluation resolved) {
    const geo::FittedModel& fitted = request.fitted;
    const GridSize tiles = geo::fold_tiling(request.folds, resolved.likelihood.tile).grid();
    resolved.likelihood.distribution =
        make_distribution(request.evaluation.owners, tiles, stream.engine().node_count(), Operation::cholesky);
    Validation result;
    const auto evaluated = [&](const geo::Likelihood& it) { result.doubts = doubts_about(it); };
    result.predictions =
        geo::cross_validate(stream, {fitted.observations, fitted.model, fitted.result.theta}, request.folds,
                            {.likelihood = std::move(resolved.likelihood), .evaluated = evaluated});
    return result;
}

Validation predict_held_out(Stream& stream, const ValidateRequest& request, const geo::ResolvedEvaluation& resolved) {
    Digest digest;
    for (const auto& column : request.held_out->coordinates) digest.add(column);
    digest.add(request.held_out->values);
    stream.engine().require_alike("the held-out observations", digest.value());
    const geo::FittedModel& fitted = request.fitted;
    geo::Likelihood likelihood(stream, fitted.observations, fitted.model, resolved.likelihood);
    Validation result{.predictions = geo::predict(likelihood, fitted.result.theta, request.held_out->sites())};
    result.doubts = doubts_about(likelihood);
    return result;
}

}  // namespace

std::optional<PredictionTime> expected_time(Engine& engine, const PredictRequest& request,
                                            const geo::ResolvedEvaluation& resolved) {
    constexpr double noticeable = 2;   // seconds
    constexpr double slow_core = 1e9;  // operations per second: what is done so fast is not worth a measurement
    const auto n = static_cast<double>(resolved.observations);
    const auto places = static_cast<double>(request.places.size());
    const auto workers = static_cast<double>(resolved.workers);
    if (n * n * (n / 3 + places) < noticeable * slow_core * workers) return std::nullopt;
    const geo::FittedModel& fitted = request.fitted;
    const PointSet points(fitted.model.metric, fitted.observations.coordinates);
    const Covariance covariance(fitted.model.family, fitted.result.theta, fitted.model.metric,
                                points.distance_bound(points));
    const CompressedRates rates = rates_of_slowest(engine, covariance, points);
    // For each place n covariances and a triangular solve of n² operations, of those elements that are stored.
    const double of_a_place =
        n * rates.covariance_seconds + resolved.stored_part * n * n / rates.low_rank.product_flops;
    const PredictionTime time{.factor = geo::expected_seconds(resolved, rates),
                              .places = places * of_a_place / workers};
    if (time.factor + time.places < noticeable) return std::nullopt;
    return time;
}

Predicted predict(Stream& stream, const PredictRequest& request, const geo::ResolvedEvaluation& resolved) {
    const geo::FittedModel& fitted = request.fitted;
    geo::Likelihood likelihood(stream, fitted.observations, fitted.model, resolved.likelihood);
    Predicted result{.predictions = geo::predict(likelihood, fitted.result.theta, request.places, request.options)};
    result.options = likelihood.options();
    result.doubts = doubts_about(likelihood);
    result.other_coefficient = other_coefficient(fitted.result.trend, result.predictions.trend);
    result.compressed = compressed_matrix(likelihood, request.look);
    return result;
}

Validation validate(Stream& stream, const ValidateRequest& request) {
    const geo::EvaluationFacts facts{.observations = request.fitted.observations.size()};
    geo::EvaluationRequest asked = request.evaluation;
    if (!request.held_out) asked.owners = geo::EvaluationRequest{}.owners;  // those asked for are of the folds' tiles
    geo::ResolvedEvaluation resolved = resolve_together(stream.engine(), asked, facts);
    return request.held_out ? predict_held_out(stream, request, resolved)
                            : cross_validate(stream, request, std::move(resolved));
}

std::vector<std::vector<double>> sample(Stream& stream, const SampleRequest& request) {
    const geo::EvaluationFacts facts{.observations = static_cast<Index>(request.points.front().size())};
    const geo::LikelihoodOptions cut = resolve_together(stream.engine(), request.evaluation, facts).likelihood;
    auto draws = geo::sample_fields(
        stream, request.field, request.points,
        {.seed = request.seed, .draws = request.draws, .tile = cut.tile, .distribution = cut.distribution});
    if (request.mean.empty()) return draws;
    for (auto& draw : draws)
        std::transform(draw.begin(), draw.end(), request.mean.begin(), draw.begin(), std::plus<>());
    return draws;
}

}  // namespace tesela::jobs
