#pragma once

#include "tesela/sim/internal/interface.hpp"

#include <cstdint>

namespace tesela::sim {

/// What schedulers ask of the memories of their nodes: 0 is main memory, then GPU by GPU.
class TaskMemory : public Interface {
public:
    /// Whether the tiles of a task fit into a memory at all.
    [[nodiscard]] virtual bool fits(std::uint32_t task, std::int32_t memory) const = 0;
    /// Time to bring the tiles that a task reads into a memory, as far as they are not there or on their way.
    [[nodiscard]] virtual double seconds_to_bring(std::uint32_t task, std::int32_t memory) const = 0;
    /// Brings them, and keeps all tiles of the task there. False if the task has to wait for that.
    [[nodiscard]] virtual bool stage(std::uint32_t task, std::int32_t memory) = 0;
    /// Seconds that the worker of a GPU has spent to get memory there since it was last asked: what it runs next is
    /// later by that.
    [[nodiscard]] virtual double seconds_owed(std::int32_t /*memory*/, std::int32_t /*node*/) { return 0; }
    /// They need not be kept any more.
    virtual void unstage(std::uint32_t task, std::int32_t memory) = 0;
};

}  // namespace tesela::sim
