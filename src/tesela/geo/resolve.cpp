#include "tesela/geo/resolve.hpp"

#include "tesela/algs/tile_size.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace tesela::geo {
namespace {

constexpr Names<Refusal::Kind, 9> refusal_texts{{
    {Refusal::Kind::accuracy_of_exact, "an accuracy is of compressed matrices"},
    {Refusal::Kind::band_of_exact, "a band is of compressed matrices"},
    {Refusal::Kind::refinement_of_exact, "refinement is of compressed matrices"},
    {Refusal::Kind::precision_of_exact, "single precision is of compressed matrices"},
    {Refusal::Kind::tuning_of_exact, "tuning is of compressed matrices"},
    {Refusal::Kind::nothing_to_tune, "tuning chooses tile and band, and both are given"},
    {Refusal::Kind::own_plan_of_compressed, "plans for the nodes at hand are for exact matrices"},
    {Refusal::Kind::slopes_of_compressed, "compressed matrices have no slopes yet"},
    {Refusal::Kind::own_plan_of_checkpoint,
     "a fit goes on from a checkpoint with the owners that it had, and a plan for the nodes at hand may come to "
     "others"},
}};

bool is_compressed(const EvaluationRequest& request) { return request.method == Method::tlr; }

double accuracy_of(const EvaluationRequest& request) { return request.accuracy.value_or(TileAccuracy{}.accuracy); }

/// Where the request leaves method, tile or band open, those that earlier work had.
void take_cut(const MatrixStorage& storage, EvaluationRequest& request) {
    const bool compressed = storage.compression.has_value();
    if (request.method == Method::automatic) request.method = compressed ? Method::tlr : Method::exact;
    if (is_compressed(request) != compressed) return;
    if (request.speeds == Speeds::measured) return;  // which chooses tile and band anew
    if (request.owners_from == OwnersFrom::family && !request.tile) request.tile = storage.tile;
    if (compressed && !request.band) request.band = storage.compression->band;
}

/// The same with accuracy, refinement and precision.
void take_storage(const MatrixStorage& storage, EvaluationRequest& request) {
    take_cut(storage, request);
    if (!storage.compression || !is_compressed(request)) return;
    const TileAccuracy& its = *storage.compression;
    if (!request.accuracy) request.accuracy = its.accuracy;
    if (!request.refine && its.refine > 0) request.refine = its.refine;
    if (its.precision == FactorPrecision::as_needed) request.precision = its.precision;
}

/// As the model was fitted, unless the request says otherwise: with the same matrix, compressed or not.
void take_model(const MatrixStorage& storage, MethodChoice& choice) {
    EvaluationRequest& request = choice.request;
    if (request.method == Method::automatic) return;
    const bool asked = request.method.has_value();
    if (!asked) request.method = storage.compression ? Method::tlr : Method::exact;
    take_storage(storage, request);
    if (!asked && is_compressed(request)) choice.reasons.emplace_back(reason::AsFitted{*request.accuracy});
}

void refuse_what_is_of_compressed(const EvaluationRequest& request) {
    using Kind = Refusal::Kind;
    for (const auto& [given, kind] : {std::pair(request.accuracy.has_value(), Kind::accuracy_of_exact),
                                      std::pair(request.band.has_value(), Kind::band_of_exact),
                                      std::pair(request.refine.has_value(), Kind::refinement_of_exact),
                                      std::pair(request.precision != FactorPrecision::full, Kind::precision_of_exact),
                                      std::pair(request.speeds != Speeds::usual, Kind::tuning_of_exact)})
        if (given) throw Refusal(kind);
}

/// Whether a compressed matrix pays for so many evaluations. All nodes must come to the same, and so should all runs:
/// measured speeds do not count.
reason::ByRanks judged_by(const RankSample& ranks, const EvaluationFacts& facts) {
    constexpr double clearly_less = 0.8;
    const double sampling = ranks.work_over_dense() / facts.evaluations;
    const double cost = ranks.usual_cost_over_dense() + sampling;
    return {.method = cost < clearly_less ? Method::tlr : Method::exact,
            .sampled = ranks.sampled(),
            .observations = facts.observations,
            .cost = cost,
            .sampling = sampling,
            .below = clearly_less};
}

/// By the ranks of some tiles, which a single evaluation that is told tile and band need not sample.
void choose_by_ranks(MethodChoice& choice, const EvaluationFacts& facts) {
    EvaluationRequest& request = choice.request;
    const bool own_plan = request.owners_from == OwnersFrom::own_plan;
    if (is_compressed(request) && own_plan) throw Refusal(Refusal::Kind::own_plan_of_compressed);
    const bool told_all = request.band && request.tile;
    if (request.speeds == Speeds::measured && told_all) throw Refusal(Refusal::Kind::nothing_to_tune);
    if (is_compressed(request) && facts.evaluations <= 1 && told_all) return;
    auto ranks = facts.ranks(accuracy_of(request), request.speeds);
    if (request.method == Method::automatic) {
        const reason::ByRanks why = judged_by(*ranks, facts);
        request.method = why.method;
        choice.reasons.emplace_back(why);
    }
    if (!is_compressed(request)) return;
    if (own_plan) throw Refusal(Refusal::Kind::own_plan_of_compressed);
    choice.ranks = std::move(ranks);
}

/// With ranks, the cheapest for these workers of what is not given.
void compress(ResolvedEvaluation& result, const MethodChoice& choice, const EvaluationFacts& facts,
              const Machine& machine) {
    const EvaluationRequest& request = choice.request;
    CompressedCut cut{.tile = result.likelihood.tile, .band = request.band.value_or(0)};
    if (facts.cut)
        cut = *facts.cut;
    else if (choice.ranks)
        cut = choice.ranks->cheapest_cut({machine.total_workers(), machine.nodes()}, cut);
    if (request.speeds == Speeds::measured) result.reasons.emplace_back(reason::Tuned{cut});
    result.likelihood.tile = cut.tile;
    result.likelihood.compression = TileAccuracy{.accuracy = accuracy_of(request),
                                                 .band = cut.band,
                                                 .refine = request.refine.value_or(0),
                                                 .precision = request.precision};
}

void set_owners(LikelihoodOptions& options, const EvaluationRequest& request, const EvaluationFacts& facts,
                const Machine& machine) {
    if (facts.plan) {
        options.distribution = facts.plan->owners.second;
        options.generation = facts.plan->owners.first;
    } else {
        options.distribution =
            make_distribution(request.owners, Tiling::square(facts.observations, options.tile).grid(), machine.nodes(),
                              Operation::cholesky);
    }
}

void estimate(ResolvedEvaluation& result, const EvaluationFacts& facts, const Machine& machine) {
    const LikelihoodOptions& options = result.likelihood;
    if (options.compression && result.ranks) {
        const CompressedCut cut{.tile = options.tile, .band = options.compression->band};
        result.stored_part = result.ranks->bytes_over_dense(cut);
        result.work_over_dense = result.ranks->cost_over_dense(cut, {machine.total_workers(), machine.nodes()});
    } else if (options.compression) {
        result.stored_part = result.work_over_dense = facts.stored_part.value_or(1);
    }
    EvaluationCost dense = evaluation_cost(facts.observations, options.tile, *options.distribution);
    for (double& bytes : dense.bytes_per_node) bytes *= result.stored_part;
    result.bytes_per_node = std::move(dense.bytes_per_node);
    result.flops = dense.flops * result.work_over_dense;
}

}  // namespace

Refusal::Refusal(Kind kind, std::optional<NeedForSlopes> need)
    : Error("{}", name_in(refusal_texts, kind)),
      kind_(kind),
      need_(std::move(need)) {}

MethodChoice choose_method(const EvaluationRequest& request, const EvaluationFacts& facts) {
    constexpr Index worth_a_look = 4000;  // an exact evaluation takes less than a second below
    MethodChoice choice{.request = request};
    EvaluationRequest& chosen = choice.request;
    if (facts.model) take_model(*facts.model, choice);
    if (!chosen.method) chosen.method = Method::exact;
    if (facts.checkpoint) take_cut(*facts.checkpoint, chosen);
    if (chosen.slopes && is_compressed(chosen)) throw Refusal(Refusal::Kind::slopes_of_compressed, chosen.slopes);
    if (chosen.slopes && chosen.method == Method::automatic) {
        chosen.method = Method::exact;
        choice.reasons.emplace_back(reason::ForSlopes{*chosen.slopes});
    } else if (chosen.method == Method::exact) {
        refuse_what_is_of_compressed(chosen);
    } else if (chosen.method == Method::automatic && facts.observations < worth_a_look) {
        chosen.method = Method::exact;
        choice.reasons.emplace_back(reason::FewObservations{.fewer_than = worth_a_look, .speeds = chosen.speeds});
    } else {
        choose_by_ranks(choice, facts);
    }
    return choice;
}

ResolvedEvaluation resolve(const EvaluationRequest& request, const EvaluationFacts& facts, const Machine& machine) {
    MethodChoice choice = choose_method(request, facts);
    ResolvedEvaluation result{.ranks = choice.ranks,
                              .reasons = std::move(choice.reasons),
                              .observations = facts.observations,
                              .workers = machine.total_workers()};
    LikelihoodOptions& options = result.likelihood;
    options.overlap = machine.critical_workers > 0 ? Overlap::oversubscribe : Overlap::order;
    const Index given = facts.plan ? facts.plan->tile : choice.request.tile.value_or(0);
    options.tile =
        given > 0 || choice.is_compressed() ? given : automatic_tile_size(facts.observations, machine.total_workers());
    if (choice.is_compressed()) compress(result, choice, facts, machine);
    set_owners(options, choice.request, facts, machine);
    estimate(result, facts, machine);
    return result;
}

double expected_seconds(const ResolvedEvaluation& resolved, const CompressedRates& rates) {
    // What a Cholesky factorisation reaches of the speed of products when its tiles are many.
    constexpr double efficiency = 0.9;
    return resolved.work_over_dense * dense_cholesky_cost(resolved.observations, rates) /
           (efficiency * rates.low_rank.product_flops * static_cast<double>(resolved.workers));
}

}  // namespace tesela::geo
