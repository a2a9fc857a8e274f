#include "tesela/sim/internal/commuting_locks.hpp"

namespace tesela::sim {

bool CommutingLocks::take(std::uint32_t task) {
    for (const Use& use : uses_of(task))
        if (use.mode == AccessMode::commute && copies_[use.copy].locked) {
            waiters_[use.copy].push({section_->vertices[task].priority, task});
            return false;
        }
    for (const Use& use : uses_of(task))
        if (use.mode == AccessMode::commute) copies_[use.copy].locked = true;
    return true;
}

std::span<const std::uint32_t> CommutingLocks::give_back(std::uint32_t task) {
    served_.clear();
    for (const Use& use : uses_of(task))
        if (use.mode == AccessMode::commute) copies_[use.copy].locked = false;
    for (const Use& use : uses_of(task))
        if (use.mode == AccessMode::commute) serve_waiters(use.copy);
    return served_;
}

/// The first that gets all its locks; others wait for another tile from now on.
void CommutingLocks::serve_waiters(std::uint32_t copy) {
    while (!copies_[copy].locked) {
        const auto waiters = waiters_.find(copy);
        if (waiters == waiters_.end()) return;
        const std::uint32_t next = waiters->second.top().vertex;
        waiters->second.pop();
        if (waiters->second.empty()) waiters_.erase(waiters);
        if (take(next)) served_.push_back(next);
    }
}

}  // namespace tesela::sim
