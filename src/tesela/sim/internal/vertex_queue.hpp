#pragma once

#include <cstdint>
#include <queue>

namespace tesela::sim {

/// A vertex that waits, by priority and then in order of the stream.
struct QueuedVertex {
    std::int32_t priority = 0;
    std::uint32_t vertex = 0;
    friend bool operator<(const QueuedVertex& a, const QueuedVertex& b) {  // the first to go is the greatest
        return a.priority != b.priority ? a.priority < b.priority : a.vertex > b.vertex;
    }
};
using VertexQueue = std::priority_queue<QueuedVertex>;

}  // namespace tesela::sim
