#include "tesela/sim/internal/gpu_memory.hpp"

namespace tesela::sim {

/// Neither among the unused nor among those that leave.
void GpuMemory::stop_waiting(const Resident& resident) {
    if (resident.leaves)
        leaving_ -= resident.bytes;
    else if (resident.pins == 0)
        unused_.erase(resident.in_line);
}

bool GpuMemory::pin(std::uint32_t copy) {
    const auto entry = residents_.find(copy);
    if (entry == residents_.end()) return false;
    stop_waiting(entry->second);
    entry->second.leaves = false;
    ++entry->second.pins;
    return true;
}

void GpuMemory::add(std::uint32_t copy, double bytes) {
    residents_[copy] = {.bytes = bytes, .pins = 1};
    free_ -= bytes;
}

void GpuMemory::unpin(std::uint32_t copy) {
    const auto entry = residents_.find(copy);
    if (entry == residents_.end() || --entry->second.pins > 0) return;
    entry->second.in_line = unused_.insert(unused_.end(), copy);
}

std::optional<std::uint32_t> GpuMemory::oldest() const {
    if (unused_.empty()) return {};
    return unused_.front();
}

void GpuMemory::leave(std::uint32_t copy) {
    Resident& resident = residents_.at(copy);
    unused_.erase(resident.in_line);
    resident.leaves = true;
    leaving_ += resident.bytes;
}

bool GpuMemory::leaves(std::uint32_t copy) const {
    const auto entry = residents_.find(copy);
    return entry != residents_.end() && entry->second.leaves;
}

double GpuMemory::drop(std::uint32_t copy) {
    const auto entry = residents_.find(copy);
    stop_waiting(entry->second);
    const double bytes = entry->second.bytes;
    residents_.erase(entry);
    free_ += bytes;
    return bytes;
}

}  // namespace tesela::sim
