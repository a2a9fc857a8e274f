#include "tesela/sim/internal/allocations.hpp"

#include <algorithm>

namespace tesela::sim {

Allocations::Allocations(const Cluster& cluster, const AllocationCosts& costs, Copies& copies, Memories& memories)
    : costs_(costs),
      copies_(copies),
      memories_(memories),
      free_from_(cluster.nodes(), 0) {
    for (std::size_t node = 0; node < cluster.nodes(); ++node)
        pins_.push_back(std::ranges::any_of(cluster.places_of(static_cast<std::int32_t>(node)), &Place::is_gpu));
    if (costs.policy == MemoryPolicy::at_submission) memories.charge_gpus(costs.on_gpu);
}

/// Memory for a copy that has none yet, and its price.
double Allocations::get(std::uint32_t number) {
    const Copy& copy = copies_[number];
    if (copy.allocated) return 0;
    const bool pinned = pins_[static_cast<std::size_t>(copy.node)];
    const bool again = costs_.policy == MemoryPolicy::ahead && memories_.has_been_used(copy.node, copy.bytes);
    memories_.allocate(number);
    return pinned && !again ? costs_.pinned(copy.bytes) : 0;
}

double Allocations::seconds_to_submit(const SubmissionStep& step, std::int32_t node) {
    if (costs_.policy != MemoryPolicy::at_submission || !step.has_vertex()) return 0;
    double seconds = 0;
    for (const Use& use : section_->uses_of(section_->vertices[step.vertex]))
        if (writes(use.mode) && copies_[use.copy].node == node) seconds += get(use.copy);
    return seconds;
}

double Allocations::ready_to_receive(std::uint32_t message, double now) {
    if (costs_.policy != MemoryPolicy::ahead) return now;
    const Vertex& vertex = section_->vertices[message];
    const double seconds = get(section_->uses_of(vertex).back().copy);
    if (seconds == 0) return now;
    double& free_from = free_from_[static_cast<std::size_t>(vertex.to)];
    return free_from = std::max(now, free_from) + seconds;
}

}  // namespace tesela::sim
