#include "tlr_tile_bench.hpp"

#include "checks.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/apps/geo/rank_sample.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Candidate {
    std::string chosen_by;
    CompressedCut cut;
    double cost = 0;
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
int rounds_of(const TlrTileOptions& options, const std::vector<Candidate>& candidates) {
    if (options.rounds > 0) return options.rounds;
    const double seconds = candidates.front().seconds.seconds();
    return seconds < 1 ? static_cast<int>(std::clamp(3 / seconds, 3.0, 15.0)) : 3;
}

}  // namespace

Json tlr_tile_benchmark(StarpuEngine& engine, const TlrTileOptions& options) {
    const CovarianceProblem& problem = options.problem;
    require_alike(engine, problem, options.run.tile);
    const CovarianceMatrix covariances(problem);
    std::optional<geo::RankSample> ranks;
    const double sampling = seconds_of([&] {
        ranks.emplace(covariances.covariance(), covariances.points(), problem.accuracy * problem.theta.sigma2,
                      geo::Sampling{.work = geo::sampling_work(problem.n, 1), .threads = options.run.workers});
    });
    const CompressedProblem compressed = ranks->problem({engine.total_workers(), engine.node_count()});
    const auto cheapest = [&](Index tile) {
        return engine.broadcast(cheapest_compressed_cut(compressed, {.tile = tile, .band = 0}));
    };
    const CompressedCut model = cheapest(0);
    const Index equation =
        low_rank_tile_size(problem.n, engine.node_count(), [&](Index tile) { return ranks->mean_rank(tile); });

    std::vector<Candidate> candidates{{"sampled ranks", model}};
    candidates.push_back({"equation (2)", cheapest(equation)});
    // Around the size that 6·√n is, from a third of it to four times as much.
    for (int k = -3; k < 5; ++k) {
        const auto tile = std::clamp<Index>(
            std::llround(6 * std::sqrt(static_cast<double>(problem.n)) * std::pow(4.0 / 3.0, k)), 1, problem.n);
        candidates.push_back({"search", cheapest(tile)});
    }
    for (Candidate& candidate : candidates) candidate.cost = compressed_cholesky_cost(compressed, candidate.cut);
    for (int round = 0; round < rounds_of(options, candidates); ++round)
        for (Candidate& candidate : candidates)
            candidate.seconds.add(factored_in(engine, covariances, problem, candidate.cut));

    const CompressedRates& rates = compressed.rates;
    Json slowness = Json::array();
    for (const auto& [its_rank, times] : rates.low_rank.recompression)
        slowness.push_back({{"rank", its_rank}, {"slowness", times}});
    Json result{{"n", problem.n},
                {"accuracy", problem.accuracy},
                {"sample_seconds", sampling},
                {"product_gflops", rates.low_rank.product_flops / 1e9},
                {"recompression", slowness},
                {"covariance_nanoseconds", rates.covariance_seconds * 1e9}};
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : candidates) {
        if (candidate.chosen_by == "search") best = std::min(best, candidate.seconds.seconds());
        result["sizes"].push_back({{"chosen_by", candidate.chosen_by},
                                   {"tile", candidate.cut.tile},
                                   {"band", candidate.cut.band},
                                   {"rank", ranks->mean_rank(candidate.cut.tile)},
                                   {"cost", candidate.cost / 1e9},
                                   {"seconds", candidate.seconds.seconds()}});
    }
    result["tile"] = model.tile;
    result["band"] = model.band;
    result["seconds"] = candidates[0].seconds.seconds();
    result["best_of_eight"] = best;
    result["equation_2_over_best"] = candidates[1].seconds.seconds() / best;
    result["checks"] = Json::array({at_most("time with the chosen tile over the best of eight sizes",
                                            candidates[0].seconds.seconds() / best, 1.15)});
    return result;
}

}  // namespace tesela::bench
