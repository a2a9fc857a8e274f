#pragma once

#include "tesela/trace/trace.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tesela::trace {

/// The dependency graph of a traced run: a vertex per row of the task table, and for each the rows that had to end
/// before.
struct Graph {
    /// Predecessors of v are predecessors[first[v]] … predecessors[first[v + 1] - 1], increasing.
    std::vector<std::size_t> first{0};
    std::vector<std::uint32_t> predecessors;

    [[nodiscard]] std::size_t size() const { return first.size() - 1; }
    [[nodiscard]] std::span<const std::uint32_t> predecessors_of(std::size_t v) const {
        return {predecessors.data() + first[v], first[v + 1] - first[v]};
    }
};

/// The edges that the recorded accesses imply, across nodes: read after write, write after read, write after write;
/// commuting accesses do not depend on each other. Within a stream the order is that of submission; streams that share
/// data are merged by the time of creation.
[[nodiscard]] Graph dependency_graph(const Trace& trace);

/// The rows of the task table such that each comes after its predecessors.
[[nodiscard]] std::vector<std::uint32_t> submission_order(const Trace& trace);

}  // namespace tesela::trace
