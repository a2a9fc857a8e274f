#pragma once

#include "tesela/flow/recording.hpp"
#include "tesela/platform/platform.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tesela::sim {

/// The limited resources of a simulation, numbered from 1: those that tasks name themselves, and kernels that the
/// `limits` of a node type name, of which a node runs few at a time.
class ResourceNumbers {
public:
    explicit ResourceNumbers(const Platform& platform);

    /// What a recorded task needs one of while it runs; 0 for nothing. Throws Error for too many different ones.
    [[nodiscard]] std::uint8_t of(const Recording& recording, const RecordedItem& task);
    /// By number, from 1 on.
    [[nodiscard]] std::span<const ResourceLimit> limits() const { return limits_; }

private:
    [[nodiscard]] std::uint8_t of_kernel(const Kernel& kernel);
    [[nodiscard]] std::uint8_t add(const ResourceLimit& limit);

    std::set<std::string> limited_;                                // names in the platform
    std::vector<std::pair<const Kernel*, std::uint8_t>> kernels_;  // those that were asked for, few
    std::vector<std::uint8_t> of_recorded_;                        // by RecordedItem::resource, from 1
    std::vector<ResourceLimit> limits_;
};

}  // namespace tesela::sim
