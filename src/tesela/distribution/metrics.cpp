#include "tesela/distribution/metrics.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela {
namespace {

void require_same_grid(GridSize a, GridSize b) {
    if (a != b) throw Error("grids of {}x{} and {}x{} tiles do not match", a.rows, a.cols, b.rows, b.cols);
}

void require_as_many(std::span<const double> powers, std::size_t nodes) {
    if (!powers.empty() && powers.size() != nodes) throw Error("{} powers do not fit {} nodes", powers.size(), nodes);
}

template <class Visit>
void for_each_stored(GridSize grid, Stored stored, Visit visit) {
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j)
            if (is_stored({i, j}, stored)) visit(TileIndex{i, j});
}

std::size_t owner_of(const Distribution& distribution, TileIndex tile) {
    return static_cast<std::size_t>(distribution.owner(tile).number());
}

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Work of each node in one step, for the kernels of the step's own row and column.
void add_panel(std::vector<double>& loads, const Distribution& distribution, const Workload& workload, Index k) {
    const GridSize grid = distribution.grid();
    for (Index j = k; j < grid.cols; ++j) loads[owner_of(distribution, {k, j})] += step_cost(workload, {k, j}, k);
    for (Index i = k + 1; i < grid.rows; ++i) loads[owner_of(distribution, {i, k})] += step_cost(workload, {i, k}, k);
}

/// Adds row and column k + 1 to the part of the matrix that step k updates.
void add_to_trailing(std::vector<double>& loads, const Distribution& distribution, const Workload& workload, Index k) {
    const GridSize grid = distribution.grid();
    const Index next = k + 1;
    for (Index j = next; j < grid.cols; ++j)
        loads[owner_of(distribution, {next, j})] += step_cost(workload, {next, j}, k);
    for (Index i = next + 1; i < grid.rows; ++i)
        loads[owner_of(distribution, {i, next})] += step_cost(workload, {i, next}, k);
}

/// The longest load / power; a node without power and without load takes no time.
double slowest_node(std::span<const double> loads, std::span<const double> powers) {
    double slowest = 0;
    for (std::size_t p = 0; p < loads.size(); ++p)
        if (loads[p] > 0) slowest = std::max(slowest, loads[p] / (powers.empty() ? 1 : powers[p]));
    return slowest;
}

double factorization_imbalance(const Distribution& distribution, const Workload& workload,
                               std::span<const double> powers) {
    const auto nodes = static_cast<std::size_t>(distribution.nodes());
    std::vector<double> trailing(nodes), step(nodes);
    double slowest = 0, work = 0;
    for (Index k = distribution.grid().rows - 1; k >= 0; --k) {
        if (k + 1 < distribution.grid().rows) add_to_trailing(trailing, distribution, workload, k);
        step = trailing;
        add_panel(step, distribution, workload, k);
        slowest += slowest_node(step, powers);
        work += sum(step);
    }
    const double all_power = powers.empty() ? static_cast<double>(nodes) : sum(powers);
    return work > 0 ? slowest / (work / all_power) : 1;
}

}  // namespace

std::vector<double> node_loads(const Distribution& distribution, const TileMap& weights) {
    require_same_grid(distribution.grid(), weights.grid());
    std::vector<double> loads(static_cast<std::size_t>(distribution.nodes()));
    const auto& owners = distribution.owners();
    for (std::size_t n = 0; n < owners.size(); ++n) loads[static_cast<std::size_t>(owners[n])] += weights.values()[n];
    return loads;
}

std::vector<Index> tile_counts(const Distribution& distribution, Stored stored) {
    std::vector<Index> counts(static_cast<std::size_t>(distribution.nodes()));
    for_each_stored(distribution.grid(), stored, [&](TileIndex tile) { ++counts[owner_of(distribution, tile)]; });
    return counts;
}

double dispersion(std::span<const double> loads) {
    const auto count = static_cast<double>(loads.size());
    const double mean = sum(loads) / count;
    if (!(mean > 0)) return 0;
    double squares = 0;
    for (const double load : loads) squares += (load - mean) * (load - mean);
    return std::sqrt(squares / count) / mean;
}

LoadSummary summarise_loads(std::span<const double> loads, std::span<const double> powers) {
    require_as_many(powers, loads.size());
    const double total = sum(loads);
    if (!(total > 0)) return {};
    const double all_power = powers.empty() ? static_cast<double>(loads.size()) : sum(powers);
    LoadSummary summary{.max_over_ideal = 0};
    std::vector<double> times;
    for (std::size_t p = 0; p < loads.size(); ++p) {
        const double power = powers.empty() ? 1 : powers[p];
        if (loads[p] <= 0 && power <= 0) continue;
        times.push_back(loads[p] / power);
        summary.max_over_ideal = std::max(summary.max_over_ideal, times.back() * all_power / total);
    }
    summary.dispersion = dispersion(times);
    return summary;
}

LoadSummary summarise_times(std::span<const double> times, double ideal) {
    if (!(ideal > 0) || times.empty()) return {};
    return {.max_over_ideal = std::ranges::max(times) / ideal, .dispersion = dispersion(times)};
}

std::vector<Index> nodes_per_row(const Distribution& distribution, Stored stored) {
    const GridSize grid = distribution.grid();
    std::vector<Index> distinct(static_cast<std::size_t>(grid.rows));
    std::vector<Index> last_seen(static_cast<std::size_t>(distribution.nodes()), -1);
    for_each_stored(grid, stored, [&](TileIndex tile) {
        auto& seen = last_seen[owner_of(distribution, tile)];
        if (seen != tile.i) ++distinct[static_cast<std::size_t>(tile.i)];
        seen = tile.i;
    });
    return distinct;
}

std::vector<Index> nodes_per_column(const Distribution& distribution, Stored stored) {
    const GridSize grid = distribution.grid();
    std::vector<Index> distinct(static_cast<std::size_t>(grid.cols));
    std::vector<Index> last_seen(static_cast<std::size_t>(distribution.nodes()), -1);
    for (Index j = 0; j < grid.cols; ++j)
        for (Index i = 0; i < grid.rows; ++i) {
            if (!is_stored({i, j}, stored)) continue;
            auto& seen = last_seen[owner_of(distribution, {i, j})];
            if (seen != j) ++distinct[static_cast<std::size_t>(j)];
            seen = j;
        }
    return distinct;
}

double step_imbalance(const Distribution& distribution, const Workload& workload, std::span<const double> powers) {
    require_same_grid(distribution.grid(), workload.density.grid());
    require_as_many(powers, static_cast<std::size_t>(distribution.nodes()));
    // Every step of a product does the same work.
    if (workload.operation == Operation::product)
        return summarise_loads(node_loads(distribution, tile_weights(workload)), powers).max_over_ideal;
    return factorization_imbalance(distribution, workload, powers);
}

std::vector<double> node_memory(const Distribution& distribution, const MemoryQuestion& question) {
    const Tiling& tiling = question.tiling;
    const auto& ranks = question.ranks;
    require_same_grid(distribution.grid(), tiling.grid());
    if (!ranks.empty() && static_cast<Index>(ranks.size()) != tiling.grid().count())
        throw Error("{} ranks do not fit {} tiles", ranks.size(), tiling.grid().count());
    std::vector<double> memory(static_cast<std::size_t>(distribution.nodes()));
    for_each_stored(tiling.grid(), question.stored, [&](TileIndex tile) {
        const Index rows = tiling.rows(tile.i), cols = tiling.cols(tile.j);
        const Index rank = ranks.empty() ? -1 : ranks[static_cast<std::size_t>(tile.i * tiling.grid().cols + tile.j)];
        const Index elements = rank < 0 ? rows * cols : (rows + cols) * rank;
        memory[owner_of(distribution, tile)] += static_cast<double>(elements * question.element_bytes);
    });
    return memory;
}

Moves count_moves(const Distribution& from, const Distribution& to, Stored stored) {
    require_same_grid(from.grid(), to.grid());
    Moves moves;
    for_each_stored(from.grid(), stored,
                    [&](TileIndex tile) { moves.moved += from.owner(tile) == to.owner(tile) ? 0 : 1; });
    const auto before = tile_counts(from, stored), after = tile_counts(to, stored);
    for (std::size_t p = 0; p < before.size(); ++p)
        moves.minimum += std::max<Index>(0, before[p] - (p < after.size() ? after[p] : 0));
    return moves;
}

}  // namespace tesela
