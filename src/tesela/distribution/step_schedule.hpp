#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tesela {

/// How long the kernels take on one node for a full tile, in any unit: a tile of density d takes d times as long.
struct NodeTimes {
    KernelCosts shared;  ///< what a call takes of the node's time if all its workers are busy: 1 / (calls per second)
    KernelCosts alone;   ///< what a call takes at least: on the node's fastest worker
};

/// Nodes of one worker that take costs / power; equal powers when none are given. Throws Error where there are neither
/// none nor as many powers as nodes.
[[nodiscard]] std::vector<NodeTimes> times_by_power(const KernelCosts& costs, Index nodes,
                                                    std::span<const double> powers = {});

/// What each node's tasks take of its time: Σ density·shared. With times_by_power it is load / power.
[[nodiscard]] std::vector<double> node_times(const Distribution& distribution, const Workload& workload,
                                             std::span<const NodeTimes> nodes);

/// The least time in which the nodes could do all the work if it could be divided among them at will: with
/// times_by_power all work / all power. (For four kinds of nodes or more it may be a little less.)
[[nodiscard]] double ideal_time(const Workload& workload, std::span<const NodeTimes> nodes);

/// The makespan without communication of nodes that divide themselves freely among their tasks.
///
/// Task (i, j, k) is what step k does to tile (i, j). It is ready when what it needs has ended: step k - 1 of the same
/// tile, the factor (k, k) for a solve, the two solved tiles of row i and column j for an update. A node works on the
/// most urgent of its ready tasks, that with the least i + j + k (then k, then j): the order of the algorithms'
/// priorities. A task gives way to a more urgent one, needs shared·density of the node's time, and ends
///     end = max( ready + alone·density, when the node has spent that much on it ),
/// so that a chain of updates of one tile takes its time however many workers the node has. As tasks need only such as
/// are more urgent, each is placed once and for all into the earliest time that those before it have left of its node:
/// there is no simulation of events, and a task takes some tens of nanoseconds.
///
/// The tasks of a product wait for nothing but their own tile: max over nodes of their time and of the longest chain.
///
/// Never below the largest of node_times, nor below ideal_time.
[[nodiscard]] double step_makespan(const Distribution& distribution, const Workload& workload,
                                   std::span<const NodeTimes> nodes);

/// What step k does to a tile.
struct StepTask {
    std::int32_t i = 0;
    std::int32_t j = 0;
    std::int32_t k = 0;
};

/// The tasks of a factorization by the longest path from each to the end, itself included, with the workload's costs:
/// the urgency of paper 001 (section 3.5), longest first. Throws Error for a product.
[[nodiscard]] std::vector<StepTask> by_longest_path(const Workload& workload);

/// The same makespan of a factorization with another urgency: `order` has every task once, behind those that it needs.
/// With by_longest_path and nodes of one worker it is paper 001's 𝔇.
[[nodiscard]] double step_makespan(const Distribution& distribution, const Workload& workload,
                                   std::span<const NodeTimes> nodes, std::span<const StepTask> order);

}  // namespace tesela
