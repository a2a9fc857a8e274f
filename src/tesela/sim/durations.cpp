#include "tesela/sim/internal/durations.hpp"

#include "tesela/sim/internal/parcel_kernels.hpp"

#include <algorithm>
#include <functional>

namespace tesela::sim {

Durations::Durations(const Platform& platform) : platform_(platform) {
    for (const NodeType& type : platform.node_types) {
        first_group_.push_back(columns_);
        columns_ += type.workers.size();
    }
}

std::size_t Durations::Hash::operator()(const Work& work) const {
    std::size_t value = std::hash<const void*>{}(work.kernel);
    for (const double part : {work.amount.flops, work.amount.bytes, work.amount.elements, work.ratio})
        value = value * 1000003U + std::hash<double>{}(part);
    return value * 1000003U + static_cast<std::size_t>(work.amount.tile);
}

bool Durations::Equal::operator()(const Work& a, const Work& b) const {
    return a.kernel == b.kernel && a.amount.tile == b.amount.tile && a.amount.flops == b.amount.flops &&
           a.amount.bytes == b.amount.bytes && a.amount.elements == b.amount.elements && a.ratio == b.ratio;
}

std::uint32_t Durations::number_of(const Work& work) {
    const auto [entry, is_new] = numbers_.try_emplace(work, static_cast<std::uint32_t>(works_.size()));
    if (!is_new) return entry->second;
    works_.push_back(work);
    for (const NodeType& type : platform_.node_types)
        for (const WorkerGroup& group : type.workers) {
            auto seconds = kernel_seconds(group, work.kernel->name, work.amount);
            if (!seconds && only_copies(*work.kernel) && group.processor == Processor::cpu)
                seconds = work.amount.bytes * static_cast<double>(group.count) / type.memory_bandwidth;
            table_.push_back(seconds ? *seconds * work.ratio : never);
        }
    return entry->second;
}

std::vector<double> Durations::of_groups(std::uint32_t work, std::size_t type) const {
    std::vector<double> result(platform_.node_types[type].workers.size());
    for (std::size_t g = 0; g < result.size(); ++g) result[g] = seconds(work, type, g);
    return result;
}

double Durations::least(std::uint32_t work, std::size_t type) const {
    double seconds = never;
    for (std::size_t g = 0; g < platform_.node_types[type].workers.size(); ++g)
        seconds = std::min(seconds, this->seconds(work, type, g));
    return seconds;
}

}  // namespace tesela::sim
