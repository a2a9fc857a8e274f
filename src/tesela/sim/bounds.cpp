#include "tesela/sim/internal/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::sim {
namespace {

/// The tasks of one node by kind of work, and its kinds of workers.
struct NodeLoad {
    std::vector<double> counts;                // tasks of each kind of work, weighted by their noise
    std::vector<std::vector<double>> seconds;  // of each kind of work on each kind of worker
    std::vector<double> workers;               // of each kind
};

/// Σ_v min_g y_g·d_vg, with shares s_g = n_g·y_g that add up to 1.
double bound_for(const NodeLoad& load, const std::vector<double>& shares) {
    double total = 0;
    for (std::size_t w = 0; w < load.counts.size(); ++w) {
        double least = Durations::never;
        for (std::size_t g = 0; g < shares.size(); ++g)
            if (load.seconds[w][g] < Durations::never)
                least = std::min(least, shares[g] / load.workers[g] * load.seconds[w][g]);
        total += load.counts[w] * least;
    }
    return total;
}

/// Moves share between two kinds to where the bound, a concave function, is largest: golden-section search.
void balance(const NodeLoad& load, std::vector<double>& shares, std::size_t a, std::size_t b) {
    const double sum = shares[a] + shares[b];
    const auto at = [&](double part) {
        shares[a] = part;
        shares[b] = sum - part;
        return bound_for(load, shares);
    };
    constexpr double golden = 0.6180339887498949;
    double low = 0;
    double high = sum;
    for (int step = 0; step < 60; ++step) {
        const double left = high - golden * (high - low);
        const double right = low + golden * (high - low);
        if (at(left) < at(right))
            low = left;
        else
            high = right;
    }
    at((low + high) / 2);
}

double node_bound(const NodeLoad& load) {
    const std::size_t kinds = load.workers.size();
    std::vector<double> shares(kinds, 1.0 / static_cast<double>(kinds));
    double best = bound_for(load, shares);
    for (int round = 0; round < (kinds > 2 ? 8 : 1); ++round)
        for (std::size_t a = 0; a < kinds; ++a)
            for (std::size_t b = a + 1; b < kinds; ++b) {
                balance(load, shares, a, b);
                best = std::max(best, bound_for(load, shares));
            }
    return best;
}

}  // namespace

double area_bound(const Section& section, const Cluster& cluster, const Durations& durations) {
    const std::size_t nodes = cluster.nodes();
    std::vector<std::vector<double>> counts(nodes, std::vector<double>(durations.kinds(), 0));
    for (const Vertex& vertex : section.vertices)
        if (!vertex.message()) counts[static_cast<std::size_t>(vertex.node)][vertex.work] += vertex.noise;
    double bound = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
        const std::size_t type = cluster.type_of_node[node];
        const std::size_t groups = cluster.platform.node_types[type].workers.size();
        NodeLoad load{.workers = std::vector<double>(groups, 0)};
        for (const Place& place : cluster.places[type]) load.workers[place.group] += place.capacity();
        for (std::uint32_t w = 0; w < durations.kinds(); ++w) {
            if (counts[node][w] == 0) continue;
            load.counts.push_back(counts[node][w]);
            load.seconds.emplace_back();
            for (std::size_t g = 0; g < groups; ++g) load.seconds.back().push_back(durations.seconds(w, type, g));
        }
        bound = std::max(bound, node_bound(load));
    }
    return bound;
}

}  // namespace tesela::sim
