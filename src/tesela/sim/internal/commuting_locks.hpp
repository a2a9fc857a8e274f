#pragma once

#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/vertex_queue.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tesela::sim {

/// Commuting tasks on one tile run in any order, but one at a time: a task takes the locks of all tiles that it
/// commutes on, or none and waits.
class CommutingLocks {
public:
    explicit CommutingLocks(Copies& copies) : copies_(copies) {}

    void begin(const Section& section) { section_ = &section; }
    [[nodiscard]] bool take(std::uint32_t task);
    /// The task has ended. Those that have their locks now, in order; valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> give_back(std::uint32_t task);

private:
    [[nodiscard]] std::span<const Use> uses_of(std::uint32_t task) const {
        return section_->uses_of(section_->vertices[task]);
    }
    void serve_waiters(std::uint32_t copy);

    Copies& copies_;
    const Section* section_ = nullptr;
    std::unordered_map<std::uint32_t, VertexQueue> waiters_;  // by copy
    std::vector<std::uint32_t> served_;
};

}  // namespace tesela::sim
