#include "tesela/sim/internal/gpu_memory.hpp"

namespace tesela::sim {

void GpuMemory::join_line(std::uint32_t copy) {
    residents_[copy].older = youngest_;
    residents_[copy].younger = nobody;
    (youngest_ == nobody ? oldest_ : residents_[youngest_].younger) = copy;
    youngest_ = copy;
}

void GpuMemory::quit_line(std::uint32_t copy) {
    const Resident& resident = residents_[copy];
    (resident.older == nobody ? oldest_ : residents_[resident.older].younger) = resident.younger;
    (resident.younger == nobody ? youngest_ : residents_[resident.younger].older) = resident.older;
}

/// Neither among the unused nor among those that leave.
void GpuMemory::stop_waiting(std::uint32_t copy) {
    const Resident& resident = residents_[copy];
    if (resident.leaves)
        leaving_ -= resident.bytes;
    else if (resident.pins == 0)
        quit_line(copy);
}

bool GpuMemory::pin(std::uint32_t copy) {
    if (!is_here(copy)) return false;
    stop_waiting(copy);
    residents_[copy].leaves = false;
    ++residents_[copy].pins;
    return true;
}

void GpuMemory::add(std::uint32_t copy, double bytes) {
    if (copy >= residents_.size()) residents_.resize(std::size_t{copy} + 1);
    residents_[copy] = {.bytes = bytes, .pins = 1, .is_here = true};
    free_ -= bytes;
}

void GpuMemory::unpin(std::uint32_t copy) {
    if (!is_here(copy) || --residents_[copy].pins > 0) return;
    join_line(copy);
}

std::optional<std::uint32_t> GpuMemory::oldest() const {
    if (oldest_ == nobody) return {};
    return oldest_;
}

void GpuMemory::leave(std::uint32_t copy) {
    quit_line(copy);
    residents_[copy].leaves = true;
    leaving_ += residents_[copy].bytes;
}

bool GpuMemory::leaves(std::uint32_t copy) const { return is_here(copy) && residents_[copy].leaves; }

double GpuMemory::drop(std::uint32_t copy) {
    stop_waiting(copy);
    residents_[copy].is_here = false;
    free_ += residents_[copy].bytes;
    return residents_[copy].bytes;
}

}  // namespace tesela::sim
