#pragma once

#include "tesela/base/index.hpp"
#include "tesela/sim/internal/vertex_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tesela::sim {

/// What a node has of the resources that tasks need one of while they run, and who waits. They are numbered from 1 as
/// ResourceNumbers has it; 0 is none, of which there is always enough.
class LimitedResources {
public:
    [[nodiscard]] std::size_t known() const { return resources_.size(); }
    /// The next number, and how many the node has of it.
    void add(Index count) { resources_.push_back({.free = count}); }
    /// True if the task has one now; otherwise it waits.
    [[nodiscard]] bool take(std::size_t resource, const QueuedVertex& task);
    /// A task does not need its own any more: the one that has it now, if one waited.
    [[nodiscard]] std::optional<std::uint32_t> give_back(std::size_t resource);

private:
    struct Resource {
        Index free = 0;
        VertexQueue waiting{};
    };
    std::vector<Resource> resources_;
};

}  // namespace tesela::sim
