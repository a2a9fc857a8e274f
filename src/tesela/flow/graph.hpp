#pragma once

#include "tesela/flow/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tesela {

/// The dependency graph of a recorded stream: a vertex per item, and for each the items that must end before it.
/// Commuting accesses to one tile do not depend on each other.
struct TaskGraph {
    /// Predecessors of item v are predecessors[first[v]] … predecessors[first[v + 1] - 1], increasing.
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> predecessors;

    [[nodiscard]] std::size_t size() const { return first.empty() ? 0 : first.size() - 1; }
    [[nodiscard]] std::span<const std::uint32_t> predecessors_of(std::size_t item) const {
        return {predecessors.data() + first[item], first[item + 1] - first[item]};
    }
};

/// The edges that read-after-write, write-after-read and write-after-write imply.
[[nodiscard]] TaskGraph dependency_graph(const Recording& recording);

/// The graph in the DOT language, a box per task labelled with kernel and written tile, coloured by kernel.
[[nodiscard]] std::string to_dot(const Recording& recording);

}  // namespace tesela
