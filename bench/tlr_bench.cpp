#include "tlr_bench.hpp"

#include "checks.hpp"
#include "resident_memory.hpp"
#include "timing.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/tile_size.hpp"
#include "tesela/apps/geo/point_order.hpp"
#include "tesela/apps/geo/tile_accuracy.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/kernels/covariance_kernel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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

/// A grid of points that are each moved by up to half a spacing, in the order of a Hilbert curve.
PointSet jittered_grid(Index n, Index dimensions) {
    const auto side =
        static_cast<Index>(std::ceil(std::pow(static_cast<double>(n), 1.0 / static_cast<double>(dimensions)) - 1e-9));
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(dimensions));
    const Random random(1);
    for (Index i = 0; i < n; ++i) {
        Index cell = i;
        for (Index d = 0; d < dimensions; ++d) {
            const double moved = random.uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(d)});
            columns[static_cast<std::size_t>(d)].push_back((static_cast<double>(cell % side) + moved) /
                                                           static_cast<double>(side));
            cell /= side;
        }
    }
    const std::vector<Index> order = geo::hilbert_order(PointSet(Metric::euclidean, columns));
    for (auto& column : columns) column = geo::in_order(column, order);
    return {Metric::euclidean, std::move(columns)};
}

/// The covariances of a set of points, as tasks.
class CovarianceMatrix {
public:
    CovarianceMatrix(const TlrOptions& options, Index n)
        : points_(jittered_grid(n, options.dimensions)),
          covariance_(options.family, options.theta, Metric::euclidean, points_.diameter_bound()) {}

    void generate(Stream& s, const Matrix<double>& A) const {
        for (Index i = 0; i < A.tile_rows(); ++i)
            for (Index j = 0; j <= i; ++j) s.submit({covariance_kernel, arguments(A.tiling(), {i, j}), write(A(i, j))});
    }
    [[nodiscard]] geo::FactoredCovariance factored(const Matrix<double>& L) const {
        return {covariance_, points_, L.lower()};
    }

private:
    [[nodiscard]] CovarianceArguments arguments(const Tiling& tiling, TileIndex tile) const {
        return {.covariance = &covariance_,
                .rows = &points_,
                .cols = &points_,
                .first = {tiling.row_begin(tile.i), tiling.col_begin(tile.j)},
                .sets = ObservationSets::same};
    }
    PointSet points_;
    Covariance covariance_;
};

void require(const Status& status) {
    if (!status.ok()) throw Error("{}", status.describe());
}

Matrix<double> matrix_of(Stream& s, Index n, Index tile, std::optional<Compression> compression) {
    const Tiling tiling = Tiling::square(n, tile);
    return {s, tiling, squarest_block_cyclic(tiling.grid(), s.engine().node_count()),
            MatrixOptions{.stored = Stored::lower, .compression = compression}};
}

/// Operations a second of the dense factorisation, the best of three, and elements a second of its generation.
struct DenseRate {
    double flops = 0;
    double elements = 0;
};
DenseRate dense_rate(StarpuEngine& engine, const TlrOptions& options) {
    const Index n = std::min(options.n, options.dense_n);
    const CovarianceMatrix covariances(options, n);
    Stream s(engine);
    const Matrix<double> A = matrix_of(s, n, automatic_tile_size(n, engine.total_workers()), {});
    Best factored, generated;
    for (int k = 0; k < 3; ++k) {
        generated.add(engine.max(seconds_of([&] {
            covariances.generate(s, A);
            require(s.wait());
        })));
        factored.add(engine.max(seconds_of([&] {
            cholesky(s, A);
            require(s.wait());
        })));
    }
    const auto order = static_cast<double>(n);
    return {.flops = order * order * order / 3 / factored.seconds(),
            .elements = order * order / 2 / generated.seconds()};
}

}  // namespace

Json tlr_benchmark(StarpuEngine& engine, const TlrOptions& options) {
    const DenseRate rate = dense_rate(engine, options);
    const CovarianceMatrix covariances(options, options.n);
    const Index tile = cli::tile_size(options.run, options.n, engine);
    Stream s(engine);
    const MemoryWatch memory;
    const Matrix<double> A =
        matrix_of(s, options.n, tile,
                  Compression{.accuracy = options.accuracy * options.theta.sigma2, .dense_band = options.band});
    const double compress_seconds = engine.max(seconds_of([&] {
        covariances.generate(s, A);
        require(s.wait());
    }));
    const double factor_seconds = engine.max(seconds_of([&] {
        cholesky(s, A);
        require(s.wait());
    }));
    const double bytes = memory.growth();
    const auto order = static_cast<double>(options.n);
    const double seconds = compress_seconds + factor_seconds;
    const double dense_seconds = order * order * order / 3 / rate.flops + order * order / 2 / rate.elements;
    const double dense_bytes = 4 * order * order;
    Json result{{"n", options.n},
                {"accuracy", options.accuracy},
                {"tile", tile},
                {"seconds", seconds},
                {"compress_seconds", compress_seconds},
                {"gbytes", bytes / 1e9},
                {"dense_seconds_estimated", dense_seconds},
                {"dense_gbytes", dense_bytes / 1e9},
                {"dense_gflops", rate.flops / 1e9}};
    const RankSummary ranks = summarise_ranks(tile_ranks(s, A), A.tiling(), Stored::lower);
    result["rank_mean"] = ranks.mean;
    result["rank_max"] = ranks.largest;
    result["compressed_tiles"] = static_cast<double>(ranks.compressed) / static_cast<double>(ranks.tiles);
    result["factor_gbytes"] = ranks.bytes / 1e9;
    if (options.iterations > 0)
        result["residual"] = geo::factor_residual(s, covariances.factored(A), options.iterations);
    result["checks"] = Json::array({at_most("time over that of the dense factorisation", seconds / dense_seconds, 0.2),
                                    at_most("memory over that of the dense matrix", bytes / dense_bytes, 0.2)});
    if (options.iterations > 0)
        result["checks"].push_back(
            at_most("residual", result.at("residual").get<double>(),
                    10 * options.accuracy * options.theta.sigma2 * std::sqrt(static_cast<double>(A.tile_rows()))));
    return result;
}

}  // namespace tesela::bench
