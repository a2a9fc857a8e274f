#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/timing.hpp"
#include "shared/covariance_problem.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/compressed_cut.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/geo/rank_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct TlrTileOptions {
    CovarianceProblem problem;
    int rounds = 0;  ///< of all sizes; 0: as many as short runs need
    EngineOptions engine;
};

void add_tlr_tile_options(CLI::App& command, TlrTileOptions& options) {
    add_problem_options(command, options.problem);
    command
        .add_option("--rounds", options.rounds,
                    "Runs of each size; the best counts. 0: for three seconds, 3 to 15 of them")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

struct TileCandidate {
    std::string chosen_by;
    CompressedCut cut;
    Best seconds{};
};

double factored_in(StarpuEngine& engine, const CovarianceMatrix& covariances, CovarianceProblem problem,
                   const CompressedCut& cut) {
    problem.band = cut.band;
    Stream s(engine);
    const Matrix<double> A = matrix_of(s, problem.n, cut.tile, problem.compression());
    return engine.max(seconds_of([&] {
        covariances.generate(s, A);
        cholesky(s, A);
        require_done(s.wait());
    }));
}

/// Short runs are noisy: each size runs for three seconds, at least three and at most fifteen times.
int rounds_of_sizes(const TlrTileOptions& options, const std::vector<TileCandidate>& candidates) {
    if (options.rounds > 0) return options.rounds;
    const double seconds = candidates.front().seconds.seconds();
    return seconds < 1 ? static_cast<int>(std::clamp(3 / seconds, 3.0, 15.0)) : 3;
}

/// The size that sampled ranks choose, that of equation (2) of paper 004, and eight others, a third apart.
template <class Cheapest>
std::vector<TileCandidate> tile_candidates(const geo::RankSample& ranks, const CovarianceProblem& problem, Index nodes,
                                           Cheapest cheapest) {
    const Index equation = low_rank_tile_size(problem.n, nodes, [&](Index tile) { return ranks.mean_rank(tile); });
    std::vector<TileCandidate> candidates{{"sampled ranks", cheapest(0)}, {"equation (2)", cheapest(equation)}};
    // Around the size that 6·√n is, from a third of it to four times as much.
    for (int k = -3; k < 5; ++k) {
        const auto tile = std::clamp<Index>(
            std::llround(6 * std::sqrt(static_cast<double>(problem.n)) * std::pow(4.0 / 3.0, k)), 1, problem.n);
        candidates.push_back({"search", cheapest(tile)});
    }
    return candidates;
}

/// Seconds of generation, compression and factorisation with each tile size, the best of some rounds through all.
Report run_tlr_tile(const TlrTileOptions& options) {
    const auto engine = start_engine(options.engine);
    const CovarianceProblem& problem = options.problem;
    require_alike(*engine, problem, "auto");
    const CovarianceMatrix covariances(problem);
    std::optional<geo::RankSample> ranks;
    const double sampling = seconds_of([&] {
        ranks.emplace(covariances.covariance(), covariances.points(), problem.accuracy * problem.theta.sigma2,
                      geo::Sampling{.work = geo::sampling_work(problem.n, 1), .threads = options.engine.workers});
    });
    const CompressedProblem compressed = ranks->problem({engine->total_workers(), engine->node_count()});
    auto candidates = tile_candidates(*ranks, problem, engine->node_count(), [&](Index tile) {
        return engine->broadcast(cheapest_compressed_cut(compressed, {.tile = tile, .band = 0}));
    });
    for (int round = 0; round < rounds_of_sizes(options, candidates); ++round)
        for (TileCandidate& candidate : candidates)
            candidate.seconds.add(factored_in(*engine, covariances, problem, candidate.cut));

    const CompressedRates& rates = compressed.rates;
    Row slowness = Row::array();
    for (const auto& [its_rank, times] : rates.low_rank.recompression)
        slowness.push_back({{"rank", its_rank}, {"slowness", times}});
    Report report;
    double best = std::numeric_limits<double>::infinity();
    for (const TileCandidate& candidate : candidates) {
        if (candidate.chosen_by == "search") best = std::min(best, candidate.seconds.seconds());
        report.rows.push_back({{"chosen_by", candidate.chosen_by},
                               {"tile", candidate.cut.tile},
                               {"band", candidate.cut.band},
                               {"rank", ranks->mean_rank(candidate.cut.tile)},
                               {"cost", compressed_cholesky_cost(compressed, candidate.cut) / 1e9},
                               {"seconds", candidate.seconds.seconds()}});
    }
    const double chosen = candidates[0].seconds.seconds();
    report.figures = {{"n", problem.n},
                      {"accuracy", problem.accuracy},
                      {"sample_seconds", sampling},
                      {"product_gflops", rates.low_rank.product_flops / 1e9},
                      {"recompression", slowness},
                      {"covariance_nanoseconds", rates.covariance_seconds * 1e9},
                      {"tile", candidates[0].cut.tile},
                      {"band", candidates[0].cut.band},
                      {"seconds", chosen},
                      {"best_of_eight", best},
                      {"equation_2_over_best", candidates[1].seconds.seconds() / best}};
    report.checks = {at_most("time with the chosen tile over the best of eight sizes", chosen / best, 1.15)};
    return report;
}

}  // namespace

Experiment tlr_tile() {
    return experiment("tlr-tile",
                      "Figure 5 of paper 004: the tile size that sampled ranks choose beside eight others; exit code 1 "
                      "if it takes more than 1.15 times the best of them",
                      add_tlr_tile_options, run_tlr_tile);
}

}  // namespace tesela::bench
