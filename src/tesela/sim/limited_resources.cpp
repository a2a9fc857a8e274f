#include "tesela/sim/internal/limited_resources.hpp"

namespace tesela::sim {

bool LimitedResources::take(std::size_t resource, const QueuedVertex& task) {
    if (resource == 0) return true;
    Resource& wanted = resources_[resource - 1];
    if (wanted.free == 0) {
        wanted.waiting.push(task);
        return false;
    }
    --wanted.free;
    return true;
}

std::optional<std::uint32_t> LimitedResources::give_back(std::size_t resource) {
    if (resource == 0) return {};
    Resource& given = resources_[resource - 1];
    if (given.waiting.empty()) {
        ++given.free;
        return {};
    }
    const std::uint32_t next = given.waiting.top().vertex;
    given.waiting.pop();
    return next;
}

}  // namespace tesela::sim
