#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/starpu/internal/mail.hpp"
#include "tesela/starpu/internal/scheduler.hpp"
#include "tesela/starpu/internal/shared.hpp"
#include "tesela/starpu/internal/step_log.hpp"
#include "tesela/starpu/internal/tile_names.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace tesela::starpu {

class Agreement;
class StarpuAttachment;

/// Counts what is pending and wakes who waits for it to fall. Lives as long as the engine, since a worker may still be
/// in `finished` when the last waiter has gone.
class Progress {
public:
    void started() noexcept { pending_.fetch_add(1); }
    void finished() noexcept;
    /// `every_second`: meanwhile.
    void wait_until_at_most(Index level, const std::function<void()>& every_second = {});
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
    StarpuStream(const StreamOptions& options, Progress& progress_of, Shared& with, std::uint64_t number_of)
        : StreamState(options),
          progress(progress_of),
          shared(with),
          me(with.me),
          number(number_of),
          next_datum(static_cast<std::int64_t>(number_of) << 32U) {}

    Progress& progress;
    Shared& shared;
    const NodeId me;
    /// Whether its kernels are watched.
    TileChecks checks = TileChecks::none;
    /// Counts the streams of the engine; alike on every node.
    const std::uint64_t number;
    /// Names the stream in traces.
    [[nodiscard]] std::uint16_t trace_number() const { return static_cast<std::uint16_t>(number); }
    /// Counts tasks and fetches for traces, and tiles, alike on every node.
    std::uint64_t submitted = 0;
    std::int64_t next_datum;

    /// All that was submitted since it was opened, and how often it was waited for; alike on every node.
    StepLog log;
    std::shared_ptr<TileNames> names = std::make_shared<TileNames>();
    /// What another node's trail is at a step still to come here, and whose it is; under Agreement's lock but for the
    /// first.
    std::atomic<std::uint64_t> compare_at{~std::uint64_t{0}};
    std::uint64_t compare_with = 0;
    int compare_node = 0;
    std::atomic<std::uint64_t> round{0};
    /// Another node waits, or has left, after so many steps of this round: going further cannot end well.
    std::atomic<std::uint64_t> last_step{~std::uint64_t{0}};
    std::atomic<int> last_step_of{0};
    /// Whether the other nodes have been told of this round's failure.
    std::atomic<bool> failure_told{false};
    /// Null on a single node.
    Agreement* agreement = nullptr;
    std::unique_ptr<StreamMail> mail;
    /// Its matrices, in the order in which they came; alike on every node.
    std::shared_ptr<std::vector<StarpuAttachment*>> matrices = std::make_shared<std::vector<StarpuAttachment*>>();

    std::unique_ptr<StreamQueue, CloseQueue> queue;
    [[nodiscard]] Scheduler& scheduler() const { return *queue.get_deleter().scheduler; }
};

}  // namespace tesela::starpu
