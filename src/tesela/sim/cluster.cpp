#include "tesela/sim/internal/cluster.hpp"

#include "tesela/base/error.hpp"

namespace tesela {
namespace sim {
namespace {

std::vector<Place> places_of_type(const NodeType& type, CriticalWorker critical) {
    std::vector<Place> places;
    std::int32_t worker = 0;
    std::int32_t memory = 0;
    for (std::size_t g = 0; g < type.workers.size(); ++g) {
        const WorkerGroup& group = type.workers[g];
        const bool gpu = group.processor == Processor::gpu;
        Place place{.group = g,
                    .processor = group.processor,
                    .slots = static_cast<std::int32_t>(gpu ? group.streams : group.count),
                    .memory_bytes = group.memory,
                    .host_bandwidth = group.host_bandwidth};
        for (Index d = 0; d < (gpu ? group.count : 1); ++d) {
            place.first_worker = worker;
            place.memory = gpu ? ++memory : 0;
            worker += place.slots;
            places.push_back(place);
        }
    }
    if (places.size() > 32) throw Error("node type \"{}\" has {} GPUs; at most 31 can be simulated", type.name, memory);
    if (!has_critical_worker(critical, type)) return places;
    for (Place& place : places) {
        if (place.is_gpu()) continue;
        place.critical_slots = 1;
        place.first_critical = worker;
        break;
    }
    return places;
}

}  // namespace

Cluster::Cluster(const Platform& described, CriticalWorker critical) : platform(described) {
    for (std::size_t t = 0; t < described.node_types.size(); ++t) {
        places.push_back(places_of_type(described.node_types[t], critical));
        type_of_node.insert(type_of_node.end(), static_cast<std::size_t>(described.node_types[t].count), t);
    }
}

std::size_t Cluster::workers_of(std::int32_t node) const {
    std::int32_t workers = 0;
    for (const Place& place : places_of(node)) workers += place.slots;
    return static_cast<std::size_t>(workers);
}

}  // namespace sim

bool has_critical_worker(CriticalWorker wanted, const NodeType& type) {
    Index cores = 1;  // that of submission, which is beside those of a platform
    for (const WorkerGroup& group : type.workers)
        if (group.processor == Processor::cpu) cores += group.count;
    return has_critical_worker(wanted, cores);
}

std::vector<SimulatedWorker> simulated_workers(const NodeType& type, CriticalWorker critical) {
    std::vector<SimulatedWorker> workers;
    Index cards = 0;
    for (std::size_t g = 0; g < type.workers.size(); ++g) {
        const WorkerGroup& group = type.workers[g];
        const bool gpu = group.processor == Processor::gpu;
        for (Index d = 0; d < group.count; ++d) {
            const Index card = gpu ? cards++ : -1;
            for (Index s = 0; s < (gpu ? group.streams : 1); ++s)
                workers.push_back({gpu && group.streams > 1 ? fmt::format("{} {}.{}", group.name, d, s)
                                                            : fmt::format("{} {}", group.name, d),
                                   group.processor, g, card});
        }
    }
    if (!has_critical_worker(critical, type)) return workers;
    for (std::size_t g = 0; g < type.workers.size(); ++g) {
        if (type.workers[g].processor == Processor::gpu) continue;
        workers.push_back({"critical", Processor::cpu, g});
        break;
    }
    return workers;
}

}  // namespace tesela
