#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tesela {

/// Something of which a node has few, such as readers of a file: at most so many tasks that need it run at a time on a
/// node, those of all streams counted together. The same name with another limit is another resource. It need only live
/// while a task that names it is submitted.
struct LimitedResource {
    const char* name = "";
    int at_most = 1;
};

/// A limited resource as an engine keeps it.
struct ResourceLimit {
    std::string name;
    int at_most = 1;
};

/// The position of a resource among those that are known, at the end if it is new. Throws Error for a limit below 1.
std::size_t number_of(std::vector<ResourceLimit>& known, const LimitedResource& resource);

}  // namespace tesela
