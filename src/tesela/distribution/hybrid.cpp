#include "tesela/distribution/hybrid.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/node_set.hpp"
#include "tesela/distribution/powers.hpp"
#include "tesela/distribution/step_schedule.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela {
namespace {

struct Candidate {
    Distribution pattern;
    double max_load = 0;  ///< over power
};

/// The `count` patterns of `bce` with the least maximum load.
std::vector<Candidate> best_patterns(const TileMap& weights, const HybridPattern& options, const Powers& powers) {
    const Index limit = line_limit(options.nodes, options.alpha);
    const GridSize grid = weights.grid();
    std::vector<Candidate> candidates;
    for (Index r = 1; r <= std::min(limit, grid.rows); ++r)
        for (Index c = 1; c <= std::min(limit, grid.cols); ++c) {
            const GridSize cells{r, c};
            Candidate candidate{extended_pattern(
                weights, {.nodes = options.nodes, .alpha = options.alpha, .pattern = cells, .powers = options.powers})};
            std::vector<double> loads(static_cast<std::size_t>(options.nodes));
            const auto cell_loads = pattern_loads(weights, cells);
            for (std::size_t n = 0; n < cell_loads.size(); ++n)
                loads[static_cast<std::size_t>(candidate.pattern.owners()[n])] += cell_loads[n];
            candidate.max_load = powers.longest(loads);
            candidates.push_back(std::move(candidate));
        }
    std::ranges::stable_sort(candidates, {}, &Candidate::max_load);
    candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(options.patterns)));
    return candidates;
}

/// The nodes of each pattern row (column), filled up to the limit with the least loaded others.
std::vector<NodeSet> line_sets(const Distribution& pattern, Index limit, const std::vector<double>& loads,
                               const Powers& powers) {
    std::vector<Index> lightest(loads.size());
    std::iota(lightest.begin(), lightest.end(), Index{0});
    std::ranges::stable_sort(lightest, {},
                             [&](Index node) { return powers.time(node, loads[static_cast<std::size_t>(node)]); });
    std::vector<NodeSet> sets;
    for (Index a = 0; a < pattern.grid().rows; ++a) {
        NodeSet set(pattern.nodes());
        for (Index b = 0; b < pattern.grid().cols; ++b) set.insert(pattern.owner({a, b}).number());
        for (auto node = lightest.begin(); node != lightest.end() && set.size() < limit; ++node) set.insert(*node);
        sets.push_back(std::move(set));
    }
    return sets;
}

/// Tiles by the step of the factorization that finishes them.
std::vector<TileIndex> by_step(GridSize grid) {
    std::vector<TileIndex> tiles;
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) tiles.push_back({i, j});
    std::ranges::stable_sort(tiles, {}, [](TileIndex tile) { return std::min(tile.i, tile.j); });
    return tiles;
}

/// Evens out the loads of a repeated pattern.
class Repair {
public:
    Repair(const TileMap& weights, const Distribution& pattern, Index limit, const Powers& powers)
        : weights_(weights),
          powers_(powers),
          distribution_(repeat(pattern, weights.grid())),
          loads_(node_loads(distribution_, weights)),
          rows_(line_sets(pattern, limit, loads_, powers)),
          cols_(line_sets(pattern.transposed(), limit, loads_, powers)) {
        for (Index node = 0; node < powers.nodes(); ++node) due_.push_back(powers.part(node, weights.total()));
    }

    /// Rounds of giving, as long as each brings the longest time closer to that of all.
    void run(const std::vector<TileIndex>& tiles) {
        for (double before = std::numeric_limits<double>::infinity(); max_load() < before * (1 - 1e-6);) {
            before = max_load();
            give_round(tiles);
        }
        settle(tiles);
    }
    [[nodiscard]] const Distribution& distribution() const { return distribution_; }

private:
    [[nodiscard]] double max_load() const { return powers_.longest(loads_); }
    [[nodiscard]] double time(std::size_t node, double load) const {
        return powers_.time(static_cast<Index>(node), load);
    }
    /// Every node with too much gives the fraction of its load that is too much, evenly along the tiles: a tile is
    /// given once the weight passed by makes it due.
    void give_round(const std::vector<TileIndex>& tiles) {
        const std::vector<double> start = loads_;
        std::vector<double> seen(loads_.size()), given(loads_.size());
        for (const auto tile : tiles) {
            const double weight = weights_[tile];
            const auto from = owner(tile);
            if (weight <= 0 || start[from] <= due_[from]) continue;
            seen[from] += weight;
            const double too_much = seen[from] * (start[from] - due_[from]) / start[from];
            if (given[from] + weight / 2 > too_much || loads_[from] - weight / 2 < due_[from]) continue;
            const Index to = neediest(tile);
            if (to < 0) continue;
            const auto receiver = static_cast<std::size_t>(to);
            if (loads_[receiver] + weight / 2 > due_[receiver]) continue;
            move(tile, to);
            given[from] += weight;
        }
    }
    /// Last, whatever single move lowers the larger of two loads, from the most loaded nodes.
    void settle(const std::vector<TileIndex>& tiles) {
        std::vector<std::vector<TileIndex>> owned(loads_.size());
        for (const auto tile : tiles)
            if (weights_[tile] > 0) owned[owner(tile)].push_back(tile);
        for (std::size_t attempt = 0; attempt < 4 * loads_.size(); ++attempt) {
            const std::size_t from = busiest();
            TileIndex best{-1, -1};
            Index receiver = -1;
            double least = time(from, loads_[from]);
            for (const auto tile : owned[from]) {
                if (owner(tile) != from) continue;
                const Index to = neediest(tile);
                if (to < 0) continue;
                const auto its = static_cast<std::size_t>(to);
                const double larger =
                    std::max(time(from, loads_[from] - weights_[tile]), time(its, loads_[its] + weights_[tile]));
                if (larger >= least) continue;
                least = larger;
                best = tile;
                receiver = to;
            }
            if (receiver < 0) return;
            move(best, receiver);
            owned[static_cast<std::size_t>(receiver)].push_back(best);
        }
    }
    [[nodiscard]] std::size_t busiest() const {
        std::size_t busiest = 0;
        for (std::size_t node = 1; node < loads_.size(); ++node)
            if (time(node, loads_[node]) > time(busiest, loads_[busiest])) busiest = node;
        return busiest;
    }
    [[nodiscard]] Index neediest(TileIndex tile) const {
        Index best = -1;
        double least = time(owner(tile), loads_[owner(tile)]);
        const auto& row = rows_[static_cast<std::size_t>(tile.i) % rows_.size()];
        const auto& col = cols_[static_cast<std::size_t>(tile.j) % cols_.size()];
        row.for_each_common(col, [&](Index node) {
            const double its = powers_.time(node, loads_[static_cast<std::size_t>(node)]);
            if (its >= least) return;
            least = its;
            best = node;
        });
        return best;
    }
    void move(TileIndex tile, Index to) {
        loads_[owner(tile)] -= weights_[tile];
        loads_[static_cast<std::size_t>(to)] += weights_[tile];
        distribution_.set_owner(tile, NodeId{to});
    }
    [[nodiscard]] std::size_t owner(TileIndex tile) const {
        return static_cast<std::size_t>(distribution_.owner(tile).number());
    }

    const TileMap& weights_;
    const Powers& powers_;
    Distribution distribution_;
    std::vector<double> loads_;
    std::vector<double> due_;  ///< what each node should have
    std::vector<NodeSet> rows_, cols_;
};

/// Scheduling takes as long as there are tasks: 0.7 million of LU with so many rows.
constexpr Index most_scheduled_rows = 128;

struct Repaired {
    Distribution distribution;
    double score = 0;  ///< the less the better
};

void score_by_makespans(std::vector<Repaired>& repaired, const Workload& workload,
                        const std::vector<NodeTimes>& nodes) {
    const std::vector<StepTask> order = by_longest_path(workload);
    for (auto& [distribution, score] : repaired)
        score = step_makespan(distribution, workload, nodes) + step_makespan(distribution, workload, nodes, order);
}

}  // namespace

Distribution hybrid_pattern(const Workload& workload, const HybridPattern& options) {
    const TileMap weights = tile_weights(workload);
    if (options.patterns < 1)
        throw Error("the hybrid needs at least one pattern to repair; it has {}", options.patterns);
    if (weights.grid().count() == 0) return {weights.grid(), options.nodes, {}};
    const Index limit = line_limit(options.nodes, options.alpha);
    const Powers powers(options.nodes, options.powers);
    const auto tiles = by_step(weights.grid());
    std::vector<Repaired> repaired;
    for (const auto& candidate : best_patterns(weights, options, powers)) {
        Repair repair(weights, candidate.pattern, limit, powers);
        repair.run(tiles);
        const double load = summarise_loads(node_loads(repair.distribution(), weights), options.powers).max_over_ideal;
        repaired.push_back(
            {repair.distribution(),
             load + options.regularity * step_imbalance(repair.distribution(), workload, options.powers)});
    }
    std::ranges::stable_sort(repaired, {}, &Repaired::score);
    const bool scheduled =
        workload.operation != Operation::product && weights.grid().rows <= most_scheduled_rows && options.scheduled > 1;
    if (!scheduled) return std::move(repaired.front().distribution);
    repaired.resize(std::min(repaired.size(), static_cast<std::size_t>(options.scheduled)));
    score_by_makespans(repaired, workload, times_by_power(workload.costs, options.nodes, options.powers));
    return std::move(std::ranges::min_element(repaired, {}, &Repaired::score)->distribution);
}

}  // namespace tesela
