#include "tesela/flow/resource.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela {

std::size_t number_of(std::vector<ResourceLimit>& known, const LimitedResource& resource) {
    if (resource.at_most < 1)
        throw Error("the limited resource \"{}\" allows {} tasks at a time; it must allow at least 1", resource.name,
                    resource.at_most);
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const ResourceLimit& r) { return r.name == resource.name; });
    if (found == known.end()) {
        known.push_back({resource.name, resource.at_most});
        return known.size() - 1;
    }
    if (found->at_most != resource.at_most)
        throw Error("the limited resource \"{}\" allowed {} tasks at a time and now {}: an engine has one limit for it",
                    resource.name, found->at_most, resource.at_most);
    return static_cast<std::size_t>(found - known.begin());
}

}  // namespace tesela
