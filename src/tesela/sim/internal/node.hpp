#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/limited_resources.hpp"
#include "tesela/sim/internal/timers.hpp"
#include "tesela/sim/internal/vertex_queue.hpp"

#include <cstdint>
#include <vector>

namespace tesela::sim {

/// Tasks of a stream that some places of a node may take, and whether they are critical.
struct ReadyQueue {
    std::uint32_t places = 0;  ///< bit by bit
    Urgency urgency = Urgency::ordinary;
    std::uint16_t stream = 0;
    VertexQueue tasks{};
};

/// What goes on in a place.
struct PlaceState {
    const Place* place = nullptr;
    double load = 0;  ///< expected seconds of what is queued or staged
    std::int32_t queued = 0;
    std::int32_t staged = 0;
    std::vector<std::int32_t> free_slots{};  ///< numbers of free workers, the least last
    std::vector<std::int32_t> free_critical{};
    VertexQueue complete[2]{};  ///< staged with all their data, by urgency

    /// Kernels that share a GPU.
    struct Running {
        std::uint32_t vertex = 0;
        double left = 0;  ///< seconds at full rate
    };
    std::vector<Running> running{};
    double updated = 0;
    std::uint32_t epoch = 0;
    double busy = 0;
    /// Of cores: how many are busy, and the sum of the times when they end.
    std::int32_t working = 0;
    double ends = 0;
};

/// Workers of a node that a stream may use, by number; all while it is empty.
class AllowedWorkers {
public:
    AllowedWorkers() = default;
    AllowedWorkers(const WorkerSet& workers, std::size_t of_node);
    [[nodiscard]] bool all() const { return allowed_.empty(); }
    [[nodiscard]] bool has(std::int32_t worker) const { return all() || allowed_[static_cast<std::size_t>(worker)]; }
    [[nodiscard]] bool has_any_of(const Place& place) const;
    /// Position of the free worker with the least number that is allowed (they are in falling order); the size if none.
    [[nodiscard]] std::size_t find_in(const std::vector<std::int32_t>& free_workers) const;

private:
    std::vector<bool> allowed_;
};

/// What goes on on a node.
struct NodeState {
    std::vector<PlaceState> places{};
    std::vector<ReadyQueue> queues{};
    std::int32_t lookahead = 0;
    bool touched = false;

    LimitedResources resources{};
    std::vector<AllowedWorkers> allowed{};  ///< per stream
};

}  // namespace tesela::sim
