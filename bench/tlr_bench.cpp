#include "tlr_bench.hpp"

#include "checks.hpp"
#include "covariance_problem.hpp"
#include "resident_memory.hpp"
#include "sent_by_all.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/compressed_cut.hpp"
#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/apps/geo/rank_sample.hpp"
#include "tesela/apps/geo/tile_accuracy.hpp"
#include "tesela/base/random.hpp"
#include "tesela/cli/factor_options.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The largest memory of this process while it lives, above what it had at the start.
class MemoryWatch {
public:
    MemoryWatch() : before_(resident_bytes()), thread_([this](const std::stop_token& stop) { watch(stop); }) {}
    [[nodiscard]] double growth() const { return std::max(0.0, std::max(peak_.load(), resident_bytes()) - before_); }

private:
    void watch(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            peak_ = std::max(peak_.load(), resident_bytes());
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    double before_;
    std::atomic<double> peak_{0};
    std::jthread thread_;
};

/// Operations a second of the dense factorisation, the best of three, and elements a second of its generation.
struct DenseRate {
    double flops = 0;
    double elements = 0;
};
DenseRate dense_rate(StarpuEngine& engine, const TlrOptions& options) {
    CovarianceProblem smaller = options.problem;
    smaller.n = std::min(smaller.n, options.dense_n);
    const Index n = smaller.n;
    const CovarianceMatrix covariances(smaller);
    Stream s(engine);
    const Matrix<double> A = matrix_of(s, n, automatic_tile_size(n, engine.total_workers()), {});
    Best factored, generated;
    for (int k = 0; k < 3; ++k) {
        generated.add(engine.max(seconds_of([&] {
            covariances.generate(s, A);
            require_done(s.wait());
        })));
        factored.add(engine.max(seconds_of([&] {
            cholesky(s, A);
            require_done(s.wait());
        })));
    }
    const auto order = static_cast<double>(n);
    return {.flops = order * order * order / 3 / factored.seconds(),
            .elements = order * order / 2 / generated.seconds()};
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// As options say it, and otherwise by sampled ranks, with the time that these took.
struct ChosenCut {
    CompressedCut cut;
    double seconds = 0;
};
ChosenCut chosen_cut(const TlrOptions& options, const CovarianceMatrix& covariances, const Crew& crew) {
    const CovarianceProblem& problem = options.problem;
    const bool automatic = cli::is_automatic_tile(options.run.tile);
    const CompressedCut given{.tile = automatic ? 0 : cli::parse_tile(options.run.tile), .band = problem.band};
    ChosenCut chosen{.cut = given};
    if (given.tile > 0 && given.band > 0) return chosen;
    chosen.seconds = seconds_of([&] {
        const geo::RankSample ranks(covariances.covariance(), covariances.points(), problem.compression().accuracy,
                                    {.work = geo::sampling_work(problem.n, 1), .threads = options.run.workers});
        chosen.cut = ranks.cheapest_cut(crew, given);
    });
    return chosen;
}

/// Operations of recompression if updates of a tile were collected until their ranks add up to that of the tile, over
/// those of recompressing after each: by the ranks of the factor, in the order of the algorithm.
double recompression_if_collected(const RankMap& map, Index tile) {
    const auto rank = [&](Index i, Index j) { return map.ranks[static_cast<std::size_t>(i * map.grid.cols + j)]; };
    const auto nb = static_cast<double>(tile);
    double each = 0;
    double collected = 0;
    for (Index i = 0; i < map.grid.rows; ++i)
        for (Index j = 0; j < i; ++j) {
            const TileShape own{tile, tile, rank(i, j)};
            if (own.rank == dense_rank) continue;
            double pending = 0;
            for (Index k = 0; k < j; ++k) {
                const Index product = product_rank({tile, tile, rank(i, k)}, {tile, tile, rank(j, k)});
                const double update = product == dense_rank ? nb : static_cast<double>(product);
                each += low_rank_addition_flops(update, own);
                pending += update;
                if (pending < static_cast<double>(own.rank) && k + 1 < j) continue;
                collected += low_rank_addition_flops(pending, own);
                pending = 0;
            }
        }
    return each > 0 ? collected / each : 1;
}

/// What a factor of so many points may take on two cores, where that was aimed at.
std::optional<double> seconds_allowed(Index n) {
    constexpr Index large = 100000;
    constexpr Index largest = 250000;
    constexpr double minute = 60;
    if (n >= largest) return 60 * minute;
    if (n >= large) return 20 * minute;
    return {};
}

/// A solve with the factor, by conjugate gradients with the true matrix.
Convergence refined_solve(Stream& s, const CovarianceMatrix& covariances, const Matrix<double>& L, double tolerance) {
    const auto column = [&](const char* name) {
        return Matrix<double>(s, L.tiling().with_columns(1, 1), along_diagonal(L.distribution(), 1), {.name = name});
    };
    const Matrix<double> b = column("b");
    const Matrix<double> x = column("x");
    generate(s, b.view(), [](Index i, Index) { return Random(3).normal({static_cast<std::uint64_t>(i)}); });
    fill(s, x.view(), {});
    return conjugate_gradients(s, geo::product_with(s, covariances.factored(L)), L.lower(), b.view(), x.view(),
                               {.tolerance = tolerance});
}

}  // namespace

Json tlr_benchmark(StarpuEngine& engine, const TlrOptions& options) {
    CovarianceProblem problem = options.problem;
    require_alike(engine, problem, options.run.tile);
    const DenseRate rate = dense_rate(engine, options);
    const CovarianceMatrix covariances(problem);
    const auto [cut, sample_seconds] =
        engine.broadcast(chosen_cut(options, covariances, {engine.total_workers(), engine.node_count()}));
    problem.band = cut.band;
    const Index tile = cut.tile;
    Stream s(engine);
    const MemoryWatch memory;
    cli::check_sent_rank(problem.sent_rank, tile);
    const Matrix<double> A = matrix_of(s, problem.n, tile, problem.compression());
    const double compress_seconds = engine.max(seconds_of([&] {
        covariances.generate(s, A);
        require_done(s.wait());
    }));
    const double sent_before = sent_by_all(engine).bytes;
    const double factor_seconds = engine.max(seconds_of([&] {
        cholesky(s, A);
        require_done(s.wait());
    }));
    const double sent = sent_by_all(engine).bytes - sent_before;
    const double bytes = sum_of(engine.gather(memory.growth()));
    const auto order = static_cast<double>(problem.n);
    const double seconds = compress_seconds + factor_seconds;
    const double dense_seconds = order * order * order / 3 / rate.flops + order * order / 2 / rate.elements;
    const double dense_bytes = 4 * order * order;
    Json result{{"n", problem.n},
                {"accuracy", problem.accuracy},
                {"tile", tile},
                {"band", cut.band},
                {"seconds", seconds},
                {"compress_seconds", compress_seconds},
                {"sample_seconds", sample_seconds},
                {"gbytes", bytes / 1e9},
                {"dense_seconds_estimated", dense_seconds},
                {"dense_gbytes", dense_bytes / 1e9},
                {"dense_gflops", rate.flops / 1e9}};
    if (engine.node_count() > 1) result["gbytes_sent"] = sent / 1e9;
    const RankMap map = tile_ranks(s, A);
    const RankSummary ranks = summarise_ranks(map, A.tiling(), Stored::lower);
    result["rank_mean"] = ranks.mean;
    result["rank_max"] = ranks.largest;
    if (problem.precision == FactorPrecision::as_needed) result["single_columns"] = ranks.singles;
    result["compressed_tiles"] = static_cast<double>(ranks.compressed) / static_cast<double>(ranks.tiles);
    result["factor_gbytes"] = ranks.bytes / 1e9;
    result["recompression_if_collected"] = recompression_if_collected(map, tile);
    if (options.iterations > 0)
        result["residual"] = geo::factor_residual(s, covariances.factored(A), options.iterations);
    // Smaller matrices gain less.
    constexpr Index large = 40000;
    result["checks"] = Json::array();
    if (problem.n >= large) {
        result["checks"].push_back(at_most("time over that of the dense factorisation", seconds / dense_seconds, 0.2));
        result["checks"].push_back(at_most("memory over that of the dense matrix", bytes / dense_bytes, 0.2));
    }
    if (const auto bar = seconds_allowed(problem.n)) result["checks"].push_back(at_most("seconds", seconds, *bar));
    if (options.iterations > 0)
        result["checks"].push_back(at_most("residual", result.at("residual").get<double>(),
                                           10 * std::max(problem.accuracy, 1e-13) * problem.theta.sigma2 *
                                               std::sqrt(static_cast<double>(A.tile_rows()))));
    if (options.refine > 0) {
        const Convergence refined = refined_solve(s, covariances, A, options.refine);
        result["refine_iterations"] = refined.iterations;
        result["refine_residual"] = refined.residual;
        result["checks"].push_back(at_most("iterations to that residual", static_cast<double>(refined.iterations), 30));
        result["checks"].push_back(at_most("residual of the refined solution", refined.residual, options.refine));
    }
    return result;
}

}  // namespace tesela::bench
