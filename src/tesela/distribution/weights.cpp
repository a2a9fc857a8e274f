#include "tesela/distribution/weights.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela {
namespace {

/// Streams of random numbers of one seed that must not meet: noise is drawn at (i, j), the rest far outside the grid.
constexpr std::uint64_t full_rank_row = std::uint64_t{1} << 62;

double lu_cost(const KernelCosts& costs, TileIndex tile, Index step) {
    const Index last = std::min(tile.i, tile.j);
    if (step < last) return costs.update;
    if (step > last) return 0;
    return tile.i == tile.j ? costs.factor : costs.solve;
}

double cholesky_cost(const KernelCosts& costs, TileIndex tile, Index step) {
    if (tile.i < tile.j || step > tile.j) return 0;
    if (step < tile.j) return tile.i == tile.j ? costs.symmetric_update : costs.update;
    return tile.i == tile.j ? costs.factor : costs.solve;
}

/// Sum of step_cost over all steps, for density 1.
double whole_cost(const Workload& workload, TileIndex tile) {
    const auto& costs = workload.costs;
    const auto updates = static_cast<double>(std::min(tile.i, tile.j));
    switch (workload.operation) {
        case Operation::product: return costs.update * static_cast<double>(workload.density.grid().cols);
        case Operation::lu: return costs.update * updates + (tile.i == tile.j ? costs.factor : costs.solve);
        case Operation::cholesky:
            if (tile.i < tile.j) return 0;
            if (tile.i == tile.j) return costs.symmetric_update * updates + costs.factor;
            return costs.update * updates + costs.solve;
    }
    return 0;
}

void add_full_rank_tiles(TileMap& density, const Random& random) {
    const Index n = density.grid().rows;
    const double root = std::sqrt(static_cast<double>(n));
    const double drawn = root + root / 2 * random.normal({full_rank_row, 0});
    const auto count = static_cast<std::uint64_t>(std::max(0.0, std::round(drawn)));
    for (std::uint64_t t = 0; t < count; ++t) {
        const auto at = random.below(static_cast<std::uint64_t>(n * n), {full_rank_row, t + 1});
        density[{static_cast<Index>(at) / n, static_cast<Index>(at) % n}] = 1;
    }
}

}  // namespace

double TileMap::total() const { return std::accumulate(values_.begin(), values_.end(), 0.0); }

double step_cost(const Workload& workload, TileIndex tile, Index step) {
    const double density = workload.density[tile];
    switch (workload.operation) {
        case Operation::product: return density * workload.costs.update;
        case Operation::lu: return density * lu_cost(workload.costs, tile, step);
        case Operation::cholesky: return density * cholesky_cost(workload.costs, tile, step);
    }
    return 0;
}

TileMap tile_weights(const Workload& workload) {
    const GridSize grid = workload.density.grid();
    if (workload.operation != Operation::product && grid.rows != grid.cols)
        throw Error("a grid of {}x{} tiles cannot be factored: it must be square", grid.rows, grid.cols);
    TileMap weights(grid);
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) weights[{i, j}] = workload.density[{i, j}] * whole_cost(workload, {i, j});
    return weights;
}

TileMap full_density(GridSize tiles) { return TileMap(tiles, 1); }

TileMap density_of_ranks(const RankMap& ranks, const Tiling& tiling) {
    if (ranks.grid != tiling.grid() || static_cast<Index>(ranks.ranks.size()) != ranks.grid.count())
        throw Error("a map of {}x{} ranks with {} entries does not fit a grid of {}x{} tiles", ranks.grid.rows,
                    ranks.grid.cols, ranks.ranks.size(), tiling.grid().rows, tiling.grid().cols);
    TileMap density(ranks.grid);
    auto rank = ranks.ranks.begin();
    for (Index i = 0; i < ranks.grid.rows; ++i)
        for (Index j = 0; j < ranks.grid.cols; ++j, ++rank) {
            const Index full = std::min(tiling.rows(i), tiling.cols(j));
            const bool whole = *rank < 0 || *rank >= full;
            density[{i, j}] = whole ? 1 : static_cast<double>(*rank) / static_cast<double>(full);
        }
    return density;
}

TileMap synthetic_density(Index n, const SyntheticDensity& options) {
    if (n < 1) throw Error("a matrix of {} tile rows has no density", n);
    const Random random(options.seed);
    TileMap density({n, n});
    const auto width = static_cast<double>(std::max<Index>(n - 1, 1));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            const double distance = static_cast<double>(i - j) / width;
            const double noise =
                options.deviation * random.normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
            density[{i, j}] = std::clamp(std::exp(-options.delta / 2 * distance * distance) + noise, 0.0, 1.0);
        }
    for (Index i = 0; i < n; ++i) density[{i, i}] = 1;
    add_full_rank_tiles(density, random);
    return density;
}

}  // namespace tesela
