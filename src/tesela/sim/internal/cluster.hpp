#pragma once

#include "tesela/platform/platform.hpp"
#include "tesela/sim/schedule.hpp"

#include <cstdint>
#include <vector>

namespace tesela::sim {

/// Where tasks of a node run and share a memory: all cores of a group together, or one GPU. A GPU runs as many kernels
/// at a time as it has streams; they share it equally, so that its rate is that of one kernel alone.
struct Place {
    std::size_t group = 0;  ///< in NodeType::workers
    Processor processor = Processor::cpu;
    std::int32_t slots = 1;
    std::int32_t critical_slots = 0;
    std::int32_t first_worker = 0;
    std::int32_t first_critical = 0;
    std::int32_t memory = 0;  ///< 0 is main memory, then GPU by GPU
    double memory_bytes = 0;
    double host_bandwidth = 0;

    [[nodiscard]] bool is_gpu() const { return processor == Processor::gpu; }
    /// What it can do at a time, in kernels at full rate.
    [[nodiscard]] double capacity() const { return is_gpu() ? 1.0 : static_cast<double>(slots + critical_slots); }
};

/// A platform with its nodes spelt out.
struct Cluster {
    Cluster(const Platform& platform, CriticalWorker critical);

    const Platform& platform;
    std::vector<std::vector<Place>> places;  ///< per node type
    std::vector<std::size_t> type_of_node;

    [[nodiscard]] std::size_t nodes() const { return type_of_node.size(); }
    [[nodiscard]] const NodeType& type(std::int32_t node) const {
        return platform.node_types[type_of_node[static_cast<std::size_t>(node)]];
    }
    /// How many workers a node has, critical ones aside: they are numbered from 0.
    [[nodiscard]] std::size_t workers_of(std::int32_t node) const;
    [[nodiscard]] const std::vector<Place>& places_of(std::int32_t node) const {
        return places[type_of_node[static_cast<std::size_t>(node)]];
    }
};

}  // namespace tesela::sim
