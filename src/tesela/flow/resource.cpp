#include "tesela/flow/resource.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela {

std::size_t number_of(std::vector<ResourceLimit>& known, const LimitedResource& resource) {
    if (resource.at_most < 1)
        throw Error("the limited resource \"{}\" allows {} tasks at a time; it must allow at least 1", resource.name,
                    resource.at_most);
    const auto found = std::ranges::find_if(
        known, [&](const ResourceLimit& r) { return r.name == resource.name && r.at_most == resource.at_most; });
    if (found == known.end()) {
        known.push_back({resource.name, resource.at_most});
        return known.size() - 1;
    }
    return static_cast<std::size_t>(found - known.begin());
}

}  // namespace tesela
