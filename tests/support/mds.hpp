#pragma once

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/mds/streamed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tesela::testing {

/// Points in space: what distances are between.
struct Points {
    std::vector<std::vector<double>> at;

    Points(Index n, std::uint64_t seed) : at(static_cast<std::size_t>(n), std::vector<double>(3)) {
        for (std::size_t i = 0; i < at.size(); ++i)
            for (std::size_t d = 0; d < 3; ++d) at[i][d] = Random(seed).normal({i, d});
    }
    [[nodiscard]] Index size() const { return static_cast<Index>(at.size()); }
    [[nodiscard]] double distance(Index i, Index j) const {
        double sum = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            const double apart = at[static_cast<std::size_t>(i)][d] - at[static_cast<std::size_t>(j)][d];
            sum += apart * apart;
        }
        return std::sqrt(sum);
    }
    /// Classical scaling: the doubly centred matrix of -1/2 times the squared distances is that of the inner products
    /// of the points about their mean.
    [[nodiscard]] std::vector<double> inner_products() const {
        std::vector<double> mean(3);
        for (const auto& point : at)
            for (std::size_t d = 0; d < 3; ++d) mean[d] += point[d] / static_cast<double>(at.size());
        std::vector<double> result;
        for (const auto& y : at)
            for (const auto& x : at) {
                double sum = 0;
                for (std::size_t d = 0; d < 3; ++d) sum += (x[d] - mean[d]) * (y[d] - mean[d]);
                result.push_back(sum);
            }
        return result;
    }
};

inline KernelResult run_read_points(const KernelCall& call) noexcept {
    const auto& args = call.args<ReadArguments>();
    const auto& points = *static_cast<const Points*>(args.source);
    const TileSpan<double> tile(call.tiles[0]);
    for (Index j = 0; j < tile.cols(); ++j)
        for (Index i = 0; i < tile.rows(); ++i) tile(i, j) = points.distance(args.first.i + i, args.first.j + j);
    return {};
}
inline const ReadKernel read_points{"dread", read_without_file.cost, run_read_points};

/// G·Ω by the definition, column by column.
inline std::vector<double> product(const std::vector<double>& G, Index n, Index columns, std::uint64_t seed) {
    std::vector<double> Y(static_cast<std::size_t>(n * columns), 0.0);
    for (Index j = 0; j < columns; ++j)
        for (Index k = 0; k < n; ++k) {
            const double omega = Random(seed).normal({static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(j)});
            for (Index i = 0; i < n; ++i)
                Y[static_cast<std::size_t>(i + j * n)] += G[static_cast<std::size_t>(i + k * n)] * omega;
        }
    return Y;
}

inline void generate_normal(Stream& s, const Matrix<double>& omega, std::uint64_t seed) {
    generate(s, omega.view(), [seed](Index i, Index j) {
        return Random(seed).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
    });
}

struct MdsCase {
    Index points = 1;
    Index tile = 1;
    Index columns = 1;
    std::uint64_t seed = 0;

    [[nodiscard]] std::string name() const {
        return fmt::format("{} points, tiles of {}, {} columns, seed {}", points, tile, columns, seed);
    }
};

/// Reads distances under owners of its own, and says how far the Gram matrix and the product are from the closed form:
/// the largest difference over what rounding may make of it; infinite if it fails.
inline double run_mds(Engine& engine, const MdsCase& c) {
    Stream s(engine);
    const Points points(c.points, c.seed);
    const Tiling tiling = Tiling::square(c.points, c.tile);
    const Index nodes = engine.node_count();
    StreamedMatrix matrix(s, {.tiling = tiling,
                              .read = random_distribution(tiling.grid(), nodes, c.seed),
                              .compute = squarest_block_cyclic(tiling.grid(), nodes),
                              .columns = c.columns,
                              .reading = {.kernel = &read_points, .source = &points},
                              .centring = StreamedSpec::Centring::tiles_too});
    const Matrix<double> omega = matrix.make_right("Omega");
    const Matrix<double> Y = matrix.make_left("Y");
    generate_normal(s, omega, c.seed);
    matrix.first_product(omega, Y);
    if (!s.wait().ok()) return std::numeric_limits<double>::infinity();
    const std::vector<double> G = points.inner_products();
    const auto n = static_cast<double>(c.points);
    // n squared distances below 100 are added, and n of the sums by factors below 10.
    const double rounding = 100 * n * std::numeric_limits<double>::epsilon();
    return std::max(
        largest_difference(gather(s, matrix.tiles().view()), G) / rounding,
        largest_difference(gather(s, Y.view()), product(G, c.points, c.columns, c.seed)) / (10 * n * rounding));
}

}  // namespace tesela::testing
