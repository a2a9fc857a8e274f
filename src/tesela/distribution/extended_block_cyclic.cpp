#include "tesela/distribution/extended_block_cyclic.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/powers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace tesela {
namespace {

/// Sums of the rows i ≡ a mod rows: a map of `rows` rows.
std::vector<double> fold_rows(const TileMap& weights, Index rows) {
    const GridSize grid = weights.grid();
    std::vector<double> folded(static_cast<std::size_t>(rows * grid.cols));
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j)
            folded[static_cast<std::size_t>(i % rows * grid.cols + j)] += weights[{i, j}];
    return folded;
}

std::vector<double> fold_columns(const std::vector<double>& rows_folded, Index width, GridSize pattern) {
    std::vector<double> loads(static_cast<std::size_t>(pattern.count()));
    for (Index a = 0; a < pattern.rows; ++a)
        for (Index j = 0; j < width; ++j)
            loads[static_cast<std::size_t>(a * pattern.cols + j % pattern.cols)] +=
                rows_folded[static_cast<std::size_t>(a * width + j)];
    return loads;
}

struct Packing {
    std::vector<std::int32_t> owners;
    double max_load = 0;  ///< over power
};

/// Algorithm 1: cells in decreasing order of load, each to the node that is done with it first, which of equal nodes is
/// the one that has the least.
Packing largest_processing_time(const std::vector<double>& loads, const Powers& powers) {
    std::vector<std::size_t> order(loads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t cell) { return loads[cell]; });
    using Loaded = std::pair<double, std::int32_t>;
    using Queue = std::priority_queue<Loaded, std::vector<Loaded>, std::greater<>>;
    std::map<double, Queue, std::greater<>> queues;  // of nodes of one power, the strongest first
    for (std::int32_t p = 0; p < powers.nodes(); ++p) queues[powers[p]].emplace(0.0, p);
    Packing packing{.owners = std::vector<std::int32_t>(loads.size())};
    for (const auto cell : order) {
        const auto first_done = std::ranges::min_element(
            queues, {}, [&](const auto& entry) { return (entry.second.top().first + loads[cell]) / entry.first; });
        Queue& queue = first_done->second;
        const auto [load, node] = queue.top();
        queue.pop();
        packing.owners[cell] = node;
        packing.max_load = std::max(packing.max_load, powers.time(node, load + loads[cell]));
        queue.emplace(load + loads[cell], node);
    }
    return packing;
}

Powers powers_of_used(const ExtendedBlockCyclic& options) {
    const Index used = options.used.value_or(options.nodes);
    if (used < 1 || used > options.nodes)
        throw Error("of {} nodes from 1 to {} can be used, not {}", options.nodes, options.nodes, used);
    std::vector<double> powers = options.powers;
    if (static_cast<Index>(powers.size()) == options.nodes) powers.resize(static_cast<std::size_t>(used));
    return {used, powers};
}

void check_pattern(GridSize pattern, Index limit) {
    if (pattern.rows < 1 || pattern.cols < 1 || pattern.rows > limit || pattern.cols > limit)
        throw Error("a pattern of {}x{} nodes must have between 1 and {} rows and columns; raise alpha", pattern.rows,
                    pattern.cols, limit);
}

}  // namespace

Index line_limit(Index nodes, double alpha) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    if (!(alpha >= 1)) throw Error("alpha must be at least 1; it is {}", alpha);
    // 1.1·√100 must give 11, not the 12 that rounding errors would.
    const double limit = std::ceil(alpha * std::sqrt(static_cast<double>(nodes)) - 1e-9);
    return std::min(nodes, static_cast<Index>(std::min(limit, 1e9)));
}

Distribution repeat(const Distribution& pattern, GridSize tiles) {
    if (pattern.grid().count() < 1) throw Error("an empty pattern cannot be repeated");
    std::vector<std::int32_t> owners;
    owners.reserve(static_cast<std::size_t>(tiles.count()));
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            owners.push_back(
                static_cast<std::int32_t>(pattern.owner({i % pattern.grid().rows, j % pattern.grid().cols}).number()));
    return {tiles, pattern.nodes(), std::move(owners)};
}

Distribution rule_block_cyclic(GridSize tiles, Index nodes) {
    if (nodes < 1) throw Error("a distribution needs at least one node; it has {}", nodes);
    Index c = 1;
    while (c * (c + 1) <= nodes) ++c;
    const Distribution grid = block_cyclic({std::max<Index>(c - 1, 1), c}, {.p = std::max<Index>(c - 1, 1), .q = c});
    return repeat({grid.grid(), nodes, grid.owners()}, tiles);
}

std::vector<double> pattern_loads(const TileMap& weights, GridSize pattern) {
    if (pattern.rows < 1 || pattern.cols < 1)
        throw Error("a pattern of {}x{} nodes does not exist", pattern.rows, pattern.cols);
    return fold_columns(fold_rows(weights, pattern.rows), weights.grid().cols, pattern);
}

Distribution extended_pattern(const TileMap& weights, const ExtendedBlockCyclic& options) {
    const Index limit = line_limit(options.nodes, options.alpha);
    const Powers powers = powers_of_used(options);
    if (options.pattern) {
        check_pattern(*options.pattern, limit);
        auto packing = largest_processing_time(pattern_loads(weights, *options.pattern), powers);
        return {*options.pattern, options.nodes, std::move(packing.owners)};
    }
    const GridSize grid = weights.grid();
    GridSize best_pattern{1, 1};
    Packing best = largest_processing_time({weights.total()}, powers);
    for (Index r = 1; r <= std::min(limit, grid.rows); ++r) {
        const auto folded = fold_rows(weights, r);
        for (Index c = 1; c <= std::min(limit, grid.cols); ++c) {
            auto packing = largest_processing_time(fold_columns(folded, grid.cols, {r, c}), powers);
            if (packing.max_load >= best.max_load) continue;
            best = std::move(packing);
            best_pattern = {r, c};
        }
    }
    return {best_pattern, options.nodes, std::move(best.owners)};
}

Distribution extended_block_cyclic(const TileMap& weights, const ExtendedBlockCyclic& options) {
    return repeat(extended_pattern(weights, options), weights.grid());
}

}  // namespace tesela
