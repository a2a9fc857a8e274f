#include "tesela/sim/internal/shared_gpu.hpp"

#include <algorithm>
#include <limits>

namespace tesela::sim {

void SharedGpu::start(std::uint32_t task, double seconds_alone, double now) {
    count_down(now);
    kernels_.push_back({task, seconds_alone});
}

std::optional<SharedGpu::Expected> SharedGpu::expect(double now) {
    ++expected_;
    if (kernels_.empty()) return {};
    double least = std::numeric_limits<double>::infinity();
    for (const Kernel& kernel : kernels_) least = std::min(least, kernel.left);
    return Expected{now + std::max(0.0, least) * static_cast<double>(kernels_.size()), expected_};
}

std::optional<std::uint32_t> SharedGpu::end_first(std::uint32_t expected, double now) {
    if (expected != expected_) return {};
    count_down(now);
    const auto first = std::min_element(kernels_.begin(), kernels_.end(),
                                        [](const Kernel& a, const Kernel& b) { return a.left < b.left; });
    const std::uint32_t task = first->task;
    kernels_.erase(first);
    return task;
}

double SharedGpu::seconds_left(double more, double now) const {
    double left = more;
    for (const Kernel& kernel : kernels_) left += kernel.left;
    return std::max(0.0, left - (kernels_.empty() ? 0 : now - counted_));
}

/// Of n kernels each has done 1/n of the time since.
void SharedGpu::count_down(double now) {
    const double passed = now - counted_;
    counted_ = now;
    if (kernels_.empty()) return;
    const double share = passed / static_cast<double>(kernels_.size());
    for (Kernel& kernel : kernels_) kernel.left -= share;
}

}  // namespace tesela::sim
