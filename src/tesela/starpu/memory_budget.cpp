#include "tesela/starpu/internal/memory_budget.hpp"

#include "tesela/base/units.hpp"
#include "tesela/flow/engine.hpp"

#include <algorithm>

namespace tesela::starpu {

void MemoryBudget::reserve(const std::string& matrix, const Reservation& wanted) {
    const std::lock_guard lock(mutex_);
    for (std::size_t node = 0; node < bytes_.size(); ++node) {
        const double free = bytes_[node] - reserved_[node];
        if (wanted[node] > free)
            throw DoesNotFit(
                "matrix {} does not fit: node {} needs {} for its tiles and has {} available. Use more nodes, or "
                "a smaller matrix.",
                matrix, node, format_bytes(wanted[node]), format_bytes(std::max(0.0, free)));
    }
    for (std::size_t node = 0; node < bytes_.size(); ++node) reserved_[node] += wanted[node];
}

void MemoryBudget::release(const Reservation& reservation) {
    const std::lock_guard lock(mutex_);
    for (std::size_t node = 0; node < reservation.size(); ++node) reserved_[node] -= reservation[node];
}

bool MemoryBudget::move(Reservation& reservation, const TileMove& tile) {
    const auto change = [&](const std::optional<NodeId>& where, double by) {
        if (!where) return;
        const auto node = static_cast<std::size_t>(where->number());
        reservation[node] += by;
        reserved_[node] += by;
    };
    const std::lock_guard lock(mutex_);
    if (tile.to) {
        const auto there = static_cast<std::size_t>(tile.to->number());
        if (reserved_[there] + tile.bytes > bytes_[there]) return false;
    }
    change(tile.from, -tile.bytes);
    change(tile.to, tile.bytes);
    return true;
}

bool MemoryBudget::take_copies(Index bytes) {
    const Index held = copies_ += bytes;
    return my_reserved() + static_cast<double>(held) <= my_bytes();
}

double MemoryBudget::my_reserved() const {
    const std::lock_guard lock(mutex_);
    return reserved_[me_];
}

}  // namespace tesela::starpu
