#include "harness/engine_options.hpp"
#include "soak/experiments.hpp"

#include "tesela/geo/fit.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/rank_sample.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/geo/tile_accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace tesela::bench {
namespace {

constexpr CovarianceFamily fitted_family = CovarianceFamily::exponential;

struct CompressedFitOptions {
    Index n = 4000;
    std::uint64_t seed = 3;
    double accuracy = geo::TileAccuracy{}.accuracy;
    EngineOptions engine;
};

void add_compressed_fit_options(CLI::App& command, CompressedFitOptions& options) {
    command.add_option("--n", options.n, "Observations")
        ->check(CLI::Range(Index{10}, Index{1'000'000}))
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Of the points and of the field")->capture_default_str();
    command.add_option("--accuracy", options.accuracy, "Of a tile, relative to sigma2")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

geo::Observations sampled_field(StarpuEngine& engine, const CompressedFitOptions& options) {
    Stream s(engine);
    geo::Observations field{.coordinates = geo::random_points(options.n, options.seed), .values = {}};
    const CovarianceParameters truth{.sigma2 = 1, .range = 0.1, .smoothness = 1, .nugget = 0.05};
    field.values = geo::sample(s, {.family = fitted_family, .theta = truth}, field.coordinates, {.seed = options.seed});
    return field;
}

/// As tesela fit --method tlr has it before parameters are known.
geo::LikelihoodOptions compressed_options(StarpuEngine& engine, const geo::Observations& field, const geo::Model& model,
                                          double accuracy) {
    const geo::RankSample ranks = geo::sample_ranks(field, model, accuracy, {}, {.threads = 0});
    const CompressedCut cut = engine.broadcast(ranks.cheapest_cut({engine.total_workers(), engine.node_count()}));
    return {.tile = cut.tile, .compression = geo::TileAccuracy{.accuracy = accuracy, .band = cut.band}};
}

Row fit_row(const std::string& method, const geo::Likelihood& likelihood, const geo::FitResult& fit) {
    const auto& compression = likelihood.options().compression;
    Row row{{"method", method},
            {"tile", likelihood.options().tile},
            {"band", compression ? Row(compression->band) : Row()},
            {"loglik", fit.log_likelihood}};
    row.update(geo::theta_json(fitted_family, fit.theta));
    row["evaluations"] = fit.evaluations;
    row["stop_reason"] = geo::name(fit.stop_reason);
    row["seconds"] = fit.seconds;
    return row;
}

/// The largest relative difference of a parameter that the family has.
double largest_difference(const CovarianceParameters& a, const CovarianceParameters& b) {
    double largest = 0;
    for (const geo::Parameter p : geo::all_parameters)
        if (geo::uses(fitted_family, p))
            largest = std::max(largest, std::abs(geo::value_of(a, p) / geo::value_of(b, p) - 1));
    return largest;
}

/// Fits all parameters of the family to a sampled field twice, with the exact matrix and with the compressed one:
/// estimates, seconds, and by how much the exact log-likelihood at the second optimum is below that at the first.
Report fit_twice(const CompressedFitOptions& options) {
    const auto engine = start_engine(options.engine);
    const geo::Observations field = sampled_field(*engine, options);
    const geo::Model model{.family = fitted_family, .trend = geo::Trend::none};
    Stream s(*engine, {.sums = Sums::in_order});
    geo::Likelihood compressed(s, field, model, compressed_options(*engine, field, model, options.accuracy));
    const geo::FitResult by_tiles = geo::fit(compressed, {.optimizer = geo::Optimizer::bobyqa});
    geo::Likelihood exact(s, field, model);
    const geo::FitResult whole = geo::fit(exact);
    const geo::LikelihoodValue there = geo::evaluate_well(exact, by_tiles.theta);
    return {.figures = {{"n", options.n},
                        {"accuracy", options.accuracy},
                        {"seed", options.seed},
                        {"exact_loglik_at_tlr_optimum", there.log_likelihood}},
            .rows = {fit_row("exact", exact, whole), fit_row("tlr", compressed, by_tiles)},
            .checks = {at_most("exact log-likelihood at tlr's optimum off that at the exact one",
                               std::abs(whole.log_likelihood - there.log_likelihood), 1e-4),
                       at_most("largest relative difference of a parameter",
                               largest_difference(by_tiles.theta, whole.theta), 0.01)}};
}

}  // namespace

Experiment compressed_fit() {
    return experiment(
        "fit",
        "Fits to a sampled field with the exact matrix and with the compressed one; exit code 1 if the exact "
        "log-likelihood at the second optimum is more than 1e-4 below the first, or a parameter differs by more than "
        "1 %",
        add_compressed_fit_options, fit_twice);
}

}  // namespace tesela::bench
