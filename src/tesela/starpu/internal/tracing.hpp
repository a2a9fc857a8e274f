#pragma once

#include "tesela/flow/task.hpp"
#include "tesela/net/nodes.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/trace/collector.hpp"
#include "tesela/trace/hardware_counters.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tesela::starpu {

/// What a task carries from its creation to its end when it is traced.
struct TracedTask {
    static constexpr std::uint64_t not_traced = ~std::uint64_t{0};
    std::uint64_t id = not_traced;
    std::int64_t ready = trace::unknown_time;
    /// Position of the first tile it writes among its accesses; beyond them if there is none.
    std::uint8_t written = 0;

    [[nodiscard]] bool traced() const { return id != not_traced; }
};

/// Whether a task belongs to the stream or copies a value out of the engine.
enum class TaskPurpose : std::uint8_t { task, fetch };

/// A message from the moment it is asked for until it is complete.
struct TracedMessage {
    trace::RecordKind kind = trace::RecordKind::send;
    std::uint64_t tag = 0;
    std::uint64_t bytes = 0;
    std::int64_t posted = 0;
    std::int64_t started = 0;  ///< when it went to the network
    std::int32_t priority = 0;
    std::uint16_t peer = 0;
};

/// What a trace says of its node.
struct TracedNode {
    std::string host;
    /// StarPU's numbers of those for tasks that hold a limited resource.
    std::vector<int> resource_workers;
};

/// Records what the engine does. One at a time; hooks ask `Shared::tracing` for it, which is null otherwise.
class Tracing {
public:
    /// Opens the files and measures the clocks; every node calls it. Throws Error on every node if one cannot write.
    Tracing(const trace::Options& options, const net::Nodes& nodes, const TracedNode& node, Shared& shared);
    ~Tracing();
    Tracing(const Tracing&) = delete;
    Tracing& operator=(const Tracing&) = delete;
    Tracing(Tracing&&) = delete;
    Tracing& operator=(Tracing&&) = delete;

    /// Ends the trace when nothing is pending; every node calls it. Throws Error if this node's file is incomplete.
    void stop();

    /// `position` in the stream counts tasks and fetches alike on every node.
    [[nodiscard]] TracedTask created(const StarpuStream& stream, const Task& task, std::uint64_t position,
                                     TaskPurpose purpose);
    /// A message is going to carry a tile, which no task may have used.
    void will_travel(const TileRef& tile);
    void message_ended(const TracedMessage& message);
    void memory_changed(unsigned memory, std::int64_t bytes);
    [[nodiscard]] bool wants(trace::Module module) const { return collector_->wants(module); }
    [[nodiscard]] trace::Collector& collector() { return *collector_; }
    [[nodiscard]] const trace::HardwareCounters* counters() const { return counters_.get(); }

private:
    void describe(const TracedNode& node);
    void measure_clock();
    [[nodiscard]] std::uint16_t kernel_number(const Kernel& kernel);
    [[nodiscard]] std::uint16_t phase_number(const StarpuStream& stream, PhaseId phase);
    [[nodiscard]] std::uint16_t matrix_number(const TileRef& tile);

    const net::Nodes& nodes_;
    Shared& shared_;
    std::unique_ptr<trace::Collector> collector_;
    std::unique_ptr<trace::HardwareCounters> counters_;

    std::mutex names_mutex_;
    std::unordered_map<const Kernel*, std::uint16_t> kernels_;
    std::map<std::pair<std::uint16_t, PhaseId>, std::uint16_t> phases_;
    std::set<std::uint16_t> streams_;  // that have been named
    std::map<std::uint64_t, std::uint16_t> matrices_;
};

/// A hook that may run when nothing is pending holds the trace open while it lives.
class TracingInUse {
public:
    explicit TracingInUse(Shared& shared);
    ~TracingInUse();
    TracingInUse(const TracingInUse&) = delete;
    TracingInUse& operator=(const TracingInUse&) = delete;
    TracingInUse(TracingInUse&&) = delete;
    TracingInUse& operator=(TracingInUse&&) = delete;
    [[nodiscard]] Tracing* operator->() const { return tracing_; }
    [[nodiscard]] explicit operator bool() const { return tracing_ != nullptr; }

private:
    Shared& shared_;
    Tracing* tracing_;
};

/// Lives while a task runs on a worker; does nothing for a task that is not traced.
class TracedRun {
public:
    TracedRun(const TracedTask& task, const Shared& shared) : task_(task), shared_(shared) {
        if (task.traced()) begin();
    }
    ~TracedRun() {
        if (task_.traced()) end();
    }
    TracedRun(const TracedRun&) = delete;
    TracedRun& operator=(const TracedRun&) = delete;
    TracedRun(TracedRun&&) = delete;
    TracedRun& operator=(TracedRun&&) = delete;

    /// After the kernel: what it did, by the shapes and ranks that its tiles have now.
    void worked(const Kernel& kernel, std::span<const Tile> tiles, const void* arguments) {
        if (task_.traced()) count(kernel, tiles, arguments);
    }

private:
    void begin();
    void end();
    void count(const Kernel& kernel, std::span<const Tile> tiles, const void* arguments);

    const TracedTask& task_;
    const Shared& shared_;
    trace::TaskRan record_;
    trace::HardwareCounters::Values before_{};
};

/// Lives while submission stands still.
class TracedWait {
public:
    TracedWait(const StarpuStream& stream, trace::WaitReason reason);
    ~TracedWait();
    TracedWait(const TracedWait&) = delete;
    TracedWait& operator=(const TracedWait&) = delete;
    TracedWait(TracedWait&&) = delete;
    TracedWait& operator=(TracedWait&&) = delete;

private:
    Tracing* tracing_;
    trace::Wait record_;
};

/// As StarPU wants it: the argument is a TracedTask.
void note_ready(void* traced_task);

/// Bytes that a tile took (positive) or gave back in a memory of this node.
void note_memory(Shared& shared, unsigned memory, std::int64_t bytes);

}  // namespace tesela::starpu
