#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/flow/stream.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tesela {

/// Whether a task that is running gives way to a more urgent one and goes on later, as in paper 001.
enum class Preemption : std::uint8_t { allowed, none };

/// How good an allocation is by paper 001 (§3.5), before any communication: a recorded operation whose tasks take
/// d(i, j)·C(kernel), the density of the tile they write times the cost of the kernel, on nodes that run one task at a
/// time. The unit is that of Workload::costs.
class AllocationMetrics {
public:
    /// The recording is of the workload's operation, and outlives this. Throws Error if their tiles differ.
    AllocationMetrics(const Recording& recording, const Workload& workload);

    /// What each item takes; 0 for what is not one of the operation's kernels.
    [[nodiscard]] const std::vector<double>& durations() const { return durations_; }
    /// The longest chain of tasks from each item to the end, itself included: its priority.
    [[nodiscard]] const std::vector<double>& priorities() const { return priorities_; }
    [[nodiscard]] double critical_path() const;
    /// All work divided by the nodes: what 𝔅, 𝔇 and ℭ are compared with.
    [[nodiscard]] double ideal(Index nodes) const;

    /// 𝔅: the largest load of a node.
    [[nodiscard]] double load(const Distribution& distribution) const;
    /// 𝔇: the time with dependencies and without communication, each node running its ready tasks by priority.
    [[nodiscard]] double dependency_makespan(const Distribution& distribution, Preemption preemption) const;

private:
    /// Where each item runs: the owner of the first tile it writes.
    [[nodiscard]] std::vector<std::int32_t> places(const Distribution& distribution) const;

    const Recording& recording_;
    std::vector<double> durations_;
    std::vector<double> priorities_;
    std::vector<std::uint32_t> waits_for_;
    std::vector<std::uint32_t> first_successor_, successors_;
};

/// What paper 001's ℭ needs and the paper does not give: how long the unit of Workload::costs is, and the network. By
/// default a full tile is 960 x 960 doubles, a product of full tiles (6 units) runs at 1 TFLOP/s, and interfaces have
/// 100 Gb/s: a full tile travels in a third of the time that it takes to multiply two of them.
struct CommunicationModel {
    Index tile = 960;
    double flops = 1e12;        ///< of a node in a product of full tiles
    double bandwidth = 12.5e9;  ///< bytes/s of each interface, each way
    double latency = 2e-6;      ///< seconds of each interface: a message has those of two

    /// Seconds of one unit.
    [[nodiscard]] double unit(const KernelCosts& costs) const;
};

/// ℭ: the makespan with communication, in the unit of Workload::costs. Nodes run one task at a time, tasks take as long
/// as for 𝔇, low-rank tiles travel as U and V, and messages contend for interfaces as the port model has it. `submit`
/// submits the operation's stream for this tiling, and waits for it.
[[nodiscard]] double communication_makespan(const Workload& workload, Index nodes, const CommunicationModel& model,
                                            const std::function<void(Stream&, const Tiling&)>& submit);

}  // namespace tesela
