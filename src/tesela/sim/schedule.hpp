#pragma once

#include "tesela/flow/critical_worker.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/trace/schema.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tesela {

/// A task of a simulated run, in seconds of simulated time. Workers are numbered per node as in simulated_workers.
struct ScheduledTask {
    std::uint32_t item = 0;  ///< in the recording
    std::int32_t node = 0;
    std::int32_t worker = 0;
    double submitted = 0;
    double ready = 0;
    double start = 0;
    double end = 0;
    std::uint32_t work = 0;  ///< what decides how long it takes, see SimulatedRun::durations
    double factor = 1;       ///< of that time: noise
    const Kernel* kernel = nullptr;
    /// Of an exchange, whose first item `item` is: the number of the parcel that it packs, unpacks or copies.
    static constexpr std::int32_t no_parcel = -1;
    std::int32_t parcel = no_parcel;
};

/// A message of a simulated run: asked for, let go, gone to the last byte, there.
struct ScheduledMessage {
    /// A datum, or a parcel of an exchange, of which `datum` is the first tile that it goes to.
    enum class Carries : std::uint8_t { datum, parcel };
    Carries carries = Carries::datum;
    std::int32_t datum = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t priority = 0;
    std::uint32_t item = 0;     ///< in the recording: what it is sent for
    std::uint32_t version = 0;  ///< of the datum's value; of a parcel, its number
    double bytes = 0;
    double posted = 0;
    double start = 0;
    double sent = 0;
    double arrival = 0;
};

/// Bytes taken (positive) or given back in a memory of a node: 0 is main memory, then its GPUs.
struct ScheduledMemory {
    std::int32_t node = 0;
    std::int32_t memory = 0;
    double time = 0;
    double bytes = 0;
};

/// When the thread that submits stood still on a node.
struct ScheduledWait {
    std::int32_t node = 0;
    std::uint16_t stream = 0;
    trace::WaitReason reason = trace::WaitReason::completion;
    double start = 0;
    double end = 0;
};

/// A stream that was opened on a simulated engine.
struct SimulatedStream {
    std::uint16_t number = 0;
    std::string name;
};

/// A parcel of a simulated exchange, and the data that it takes from and goes to.
struct SimulatedParcel {
    Index bytes = 0;
    std::vector<std::int32_t> sources{};
    std::vector<std::int32_t> targets{};
};
struct SimulatedExchange {
    std::int64_t parcels_before = 0;  ///< of the exchanges before it
    std::vector<SimulatedParcel> parcels{};
};

/// What an observer may look up: the recording grows from call to call and stays where it is.
struct SimulatedRun {
    const Platform* platform = nullptr;
    const Recording* recording = nullptr;
    /// Stream of each item, and its position among the stream's tasks and fetches; a parcel counts as two tasks.
    const std::vector<std::uint16_t>* stream_of_item = nullptr;
    const std::vector<std::uint32_t>* position_of_item = nullptr;
    const std::vector<SimulatedStream>* streams = nullptr;
    const std::vector<Index>* rank_of_datum = nullptr;
    const std::vector<SimulatedExchange>* exchanges = nullptr;  ///< as the recording's
    /// Seconds of a kind of work on each group of workers of a node, alone; infinite where the group cannot do it.
    std::function<std::vector<double>(std::uint32_t work, std::int32_t node)> durations{};
};

/// Is told of everything in a simulated run when it has ended.
class ScheduleObserver {
public:
    ScheduleObserver() = default;
    virtual ~ScheduleObserver() = default;
    ScheduleObserver(const ScheduleObserver&) = delete;
    ScheduleObserver& operator=(const ScheduleObserver&) = delete;
    ScheduleObserver(ScheduleObserver&&) = delete;
    ScheduleObserver& operator=(ScheduleObserver&&) = delete;

    /// Before all else.
    virtual void begin(const SimulatedRun&) {}
    virtual void task(const ScheduledTask&) {}
    virtual void message(const ScheduledMessage&) {}
    virtual void memory(const ScheduledMemory&) {}
    virtual void wait(const ScheduledWait&) {}
};

/// Keeps all of it.
class Schedule final : public ScheduleObserver {
public:
    std::vector<ScheduledTask> tasks;
    std::vector<ScheduledMessage> messages;
    std::vector<ScheduledMemory> memory_changes;
    std::vector<ScheduledWait> waits;

    void task(const ScheduledTask& t) override { tasks.push_back(t); }
    void message(const ScheduledMessage& m) override { messages.push_back(m); }
    void memory(const ScheduledMemory& m) override { memory_changes.push_back(m); }
    void wait(const ScheduledWait& w) override { waits.push_back(w); }
};

/// A worker of a simulated node: a core, or a stream of a GPU.
struct SimulatedWorker {
    std::string name;
    Processor processor = Processor::cpu;
    std::size_t group = 0;  ///< in NodeType::workers
    Index card = -1;        ///< which GPU of the node; -1 for a core
};
/// What traces call the kind of a worker.
[[nodiscard]] inline const char* kind_in_traces(Processor processor) {
    return processor == Processor::gpu ? "cuda" : "cpu";
}
/// Whether such nodes have a worker for critical tasks, by the rule of the engine.
[[nodiscard]] bool has_critical_worker(CriticalWorker wanted, const NodeType& type);
/// The workers of a node in order of their numbers: group by group, device by device; the critical one last.
[[nodiscard]] std::vector<SimulatedWorker> simulated_workers(const NodeType& type, CriticalWorker critical);

}  // namespace tesela
