#pragma once

#include "tesela/flow/engine.hpp"

#include <numeric>
#include <vector>

namespace tesela {

/// The nodes that a program runs on, as far as decisions depend on them: a value, the same on every node.
struct Machine {
    std::vector<int> workers{1};  ///< that compute, by node
    /// Nodes that have one more worker, for critical tasks alone (CriticalWorker).
    Index critical_workers = 0;

    [[nodiscard]] Index nodes() const { return static_cast<Index>(workers.size()); }
    [[nodiscard]] Index total_workers() const { return std::accumulate(workers.begin(), workers.end(), Index{0}); }
};

/// Of the nodes of an engine; every node calls it at the same point.
[[nodiscard]] inline Machine machine_of(Engine& engine) {
    const std::vector<Index> critical = engine.gather(Index{engine.has_critical_worker() ? 1 : 0});
    return {.workers = engine.gather(engine.worker_count()),
            .critical_workers = std::accumulate(critical.begin(), critical.end(), Index{0})};
}

}  // namespace tesela
