#pragma once

#include "tesela/sim/allocation_costs.hpp"
#include "tesela/sim/internal/memories.hpp"

#include <cstdint>
#include <vector>

namespace tesela::sim {

/// When tiles get main memory, and how long that takes whom.
class Allocations {
public:
    Allocations(const Cluster& cluster, const AllocationCosts& costs, Copies& copies, Memories& memories);

    /// What comes from now on is of this section.
    void begin(const Section& section) { section_ = &section; }
    /// Seconds that a node needs for memory before it submits a step, asked once.
    [[nodiscard]] double seconds_to_submit(const SubmissionStep& step, std::int32_t node);
    /// When there is memory for what a message brings, asked once.
    [[nodiscard]] double ready_to_receive(std::uint32_t message, double now);

private:
    [[nodiscard]] double get(std::uint32_t copy);

    const AllocationCosts& costs_;
    Copies& copies_;
    Memories& memories_;
    std::vector<bool> pins_;         // per node
    std::vector<double> free_from_;  // per node: when what gets memory for messages has done so
    const Section* section_ = nullptr;
};

}  // namespace tesela::sim
