#include "tesela/sim/internal/resource_numbers.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <limits>

namespace tesela::sim {

ResourceNumbers::ResourceNumbers(const Platform& platform) {
    for (const NodeType& type : platform.node_types)
        for (const auto& [name, count] : type.limits) limited_.insert(name);
}

std::uint8_t ResourceNumbers::of(const Recording& recording, const RecordedItem& task) {
    if (task.resource == 0) return limited_.empty() ? std::uint8_t{0} : of_kernel(*task.kernel);
    while (of_recorded_.size() < task.resource) of_recorded_.push_back(add(recording.resources[of_recorded_.size()]));
    return of_recorded_[task.resource - std::size_t{1}];
}

std::uint8_t ResourceNumbers::of_kernel(const Kernel& kernel) {
    const auto known = std::ranges::find(kernels_, &kernel, &std::pair<const Kernel*, std::uint8_t>::first);
    if (known != kernels_.end()) return known->second;
    // Nodes without a limit for it run as many as they can.
    const bool limited = limited_.contains(kernel.name);
    const std::uint8_t number = limited ? add({kernel.name, std::numeric_limits<int>::max()}) : std::uint8_t{0};
    kernels_.emplace_back(&kernel, number);
    return number;
}

std::uint8_t ResourceNumbers::add(const ResourceLimit& limit) {
    limits_.push_back(limit);
    if (limits_.size() > std::numeric_limits<std::uint8_t>::max())
        throw Error("too many limited resources and kernels: at most 255");
    return static_cast<std::uint8_t>(limits_.size());
}

}  // namespace tesela::sim
