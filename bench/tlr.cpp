#include "experiments.hpp"
#include "harness/engine_options.hpp"
#include "harness/resident_memory.hpp"
#include "harness/timing.hpp"
#include "shared/covariance_problem.hpp"
#include "shared/sent_by_all.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/compressed_cut.hpp"
#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/rank_sample.hpp"
#include "tesela/geo/tile_accuracy.hpp"
#include "tesela/kernels/low_rank_cost.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tesela::bench {
namespace {

struct TlrOptions {
    CovarianceProblem problem;
    /// Order of the dense matrix that the rate is measured with.
    Index dense_n = 8000;
    /// Power iterations for the residual; 0: it is not measured.
    int iterations = 6;
    /// Residual of a solution that the factor is refined to; 0: none is.
    double refine = 0;
    Index tile = 0;  ///< 0: by sampled ranks
    EngineOptions engine;
};

void add_tlr_options(CLI::App& command, TlrOptions& options) {
    add_problem_options(command, options.problem);
    command.add_option("--dense-n", options.dense_n, "Points of the dense matrix that its rate is measured with")
        ->capture_default_str();
    command.add_option("--iterations", options.iterations, "Power iterations for the residual; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        .add_option("--refine", options.refine,
                    "Solve with the factor to this residual, by conjugate gradients with the true matrix; 0: do not")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    command.add_option("--tile", options.tile, "Tile size; 0: by sampled ranks")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_engine_options(command, options.engine);
}

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
    const CompressedCut given{.tile = options.tile, .band = problem.band};
    ChosenCut chosen{.cut = given};
    if (given.tile > 0 && given.band > 0) return chosen;
    chosen.seconds = seconds_of([&] {
        const geo::RankSample ranks(covariances.covariance(), covariances.points(), problem.compression().accuracy,
                                    {.work = geo::sampling_work(problem.n, 1), .threads = options.engine.workers});
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

/// Seconds and bytes of one factorisation.
struct TlrCosts {
    double compress_seconds = 0;
    double factor_seconds = 0;
    double sent = 0;
    double bytes = 0;

    [[nodiscard]] double seconds() const { return compress_seconds + factor_seconds; }
};
TlrCosts compress_and_factor(StarpuEngine& engine, Stream& s, const CovarianceMatrix& covariances,
                             const Matrix<double>& A) {
    TlrCosts costs;
    costs.compress_seconds = engine.max(seconds_of([&] {
        covariances.generate(s, A);
        require_done(s.wait());
    }));
    const double sent_before = sent_by_all(engine).bytes;
    costs.factor_seconds = engine.max(seconds_of([&] {
        cholesky(s, A);
        require_done(s.wait());
    }));
    costs.sent = sent_by_all(engine).bytes - sent_before;
    return costs;
}

/// The same of the dense factorisation, by its rate.
TlrCosts dense_costs(const DenseRate& rate, Index n) {
    const auto order = static_cast<double>(n);
    return {.compress_seconds = order * order / 2 / rate.elements,
            .factor_seconds = order * order * order / 3 / rate.flops,
            .bytes = 4 * order * order};
}

std::vector<Check> checks_of_costs(Index n, const TlrCosts& costs, const TlrCosts& dense) {
    std::vector<Check> checks;
    constexpr Index large = 40000;  // smaller matrices gain less
    if (n >= large) {
        checks.push_back(at_most("time over that of the dense factorisation", costs.seconds() / dense.seconds(), 0.2));
        checks.push_back(at_most("memory over that of the dense matrix", costs.bytes / dense.bytes, 0.2));
    }
    if (const auto bar = seconds_allowed(n)) checks.push_back(at_most("seconds", costs.seconds(), *bar));
    return checks;
}

void add_ranks(Row& figures, Stream& s, const Matrix<double>& A, const CovarianceProblem& problem) {
    const RankMap map = tile_ranks(s, A);
    const RankSummary ranks = summarise_ranks(map, A.tiling(), Stored::lower);
    figures["rank_mean"] = ranks.mean;
    figures["rank_max"] = ranks.largest;
    if (problem.precision == FactorPrecision::as_needed) figures["single_columns"] = ranks.singles;
    figures["compressed_tiles"] = static_cast<double>(ranks.compressed) / static_cast<double>(ranks.tiles);
    figures["factor_gbytes"] = ranks.bytes / 1e9;
    figures["recompression_if_collected"] = recompression_if_collected(map, A.tiling().rows(0));
}

/// ‖A − L·Lᵀ‖₂ against the matrix itself, which is never stored.
void add_residual(Report& report, Stream& s, const CovarianceMatrix& covariances, const Matrix<double>& L,
                  const TlrOptions& options) {
    const CovarianceProblem& problem = options.problem;
    const double residual = geo::factor_residual(s, covariances.factored(L), options.iterations);
    const double limit =
        10 * std::max(problem.accuracy, 1e-13) * problem.theta.sigma2 * std::sqrt(static_cast<double>(L.tile_rows()));
    report.figures["residual"] = residual;
    report.checks.push_back(at_most("residual", residual, limit));
}

void add_refinement(Report& report, const Convergence& refined, double tolerance) {
    report.figures["refine_iterations"] = refined.iterations;
    report.figures["refine_residual"] = refined.residual;
    report.checks.push_back(at_most("iterations to that residual", static_cast<double>(refined.iterations), 30));
    report.checks.push_back(at_most("residual of the refined solution", refined.residual, tolerance));
}

/// The Cholesky factor of a compressed covariance matrix: time, memory, ranks and residual, beside what the dense
/// factorisation would take at the rate that is measured in the same run.
Report run_tlr(const TlrOptions& options) {
    const auto engine = start_engine(options.engine);
    CovarianceProblem problem = options.problem;
    require_alike(*engine, problem, std::to_string(options.tile));
    const DenseRate rate = dense_rate(*engine, options);
    const CovarianceMatrix covariances(problem);
    const auto [cut, sample_seconds] =
        engine->broadcast(chosen_cut(options, covariances, {engine->total_workers(), engine->node_count()}));
    problem.band = cut.band;
    Stream s(*engine);
    const MemoryWatch memory;
    const Matrix<double> A = matrix_of(s, problem.n, cut.tile, problem.compression());
    TlrCosts costs = compress_and_factor(*engine, s, covariances, A);
    costs.bytes = sum_of(engine->gather(memory.growth()));
    const TlrCosts dense = dense_costs(rate, problem.n);
    Report report{.figures = {{"n", problem.n},
                              {"accuracy", problem.accuracy},
                              {"tile", cut.tile},
                              {"band", cut.band},
                              {"seconds", costs.seconds()},
                              {"compress_seconds", costs.compress_seconds},
                              {"sample_seconds", sample_seconds},
                              {"gbytes", costs.bytes / 1e9},
                              {"dense_seconds_estimated", dense.seconds()},
                              {"dense_gbytes", dense.bytes / 1e9},
                              {"dense_gflops", rate.flops / 1e9}},
                  .checks = checks_of_costs(problem.n, costs, dense)};
    if (engine->node_count() > 1) report.figures["gbytes_sent"] = costs.sent / 1e9;
    add_ranks(report.figures, s, A, problem);
    if (options.iterations > 0) add_residual(report, s, covariances, A, options);
    if (options.refine > 0) add_refinement(report, refined_solve(s, covariances, A, options.refine), options.refine);
    return report;
}

}  // namespace

Experiment tlr() {
    return experiment("tlr",
                      "The Cholesky factor of a compressed covariance matrix beside the dense one; exit code 1 if it "
                      "is less accurate than it should be or takes, with 40,000 points or more, over a fifth of the "
                      "time or memory of the dense one, with 100,000 over 20 minutes, or with 250,000 over an hour",
                      add_tlr_options, run_tlr);
}

}  // namespace tesela::bench
