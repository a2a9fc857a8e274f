#include "tesela/platform/main_memory.hpp"

#include "tesela/base/units.hpp"

#include <fmt/format.h>

#include <limits>

namespace tesela {

std::string describe(const MemoryShortage& shortage) {
    return fmt::format(
        "node {} ({}) needs {} for its tiles{} and has {}", shortage.node, shortage.type, format_bytes(shortage.needed),
        shortage.what == NeededFor::tiles ? "" : " and copies of other nodes' tiles", format_bytes(shortage.available));
}

std::vector<MemoryShortage> memory_shortages(const Platform& platform, std::span<const double> needed, NeededFor what) {
    std::vector<MemoryShortage> shortages;
    std::size_t node = 0;
    for (const NodeType& type : platform.node_types)
        for (Index n = 0; n < type.count; ++n, ++node)
            if (type.memory != unknown_memory && needed[node] > type.memory)
                shortages.push_back({.node = static_cast<Index>(node),
                                     .type = type.name,
                                     .needed = needed[node],
                                     .available = type.memory,
                                     .what = what});
    return shortages;
}

double total_memory(const Platform& platform) {
    double total = 0;
    for (const NodeType& type : platform.node_types)
        total += type.memory == unknown_memory ? std::numeric_limits<double>::infinity()
                                               : static_cast<double>(type.count) * type.memory;
    return total;
}

}  // namespace tesela
