#include "tesela/sim/internal/bounds.hpp"

#include "tesela/base/fractional_load.hpp"

#include <algorithm>
#include <vector>

namespace tesela::sim {
double area_bound(const Section& section, const Cluster& cluster, const Durations& durations) {
    const std::size_t nodes = cluster.nodes();
    std::vector<std::vector<double>> counts(nodes, std::vector<double>(durations.kinds(), 0));
    for (const Vertex& vertex : section.vertices)
        if (!vertex.message()) counts[static_cast<std::size_t>(vertex.node)][vertex.work] += vertex.noise;
    double bound = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::size_t type = cluster.type_of_node[node];
        const std::size_t groups = cluster.platform.node_types[type].workers.size();
        FractionalLoad load{.machines = std::vector<double>(groups, 0)};
        for (const Place& place : cluster.places[type]) load.machines[place.group] += place.capacity();
        for (std::uint32_t w = 0; w < durations.kinds(); ++w) {
            if (counts[node][w] == 0) continue;
            load.amounts.push_back(counts[node][w]);
            load.seconds.emplace_back();
            for (std::size_t g = 0; g < groups; ++g) load.seconds.back().push_back(durations.seconds(w, type, g));
        }
        bound = std::max(bound, least_seconds(load));
    }
    return bound;
}

}  // namespace tesela::sim
