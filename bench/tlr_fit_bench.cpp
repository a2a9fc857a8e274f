#include "tlr_fit_bench.hpp"

#include "checks.hpp"

#include "tesela/apps/geo/fit.hpp"
#include "tesela/apps/geo/model_file.hpp"
#include "tesela/apps/geo/rank_sample.hpp"
#include "tesela/apps/geo/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;
using geo::Parameter;

geo::Observations sampled_field(StarpuEngine& engine, const TlrFitOptions& options) {
    Stream s(engine);
    geo::Observations field{.coordinates = geo::random_points(options.n, options.seed), .values = {}};
    field.values =
        geo::sample(s, {.family = options.family, .theta = options.truth}, field.coordinates, {.seed = options.seed});
    return field;
}

/// As tesela fit --method tlr has it before parameters are known.
geo::LikelihoodOptions compressed_options(StarpuEngine& engine, const geo::Observations& field, const geo::Model& model,
                                          double accuracy) {
    const geo::RankSample ranks = geo::sample_ranks(field, model, accuracy, {}, {.threads = 0});
    const CompressedCut cut = engine.broadcast(ranks.cheapest_cut({engine.total_workers(), engine.node_count()}));
    return {.tile = cut.tile, .compression = geo::TileAccuracy{.accuracy = accuracy, .band = cut.band}};
}

Json row_of(const std::string& method, const geo::Likelihood& likelihood, const geo::FitResult& fit) {
    Json row{{"method", method},
             {"tile", likelihood.options().tile},
             {"loglik", fit.log_likelihood},
             {"theta", geo::theta_json(likelihood.model().family, fit.theta)},
             {"evaluations", fit.evaluations},
             {"stop_reason", geo::name(fit.stop_reason)},
             {"seconds", fit.seconds}};
    if (likelihood.options().compression) row["band"] = likelihood.options().compression->band;
    return row;
}

/// The largest relative difference of a parameter that the family has.
double difference(CovarianceFamily family, const CovarianceParameters& a, const CovarianceParameters& b) {
    double largest = 0;
    for (const Parameter p : geo::all_parameters)
        if (geo::uses(family, p)) largest = std::max(largest, std::abs(geo::value_of(a, p) / geo::value_of(b, p) - 1));
    return largest;
}

}  // namespace

Json tlr_fit_benchmark(StarpuEngine& engine, const TlrFitOptions& options) {
    const geo::Observations field = sampled_field(engine, options);
    const geo::Model model{.family = options.family, .trend = geo::Trend::none};
    Stream s(engine, {.sums = Sums::in_order});
    geo::Likelihood compressed(s, field, model, compressed_options(engine, field, model, options.accuracy));
    const geo::FitResult by_tiles = geo::fit(compressed, {.optimizer = geo::Optimizer::bobyqa});
    geo::Likelihood exact(s, field, model);
    const geo::FitResult whole = geo::fit(exact);
    const geo::LikelihoodValue there = geo::evaluate_well(exact, by_tiles.theta);
    Json result{{"n", options.n}, {"accuracy", options.accuracy}, {"seed", options.seed}};
    result["fits"] = Json::array({row_of("exact", exact, whole), row_of("tlr", compressed, by_tiles)});
    result["exact_loglik_at_tlr_optimum"] = there.log_likelihood;
    result["checks"] = Json::array({at_most("exact log-likelihood at tlr's optimum off that at the exact one",
                                            std::abs(whole.log_likelihood - there.log_likelihood), 1e-4),
                                    at_most("largest relative difference of a parameter",
                                            difference(options.family, by_tiles.theta, whole.theta), 0.01)});
    return result;
}

}  // namespace tesela::bench
