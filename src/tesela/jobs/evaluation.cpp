#include "tesela/jobs/evaluation.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/digest.hpp"
#include "tesela/base/in_parallel.hpp"
#include "tesela/geo/conditioning.hpp"
#include "tesela/kernels/dense.hpp"

#include <utility>

namespace tesela::jobs {
namespace {

/// How a matrix is stored, as far as all nodes must have decided it alike before they agree on its cut.
std::uint64_t digest_of(const geo::ResolvedEvaluation& resolved) {
    const auto& compression = resolved.likelihood.compression;
    if (!compression) return 0;
    Digest digest;
    digest.add(std::vector{1.0, compression->accuracy, compression->refine,
                           compression->precision == FactorPrecision::as_needed ? 1.0 : 0.0});
    return digest.value();
}

/// As the file of a compressed model has it.
std::optional<double> stored_part(const geo::FittedModel& fitted) {
    const auto found = fitted.configuration.value("compression", nlohmann::ordered_json());
    if (!found.is_object() || !found.contains("bytes") || !found.contains("dense_bytes")) return std::nullopt;
    return found.at("bytes").get<double>() / found.at("dense_bytes").get<double>();
}

}  // namespace

std::shared_ptr<const geo::RankSample> RankSampler::sample(double accuracy, geo::Speeds speeds) {
    if (ranks_) return ranks_;
    // As engines do: blocks are small, and threads of BLAS would wait for each other.
    set_blas_threads(1);
    reserve_blas_memory(static_cast<int>(threads_or_cores(threads_)));
    const auto start = Clock::now();
    ranks_ = std::make_shared<geo::RankSample>(
        geo::sample_ranks(observations_, model_, accuracy, theta_, {.threads = threads_, .speeds = speeds}));
    seconds_ = seconds_since(start);
    return ranks_;
}

geo::EvaluationFacts RankSampler::facts() {
    return {.observations = observations_.size(),
            .evaluations = geo::expected_evaluations(theta_),
            .ranks = [this](double accuracy, geo::Speeds speeds) { return sample(accuracy, speeds); }};
}

geo::EvaluationFacts facts_of(RankSampler& sampler, const geo::FittedModel& fitted) {
    geo::EvaluationFacts facts = sampler.facts();
    facts.model = fitted.storage;
    facts.stored_part = stored_part(fitted);
    return facts;
}

geo::ResolvedEvaluation resolve_together(Engine& engine, const geo::EvaluationRequest& request,
                                         geo::EvaluationFacts facts) {
    const Machine machine = machine_of(engine);
    geo::ResolvedEvaluation mine = geo::resolve(request, facts, machine);
    engine.require_alike("how the covariance matrix is stored", digest_of(mine));
    if (!mine.likelihood.compression) return mine;
    const CompressedCut cut{.tile = mine.likelihood.tile, .band = mine.likelihood.compression->band};
    facts.cut = engine.broadcast(cut);
    return *facts.cut == cut ? mine : geo::resolve(request, facts, machine);
}

CompressedRates rates_of_slowest(Engine& engine, const Covariance& covariance, const PointSet& points) {
    CompressedRates rates = geo::measure_rates(covariance, points);
    rates.low_rank.product_flops = engine.min(rates.low_rank.product_flops);
    rates.covariance_seconds = engine.max(rates.covariance_seconds);
    return rates;
}

Doubts doubts_about(const geo::Likelihood& likelihood) {
    const geo::Conditioning conditioning = geo::estimate_condition(likelihood);
    return {.conditioning = geo::explain_conditioning(conditioning, likelihood),
            .compression = geo::explain_compression(conditioning, likelihood)};
}

std::optional<CompressedMatrix> compressed_matrix(geo::Likelihood& likelihood, Look look) {
    const auto& compression = likelihood.options().compression;
    if (!compression) return std::nullopt;
    CompressedMatrix matrix{
        .tile = likelihood.options().tile, .band = compression->band, .accuracy = compression->accuracy};
    if (look == Look::at_ranks) matrix.found = geo::report_compression(likelihood);
    return matrix;
}

nlohmann::ordered_json to_json(const CompressedMatrix& matrix) {
    if (!matrix.found) return {{"accuracy", matrix.accuracy}, {"tile", matrix.tile}, {"band", matrix.band}};
    const geo::CompressionReport& found = *matrix.found;
    nlohmann::ordered_json json{{"accuracy", found.asked},       {"reached", found.reached},
                                {"tile", matrix.tile},           {"band", matrix.band},
                                {"bytes", found.ranks.bytes},    {"dense_bytes", found.ranks.dense_bytes},
                                {"rank_mean", found.ranks.mean}, {"rank_max", found.ranks.largest},
                                {"tiles", found.ranks.tiles},    {"compressed_tiles", found.ranks.compressed}};
    if (found.refined)
        json["refinement"] = {{"iterations", found.refined->iterations},
                              {"residual", found.refined->residual},
                              {"converged", found.refined->converged}};
    return json;
}

Loglik loglik(Stream& stream, const LoglikRequest& request, const geo::ResolvedEvaluation& resolved) {
    geo::Likelihood likelihood(stream, request.observations, request.model, resolved.likelihood);
    const auto start = Clock::now();
    Loglik result{.value = geo::evaluate_well(likelihood, request.theta)};
    result.seconds = seconds_since(start);
    result.options = likelihood.options();
    if (request.look == Look::at_ranks) result.doubts = doubts_about(likelihood);
    result.compressed = compressed_matrix(likelihood, request.look);
    return result;
}

}  // namespace tesela::jobs
