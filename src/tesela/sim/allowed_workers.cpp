#include "tesela/sim/internal/allowed_workers.hpp"

#include <algorithm>
#include <functional>

namespace tesela::sim {

AllowedWorkers::AllowedWorkers(const WorkerSet& workers, std::size_t of_node) {
    if (workers.empty()) return;
    allowed_.assign(of_node, false);
    for (const int worker : workers)
        if (static_cast<std::size_t>(worker) < of_node) allowed_[static_cast<std::size_t>(worker)] = true;
}

bool AllowedWorkers::has_any_of(const Place& place) const {
    for (std::int32_t slot = 0; slot < place.slots; ++slot)
        if (has(place.first_worker + slot)) return true;
    return false;
}

FreeWorkers::FreeWorkers(std::int32_t first, std::int32_t count) {
    for (std::int32_t worker = first + count; worker-- > first;) numbers_.push_back(worker);
}

std::size_t FreeWorkers::find(const AllowedWorkers& allowed) const {
    for (std::size_t k = numbers_.size(); k-- > 0;)
        if (allowed.has(numbers_[k])) return k;
    return numbers_.size();
}

std::optional<std::int32_t> FreeWorkers::take(const AllowedWorkers& allowed) {
    const std::size_t k = find(allowed);
    if (k == numbers_.size()) return {};
    const std::int32_t worker = numbers_[k];
    numbers_.erase(numbers_.begin() + static_cast<std::ptrdiff_t>(k));
    return worker;
}

void FreeWorkers::give_back(std::int32_t worker) {
    numbers_.insert(std::lower_bound(numbers_.begin(), numbers_.end(), worker, std::greater<>()), worker);
}

}  // namespace tesela::sim
