#pragma once

#include "tesela/base/index.hpp"
#include "tesela/starpu/internal/handle_pool.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"

#include <atomic>

namespace tesela::starpu {

class Tracing;

/// What the streams, tiles and messages of an engine have in common. It outlives StarPU's workers, whose callbacks come
/// to it through their tile or stream.
struct Shared {
    NodeId me{0};
    Index nodes = 1;
    TilePool memory;
    HandlePool handles;
    /// The trace that is being written, or null: see `tracing`.
    std::atomic<Tracing*> trace{nullptr};
    /// Hooks that are running although nothing is pending (see TracingInUse).
    std::atomic<int> trace_users{0};

    /// The trace that is being written, or null. Safe while tasks or messages of a stream are pending.
    [[nodiscard]] Tracing* tracing() const { return trace.load(std::memory_order_acquire); }
};

}  // namespace tesela::starpu
