#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/part_table.hpp"
#include "harness/timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/calibration/measured_platform.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/sample.hpp"
#include "tesela/geo/specimens.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/net/nodes.hpp"
#include "tesela/sim/simulated_engine.hpp"
#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tesela::bench {
namespace {

struct PredictionOptions {
    std::vector<Index> sizes{2000, 4000, 6000, 8000};
    std::vector<Index> geo_sizes{4000};
    std::vector<Index> redistribution_sizes{8000};
    /// Numbers of workers of a node, one after the other; under mpirun one number, or none for the cores at hand.
    std::vector<int> workers{};
    int passes = 3;        ///< each calibrates, predicts and measures; the one with the middle error counts
    int repetitions = 3;   ///< of a run in each pass; the middle one counts
    double seconds = 0.1;  ///< of calibration for each kernel and tile size
    std::string table;     ///< a CSV file for the rows; those of runs on other numbers of nodes are kept
};

void add_prediction_options(CLI::App& command, PredictionOptions& options) {
    comma_separated(command.add_option("--n", options.sizes, "Orders of the matrices"));
    comma_separated(command.add_option("--geo", options.geo_sizes, "Observations"));
    comma_separated(command.add_option("--redistribution", options.redistribution_sizes,
                                       "Orders of matrices that are redistributed"));
    comma_separated(command.add_option(
        "--workers", options.workers,
        "Workers per node, as 1,2 (the default; under mpirun one number, by default the usable cores of a machine, "
        "divided among the nodes on it)"));
    command
        .add_option("--passes", options.passes,
                    "Calibrate, predict and measure each row so many times; the one with the middle error counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Runs in each pass, of which the middle one counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command.add_option("--seconds", options.seconds, "Seconds to calibrate each kernel and tile size")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command.add_option("--table", options.table, "CSV file for the rows; rows of runs on other numbers of nodes stay");
}

double decaying_element(const void*, ElementIndex at) {
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j)));
}

/// A Cholesky factorisation on any engine; the matrix is generated first, outside the time.
class CholeskyRun {
public:
    CholeskyRun(Engine& engine, Index n)
        : tile(automatic_tile_size(n, engine.total_workers())),
          stream_(engine, {.name = "cholesky"}),
          A_(stream_, Tiling::square(n, tile),
             squarest_block_cyclic(Tiling::square(n, tile).grid(), engine.node_count()), {.stored = Stored::lower}) {}
    void prepare() {
        generate(stream_, A_.view(), {decaying_element});
        require_done(stream_.wait());
    }
    void run() {
        cholesky(stream_, A_);
        require_done(stream_.wait());
    }
    static std::vector<Specimen> specimens() {
        return of_kernels(calibration::specimens(), {"dgenerate", "dpotrf", "dtrsm", "dsyrk", "dgemm"});
    }
    const Index tile;

private:
    Stream stream_;
    Matrix<double> A_;
};

/// One likelihood evaluation.
class GeoRun {
public:
    GeoRun(Engine& engine, Index n)
        : tile(automatic_tile_size(n, engine.total_workers())),
          stream_(engine, {.name = "geo"}),
          likelihood_(stream_, observations(n), {}, {.tile = tile, .overlap = geo::Overlap::order}) {}
    void prepare() {}
    void run() { (void)likelihood_.evaluate({.sigma2 = 1, .range = 0.1, .smoothness = 1.23, .nugget = 0.1}); }
    static std::vector<Specimen> specimens() {
        return of_type(joined({calibration::specimens(), geo::specimens()}), ElementType::f64);
    }
    const Index tile;

private:
    static geo::Observations observations(Index n) {
        geo::Observations points{.coordinates = geo::random_points(n, 1)};
        points.values = points.coordinates[0];
        return points;
    }
    Stream stream_;
    geo::Likelihood likelihood_;
};

/// A matrix on a row of nodes goes to tiles of two thirds on a column of nodes.
class RedistributionRun {
public:
    RedistributionRun(Engine& engine, Index n)
        : stream_(engine, {.name = "redistribution"}),
          from_(stream_, Tiling::square(n, tile), block_cyclic(grid_of(n, tile), {1, engine.node_count()})),
          to_(stream_, Tiling::square(n, target_tile),
              block_cyclic(grid_of(n, target_tile), {engine.node_count(), 1})) {}
    void prepare() {
        generate(stream_, from_.view(), {decaying_element});
        require_done(stream_.wait());
    }
    void run() {
        redistribute(stream_, from_.view(), to_.view());
        require_done(stream_.wait());
    }
    static std::vector<Specimen> specimens() {
        return of_kernels(calibration::specimens(), {"dgenerate", "pack", "unpack", "copy"});
    }
    static constexpr Index tile = 480;

private:
    static constexpr Index target_tile = 320;
    static GridSize grid_of(Index n, Index size) { return Tiling::square(n, size).grid(); }
    Stream stream_;
    Matrix<double> from_;
    Matrix<double> to_;
};

/// Seconds of a run: the middle one of several, all of them begun together on all nodes.
template <class Run>
double measured_seconds(StarpuEngine& engine, Index n, int repetitions) {
    Run run(engine, n);
    std::vector<double> runs;
    for (int k = 0; k <= repetitions; ++k) {
        run.prepare();
        engine.barrier();
        const double seconds = engine.max(seconds_of([&] { run.run(); }));
        if (k > 0) runs.push_back(seconds);  // the first touches the memory
    }
    return median(std::move(runs));
}

template <class Run>
double predicted_seconds(const Platform& platform, Index n) {
    SimulatedEngine engine(platform, {.scheduler = SimulatedScheduler::priority});
    Run run(engine, n);
    run.prepare();
    const double prepared = engine.result().makespan;
    run.run();
    return engine.result().makespan - prepared;
}

template <class Run>
Index tile_of(const StarpuEngine& engine, Index n) {
    if constexpr (std::is_same_v<Run, RedistributionRun>)
        return RedistributionRun::tile;
    else
        return automatic_tile_size(n, engine.total_workers());
}

/// Isolated kernels at the tile size of a run and that of its last tiles, all workers of all nodes busy.
template <class Run>
calibration::MeasuredPlatform calibrated_platform(StarpuEngine& engine, Index n, double seconds) {
    const Index tile = tile_of<Run>(engine, n);
    std::vector<Index> tiles{tile};
    if (n % tile != 0) tiles.push_back(std::max<Index>(16, n % tile));
    return calibration::measure_platform(
        engine, {.specimens = Run::specimens(), .tiles = tiles, .loads = {calibration::Load::busy}, .seconds = seconds},
        calibration::Load::busy);
}

/// Seconds of one pass, and the network's bandwidth in it; none on one node.
struct PredictionPass {
    double predicted = 0;
    double measured = 0;
    std::optional<double> bandwidth{};

    [[nodiscard]] double error() const { return predicted / measured - 1; }
};

template <class Run>
std::vector<PredictionPass> passes_of(StarpuEngine& engine, const PredictionOptions& options, const char* operation,
                                      Index n) {
    std::vector<PredictionPass> all;
    for (int pass = 0; pass < options.passes; ++pass) {
        const auto nodes = calibrated_platform<Run>(engine, n, options.seconds);
        PredictionPass& now = all.emplace_back();
        if (nodes.network) now.bandwidth = nodes.network->bandwidth;
        now.predicted = predicted_seconds<Run>(nodes.platform, n);
        now.measured = measured_seconds<Run>(engine, n, options.repetitions);
        if (engine.is_first())
            fmt::print(stderr, "{} {} on {} workers, pass {} of {}: {:.4f} s predicted, {:.4f} s measured\n", operation,
                       n, engine.worker_count(), pass + 1, options.passes, now.predicted, now.measured);
    }
    return all;
}

/// The pass with the middle error, all of whose figures belong together. `noise` is how much longer it measured than
/// the fastest pass: what nobody could predict.
template <class Run>
Row compare_run(StarpuEngine& engine, const PredictionOptions& options, const char* operation, Index n) {
    std::vector<PredictionPass> all = passes_of<Run>(engine, options, operation, n);
    const double fastest = std::ranges::min(all, {}, &PredictionPass::measured).measured;
    const auto middle = all.begin() + (std::ssize(all) - 1) / 2;
    std::ranges::nth_element(all, middle, {}, &PredictionPass::error);
    return {{"nodes", engine.node_count()},
            {"network_gbytes_per_second", middle->bandwidth ? Row(1e-9 * *middle->bandwidth) : Row()},
            {"operation", operation},
            {"n", n},
            {"tile", tile_of<Run>(engine, n)},
            {"workers", engine.worker_count()},
            {"predicted", middle->predicted},
            {"measured", middle->measured},
            {"noise", middle->measured / fastest - 1},
            {"error", middle->error()}};
}

std::vector<Row> compare_all(StarpuEngine& engine, const PredictionOptions& options) {
    std::vector<Row> rows;
    for (const Index n : options.sizes) rows.push_back(compare_run<CholeskyRun>(engine, options, "cholesky", n));
    for (const Index n : options.geo_sizes) rows.push_back(compare_run<GeoRun>(engine, options, "geo", n));
    for (const Index n : options.redistribution_sizes)
        rows.push_back(compare_run<RedistributionRun>(engine, options, "redistribution", n));
    return rows;
}

std::vector<double> errors_of(const std::vector<Row>& rows, Index from, Index below) {
    std::vector<double> errors;
    for (const Row& row : rows)
        if (const auto n = row.at("n").get<Index>(); n >= from && n < below)
            errors.push_back(std::abs(row.at("error").get<double>()));
    return errors;
}

/// Runs of less than order 2000 take too short a time to be held to anything.
std::vector<Check> checks_of_errors(const std::vector<Row>& rows) {
    constexpr Index any = std::numeric_limits<Index>::max();
    std::vector<Check> checks;
    const auto add = [&](const char* bar, const std::vector<double>& errors, const auto& figure, double limit) {
        if (!errors.empty()) checks.push_back(at_most(bar, figure(errors), limit));
    };
    const auto worst = [](const std::vector<double>& errors) { return std::ranges::max(errors); };
    add("median error, n >= 2000", errors_of(rows, 2000, any), median, 0.05);
    add("worst error, n >= 4000", errors_of(rows, 4000, any), worst, 0.10);
    add("worst error, 2000 <= n < 4000", errors_of(rows, 2000, 4000), worst, 0.15);
    return checks;
}

std::vector<int> numbers_of_workers(const PredictionOptions& options) {
    if (started_in_parallel() && options.workers.size() > 1)
        throw Error("under mpirun give one number of workers, not {}", options.workers.size());
    if (!options.workers.empty()) return options.workers;
    return started_in_parallel() ? std::vector{0} : std::vector{1, 2};
}

/// Calibrates the nodes at hand from isolated kernels and messages, predicts and measures, for every run anew, several
/// times: the speed of many machines changes from minute to minute.
Report run_predictions(const PredictionOptions& options) {
    if (options.sizes.empty() && options.geo_sizes.empty() && options.redistribution_sizes.empty())
        throw Error("give at least one size");
    // Said before the work, which takes minutes.
    if (!options.table.empty() && !started_in_parallel()) const OutputFile probe(options.table);
    if (std::filesystem::exists(options.table)) (void)read_table(options.table);
    std::vector<Row> rows;
    bool writes = !options.table.empty();
    for (const int workers : numbers_of_workers(options)) {
        StarpuEngine engine({.workers = workers});
        writes &= engine.is_first();
        std::ranges::move(compare_all(engine, options), std::back_inserter(rows));
    }
    if (writes) PartTable(options.table, "nodes", rows).write();
    const auto errors = errors_of(rows, 0, std::numeric_limits<Index>::max());
    return {.figures = {{"median_error", median(errors)}, {"worst_error", std::ranges::max(errors)}},
            .rows = rows,
            .checks = checks_of_errors(rows)};
}

}  // namespace

Experiment prediction() {
    return experiment("prediction",
                      "Calibrates the nodes at hand, then predicts and measures Cholesky, likelihood evaluations and "
                      "redistributions; exit code 1 if the median error of those from n = 2000 is above 5 %, the worst "
                      "above 10 % from n = 4000 or above 15 % below that",
                      add_prediction_options, run_predictions);
}

}  // namespace tesela::bench
