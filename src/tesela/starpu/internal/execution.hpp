#pragma once

#include "tesela/flow/task.hpp"
#include "tesela/starpu/engine.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <memory>
#include <vector>

namespace tesela::starpu {

/// Whether a task runs although its stream has failed: somebody waits for what it does.
enum class AfterFailure : std::uint8_t { skip, run };

/// What becomes a task of StarPU's on this node.
struct Job {
    StarpuStream& stream;
    const Task& task;
    AfterFailure after_failure = AfterFailure::skip;
    TracedTask traced{};
    std::shared_ptr<Fetched> fetched{};
};

/// Hands a task to StarPU. Throws Error if no worker of this node can run it.
void run(const Job& job);

/// What StarPU expects a task to take on a core with the tiles as they are now, of which nothing may be pending; 0
/// under a scheduler that does not ask.
[[nodiscard]] double expected_seconds(const Task& task);

/// A task that copies a tile out of the engine; `into` is kept until it has run.
[[nodiscard]] Task copy_out_task(TileRef tile, Fetched& into);

/// An engine starts with this scheduler: what codelets ask before a worker takes a task.
void serve(const Scheduler& scheduler);

/// What kernels have done in this process.
[[nodiscard]] std::vector<KernelUse> kernel_uses();

/// A stream has failed on this node; the others are told.
void raise_failure(StarpuStream& stream, const Status& status);

}  // namespace tesela::starpu
