#include "prediction_bench.hpp"

#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/apps/geo/likelihood.hpp"
#include "tesela/apps/geo/sample.hpp"
#include "tesela/base/error.hpp"
#include "tesela/dist/families.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/plan/calibrate.hpp"
#include "tesela/plan/memory_bandwidth.hpp"
#include "tesela/sim/simulated_engine.hpp"
#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tesela::bench {
namespace {

double element(const void*, ElementIndex at) {
    return at.i == at.j ? 32.0 : 1.0 / (1.0 + static_cast<double>(std::abs(at.i - at.j)));
}

struct Row {
    std::string what;
    Index n = 0;
    Index tile = 0;
    int workers = 1;
    double predicted = 0;
    double measured = 0;
    [[nodiscard]] double error() const { return predicted / measured - 1; }
};

/// A Cholesky factorisation on any engine; the matrix is generated first, outside the time.
class CholeskyRun {
public:
    CholeskyRun(Engine& engine, Index n)
        : tile(automatic_tile_size(n, engine.total_workers())),
          stream_(engine, {.name = "cholesky"}),
          A_(stream_, Tiling::square(n, tile), block_cyclic(Tiling::square(n, tile).grid(), {1, 1}),
             {.stored = Stored::lower}) {}
    void prepare() {
        generate(stream_, A_.view(), {element});
        stream_.wait();
    }
    void run() {
        cholesky(stream_, A_);
        stream_.wait();
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

template <class Run>
double measure(StarpuEngine& engine, Index n, int repetitions) {
    Run run(engine, n);
    Best best;
    for (int k = 0; k <= repetitions; ++k) {
        run.prepare();
        const double seconds = seconds_of([&] { run.run(); });
        if (k > 0) best.add(seconds);  // the first touches the memory
    }
    return best.seconds();
}

template <class Run>
double predict(const Platform& platform, Index n) {
    SimulatedEngine engine(platform, {.scheduler = SimulatedScheduler::priority});
    Run run(engine, n);
    run.prepare();
    const double prepared = engine.result().makespan;
    run.run();
    return engine.result().makespan - prepared;
}

/// Isolated kernels at the tile sizes of the runs, all workers busy.
Platform calibrate(const PredictionOptions& options, int workers) {
    std::set<Index> tiles;
    for (const auto* list : {&options.sizes, &options.geo_sizes})
        for (const Index n : *list) {
            const Index tile = automatic_tile_size(n, workers);
            tiles.insert(tile);
            if (n % tile != 0) tiles.insert(std::max<Index>(16, n % tile));
        }
    const plan::CalibrationOptions calibration{.kernels = plan::kernel_names(ElementType::f64),
                                               .tiles = {tiles.begin(), tiles.end()},
                                               .workers = workers,
                                               .seconds = options.seconds};
    const auto samples = plan::time_kernels(calibration);
    const double copies = plan::measure_copy_bandwidth(plan::bytes_beyond_caches(), workers);
    return {.name = "this machine",
            .node_types = {
                {.name = "node",
                 .count = 1,
                 .memory = 1e18,
                 .memory_bandwidth = 2 * copies,
                 .nic = {.bandwidth = copies, .latency = 1e-6},
                 .workers = {
                     {.name = "cores", .count = workers, .kernels = plan::kernel_times(samples, plan::Load::busy)}}}}};
}

}  // namespace

cli::Json prediction_benchmark(const PredictionOptions& options) {
    if (options.sizes.empty() || options.workers.empty())
        throw Error("give at least one size and one number of workers");
    std::vector<Row> rows;
    for (const int workers : options.workers) {
        const Platform platform = calibrate(options, workers);
        StarpuEngine engine({.workers = workers});
        const auto add = [&]<class Run>(const char* what, Index n, std::type_identity<Run>) {
            rows.push_back({what, n, automatic_tile_size(n, workers), workers, predict<Run>(platform, n),
                            measure<Run>(engine, n, options.repetitions)});
        };
        for (const Index n : options.sizes) add("cholesky", n, std::type_identity<CholeskyRun>{});
        for (const Index n : options.geo_sizes) add("geo", n, std::type_identity<GeoRun>{});
    }
    std::string csv = "operation,n,tile,workers,predicted,measured,error\n";
    std::vector<double> errors;
    cli::Json table = cli::Json::array();
    for (const Row& row : rows) {
        csv += fmt::format("{},{},{},{},{:.6f},{:.6f},{:.4f}\n", row.what, row.n, row.tile, row.workers, row.predicted,
                           row.measured, row.error());
        errors.push_back(std::abs(row.error()));
        table.push_back({{"operation", row.what},
                         {"n", row.n},
                         {"tile", row.tile},
                         {"workers", row.workers},
                         {"predicted", row.predicted},
                         {"measured", row.measured},
                         {"error", row.error()}});
    }
    if (!options.table.empty()) write_file(options.table, csv);
    std::ranges::sort(errors);
    const std::size_t half = errors.size() / 2;
    const double median = errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
    return {{"rows", table}, {"median_error", median}, {"worst_error", errors.back()}};
}

}  // namespace tesela::bench
