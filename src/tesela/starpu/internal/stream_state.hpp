#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/starpu/internal/scheduler.hpp"

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tesela::starpu {

/// Counts what is pending and wakes who waits for it to fall. Lives as long as the engine, since a worker may still be
/// in `finished` when the last waiter has gone.
class Progress {
public:
    void started() noexcept { pending_.fetch_add(1); }
    void finished() noexcept;
    void wait_until_at_most(Index level);
    [[nodiscard]] Index pending() const noexcept { return pending_.load(); }

private:
    static constexpr Index nobody = -1;
    std::atomic<Index> pending_{0};
    std::atomic<Index> wake_at_{nobody};
    std::mutex mutex_;
    std::condition_variable fell_;
};

/// Tells the scheduler that a stream has gone.
struct CloseQueue {
    Scheduler* scheduler = nullptr;
    void operator()(StreamQueue* queue) const { scheduler->close(*queue); }
};

/// A stream as the StarPU engine keeps it.
class StarpuStream final : public StreamState {
public:
    StarpuStream(const StreamOptions& options, Progress& progress_of, std::int64_t first_tag)
        : StreamState(options),
          progress(progress_of),
          next_tag(first_tag) {}

    Progress& progress;
    MPI_Comm comm = MPI_COMM_NULL;
    /// Names the stream, and its tasks and fetches by their position, in traces; alike on every node.
    std::uint16_t number = 0;
    std::uint64_t submitted = 0;
    /// Names tiles in messages; advances alike on every node.
    std::int64_t next_tag;
    std::unique_ptr<StreamQueue, CloseQueue> queue;
    [[nodiscard]] Scheduler& scheduler() const { return *queue.get_deleter().scheduler; }
};

}  // namespace tesela::starpu
