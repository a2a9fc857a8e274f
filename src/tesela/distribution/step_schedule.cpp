#include "tesela/distribution/step_schedule.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/fractional_load.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace tesela {
namespace {

using CostMember = double KernelCosts::*;
constexpr std::array<CostMember, 4> all_kernels{&KernelCosts::factor, &KernelCosts::solve,
                                                &KernelCosts::symmetric_update, &KernelCosts::update};

void require_fit(const Distribution& distribution, const Workload& workload, std::span<const NodeTimes> nodes) {
    const GridSize a = distribution.grid(), b = workload.density.grid();
    if (a != b) throw Error("grids of {}x{} and {}x{} tiles do not match", a.rows, a.cols, b.rows, b.cols);
    if (workload.operation != Operation::product && a.rows != a.cols)
        throw Error("a grid of {}x{} tiles cannot be factored: it must be square", a.rows, a.cols);
    if (static_cast<Index>(nodes.size()) != distribution.nodes())
        throw Error("times of {} nodes do not fit a distribution on {}", nodes.size(), distribution.nodes());
}

/// What a step that is not the last does to a tile.
CostMember updating(Operation operation, TileIndex tile) {
    return operation == Operation::cholesky && tile.i == tile.j ? &KernelCosts::symmetric_update : &KernelCosts::update;
}
/// What the last step of a factorization does to a tile.
CostMember finishing(TileIndex tile) { return tile.i == tile.j ? &KernelCosts::factor : &KernelCosts::solve; }

/// Calls of each kernel that the whole operation makes on a tile.
KernelCosts calls_on(const Workload& workload, TileIndex tile) {
    KernelCosts calls{0, 0, 0, 0};
    const Operation operation = workload.operation;
    if (!is_stored(tile, stored_tiles(operation))) return calls;
    if (operation == Operation::product) {
        calls.update = static_cast<double>(workload.density.grid().cols);
        return calls;
    }
    calls.*updating(operation, tile) = static_cast<double>(std::min(tile.i, tile.j));
    calls.*finishing(tile) = 1;
    return calls;
}

double times(const KernelCosts& calls, const KernelCosts& each) {
    double sum = 0;
    for (const CostMember kernel : all_kernels) sum += calls.*kernel * each.*kernel;
    return sum;
}

template <class Visit>
void for_each_tile(GridSize grid, Visit visit) {
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) visit(TileIndex{i, j});
}

/// Calls of each kernel, full tiles counting as one.
KernelCosts all_calls(const Workload& workload) {
    KernelCosts calls{0, 0, 0, 0};
    for_each_tile(workload.density.grid(), [&](TileIndex tile) {
        const KernelCosts here = calls_on(workload, tile);
        for (const CostMember kernel : all_kernels) calls.*kernel += workload.density[tile] * here.*kernel;
    });
    return calls;
}

/// How many times as fast a node is as another for a kernel.
double speed(const NodeTimes& node, const NodeTimes& other, CostMember kernel) {
    return other.shared.*kernel / node.shared.*kernel;
}

/// The time of a node that no task has taken yet.
class FreeTime {
public:
    /// Takes the earliest `amount` from `ready` on; says when it is used up.
    double take(double ready, double amount) {
        auto gap = std::ranges::upper_bound(gaps_, ready, {}, &Gap::end);
        while (amount > 0) {
            const double start = std::max(gap->start, ready);
            const double end = std::min(gap->end, start + amount);
            amount -= gap->end - start;
            gap = remove(gap, {start, end});
            ready = end;
        }
        return ready;
    }

private:
    struct Gap {
        double start = 0;
        double end = std::numeric_limits<double>::infinity();
    };
    using Gaps = std::vector<Gap>;

    /// Without `used`, which lies in the gap; returns the first gap behind it.
    Gaps::iterator remove(Gaps::iterator gap, const Gap& used) {
        const bool before = gap->start < used.start, after = used.end < gap->end;
        if (before && after) {
            const Gap left{gap->start, used.start};
            gap->start = used.end;
            return gaps_.insert(gap, left) + 1;
        }
        if (after) {
            gap->start = used.end;
            return gap;
        }
        if (!before) return gaps_.erase(gap);
        gap->end = used.start;
        return gap + 1;
    }

    Gaps gaps_{Gap{}};  // in order; the last has no end
};

/// The tasks of a factorization in the order of their urgency.
class StepPlacement {
public:
    StepPlacement(const Distribution& distribution, const Workload& workload, std::span<const NodeTimes> nodes)
        : distribution_(distribution),
          workload_(workload),
          nodes_(nodes),
          free_(nodes.size()),
          end_(workload.density.grid()) {}

    /// By wavefronts.
    void place_all() {
        const Index n = workload_.density.grid().rows;
        for (Index wave = 0; wave <= 3 * (n - 1); ++wave)
            for (Index k = 0; 3 * k <= wave; ++k)
                for (Index j = std::max(k, wave - k - (n - 1)); j <= std::min(n - 1, wave - 2 * k); ++j)
                    if (const TileIndex tile{wave - k - j, j}; is_stored(tile, stored_tiles(workload_.operation)))
                        place(tile, k);
    }
    void place_all(std::span<const StepTask> order) {
        for (const auto& [i, j, k] : order) place({i, j}, k);
    }
    [[nodiscard]] double makespan() const {
        return end_.values().empty() ? 0 : *std::ranges::max_element(end_.values());
    }

private:
    void place(TileIndex tile, Index k) {
        const bool last = k == std::min(tile.i, tile.j);
        const CostMember kernel = last ? finishing(tile) : updating(workload_.operation, tile);
        const auto node = static_cast<std::size_t>(distribution_.owner(tile).number());
        const double density = workload_.density[tile];
        const double ready = std::max(end_[tile], needed(tile, k));
        const double spent = free_[node].take(ready, density * nodes_[node].shared.*kernel);
        end_[tile] = std::max(spent, ready + density * nodes_[node].alone.*kernel);
    }
    /// When what step k reads of other tiles is there.
    [[nodiscard]] double needed(TileIndex tile, Index k) const {
        if (tile.i == k && tile.j == k) return 0;
        if (tile.i == k || tile.j == k) return end_[{k, k}];
        const TileIndex above =
            workload_.operation == Operation::cholesky ? TileIndex{tile.j, k} : TileIndex{k, tile.j};
        return std::max(end_[{tile.i, k}], end_[above]);
    }

    const Distribution& distribution_;
    const Workload& workload_;
    std::span<const NodeTimes> nodes_;
    std::vector<FreeTime> free_;
    TileMap end_;  // of the last task placed on each tile
};

/// Longest paths to the end, step by step from the last.
class LongestPaths {
public:
    explicit LongestPaths(const Workload& workload)
        : workload_(workload),
          path_(workload.density.grid()),
          behind_(static_cast<std::size_t>(workload.density.grid().rows)) {}

    /// Calls visit(tile, path) for the tasks of step k, which must be the one before the last that was asked for: each
    /// task before those that it needs.
    template <class Visit>
    void step(Index k, Visit visit) {
        const Index n = workload_.density.grid().rows;
        const bool lower = workload_.operation == Operation::cholesky;
        // The longest path through an update that reads solved tile (i, k), and for LU in `above_` (k, i).
        std::ranges::fill(behind_, 0.0);
        above_.assign(behind_.size(), 0.0);
        for (Index i = k + 1; i < n; ++i)
            for (Index j = k + 1; j < (lower ? i + 1 : n); ++j) {
                const double path = add(visit, {i, j}, updating(workload_.operation, {i, j}), path_[{i, j}]);
                raise(behind_, i, path);
                raise(lower ? behind_ : above_, j, path);
            }
        double behind_factor = 0;
        for (Index i = k + 1; i < n; ++i) {
            behind_factor = std::max(behind_factor, add(visit, {i, k}, &KernelCosts::solve, at(behind_, i)));
            if (!lower) behind_factor = std::max(behind_factor, add(visit, {k, i}, &KernelCosts::solve, at(above_, i)));
        }
        add(visit, {k, k}, &KernelCosts::factor, behind_factor);
    }

private:
    template <class Visit>
    double add(Visit& visit, TileIndex tile, CostMember kernel, double behind) {
        path_[tile] = behind + workload_.density[tile] * workload_.costs.*kernel;
        visit(tile, path_[tile]);
        return path_[tile];
    }
    static double at(const std::vector<double>& values, Index i) { return values[static_cast<std::size_t>(i)]; }
    static void raise(std::vector<double>& values, Index i, double value) {
        double& old = values[static_cast<std::size_t>(i)];
        old = std::max(old, value);
    }

    const Workload& workload_;
    TileMap path_;  // from the first task on each tile that has been visited
    std::vector<double> behind_, above_;
};

double product_makespan(const Distribution& distribution, const Workload& workload, std::span<const NodeTimes> nodes) {
    double longest = 0;
    for (const double time : node_times(distribution, workload, nodes)) longest = std::max(longest, time);
    for_each_tile(distribution.grid(), [&](TileIndex tile) {
        const auto& node = nodes[static_cast<std::size_t>(distribution.owner(tile).number())];
        longest = std::max(longest, workload.density[tile] * times(calls_on(workload, tile), node.alone));
    });
    return longest;
}

}  // namespace

std::vector<NodeTimes> times_by_power(const KernelCosts& costs, Index nodes, std::span<const double> powers) {
    if (!powers.empty() && static_cast<Index>(powers.size()) != nodes)
        throw Error("{} powers do not fit {} nodes", powers.size(), nodes);
    std::vector<NodeTimes> times(static_cast<std::size_t>(nodes), {costs, costs});
    for (std::size_t p = 0; p < powers.size(); ++p)
        for (const CostMember kernel : all_kernels)
            times[p].shared.*kernel = times[p].alone.*kernel = costs.*kernel / powers[p];
    return times;
}

std::vector<double> node_times(const Distribution& distribution, const Workload& workload,
                               std::span<const NodeTimes> nodes) {
    require_fit(distribution, workload, nodes);
    std::vector<double> sums(nodes.size());
    for_each_tile(distribution.grid(), [&](TileIndex tile) {
        const auto node = static_cast<std::size_t>(distribution.owner(tile).number());
        sums[node] += workload.density[tile] * times(calls_on(workload, tile), nodes[node].shared);
    });
    return sums;
}

double ideal_time(const Workload& workload, std::span<const NodeTimes> nodes) {
    const KernelCosts calls = all_calls(workload);
    std::vector<CostMember> kernels;
    for (const CostMember kernel : all_kernels)
        if (calls.*kernel > 0) kernels.push_back(kernel);
    if (kernels.empty()) return 0;
    FractionalLoad load{.amounts = {}, .seconds = std::vector<std::vector<double>>(kernels.size()), .machines = {}};
    for (const CostMember kernel : kernels) load.amounts.push_back(calls.*kernel);
    // Nodes that differ by a factor alone are one kind of machine: one twice as fast counts as two.
    std::vector<const NodeTimes*> kinds;
    for (const NodeTimes& node : nodes) {
        if (!std::isfinite(node.shared.*kernels.front())) continue;
        const auto like = std::ranges::find_if(kinds, [&](const NodeTimes* kind) {
            return std::ranges::all_of(kernels, [&](CostMember kernel) {
                return std::abs(speed(node, *kind, kernel) / speed(node, *kind, kernels.front()) - 1) < 1e-12;
            });
        });
        const auto number = static_cast<std::size_t>(like - kinds.begin());
        if (like == kinds.end()) {
            kinds.push_back(&node);
            load.machines.push_back(0);
            for (std::size_t w = 0; w < kernels.size(); ++w) load.seconds[w].push_back(node.shared.*kernels[w]);
        }
        load.machines[number] += speed(node, *kinds[number], kernels.front());
    }
    return least_seconds(load);
}

double step_makespan(const Distribution& distribution, const Workload& workload, std::span<const NodeTimes> nodes) {
    require_fit(distribution, workload, nodes);
    if (workload.operation == Operation::product) return product_makespan(distribution, workload, nodes);
    StepPlacement placement(distribution, workload, nodes);
    placement.place_all();
    return placement.makespan();
}

double step_makespan(const Distribution& distribution, const Workload& workload, std::span<const NodeTimes> nodes,
                     std::span<const StepTask> order) {
    require_fit(distribution, workload, nodes);
    StepPlacement placement(distribution, workload, nodes);
    placement.place_all(order);
    return placement.makespan();
}

std::vector<StepTask> by_longest_path(const Workload& workload) {
    if (workload.operation == Operation::product) throw Error("the tasks of a product have no path to the end");
    std::vector<StepTask> order;
    std::vector<double> length;
    LongestPaths paths(workload);
    for (Index k = workload.density.grid().rows - 1; k >= 0; --k)
        paths.step(k, [&](TileIndex tile, double path) {
            order.push_back(
                {static_cast<std::int32_t>(tile.i), static_cast<std::int32_t>(tile.j), static_cast<std::int32_t>(k)});
            length.push_back(path);
        });
    // From the last to the first, so that of equal paths (a task that takes no time) what is needed comes first.
    std::vector<std::uint32_t> rank(order.size());
    std::iota(rank.rbegin(), rank.rend(), 0U);
    std::ranges::stable_sort(rank, std::greater{}, [&](std::uint32_t t) { return length[t]; });
    std::vector<StepTask> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t t : rank) sorted.push_back(order[t]);
    return sorted;
}

}  // namespace tesela
