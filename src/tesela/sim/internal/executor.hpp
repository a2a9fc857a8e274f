#pragma once

#include "tesela/sim/internal/allocations.hpp"
#include "tesela/sim/internal/channels.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/commuting_locks.hpp"
#include "tesela/sim/internal/memories.hpp"
#include "tesela/sim/internal/processor_use.hpp"
#include "tesela/sim/internal/scheduler.hpp"
#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/submission.hpp"
#include "tesela/sim/internal/submission_core.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tesela::sim {

/// How streams submit a section.
struct SubmissionRules {
    const Recording& recording;
    std::span<const ResourceLimit> resources;
    Throttle throttle;
    std::uint16_t waiting = 0;  ///< the stream that waits for the section
};

/// What happens on the cluster when sections are run one after the other. Submission, scheduling, messages, memories
/// and locks are parts that do not know each other; this is what connects them.
class Executor final : public TimelineHandler, public MemoryHandler, public SchedulerHandler {
public:
    Executor(const Cluster& cluster, const Durations& durations, Copies& copies, const SimulationOptions& options);

    /// Runs a section to its end.
    void run(const Section& section, const SubmissionRules& rules);
    /// From now on a stream uses these workers.
    void allow(std::uint16_t stream, const WorkerSet& workers);

    [[nodiscard]] double now() const { return timeline_->now(); }
    [[nodiscard]] Index messages() const { return messages_; }
    [[nodiscard]] double bytes() const { return bytes_; }
    [[nodiscard]] const ProcessorUse& use() const { return use_; }
    [[nodiscard]] double memory_peak(std::size_t node) const { return memories_.peak(node); }
    [[nodiscard]] const GpuTraffic& gpu_traffic(std::size_t node) const { return memories_.traffic(node); }

    void timer(std::uint64_t what) override;
    void message_started(std::uint32_t id) override;
    void message_arrived(std::uint32_t id, const MessageTimes& times) override;
    void settle() override;
    void data_there(std::uint32_t v) override;
    void room_found(std::uint32_t v) override { has_work(vertex(v).node); }
    [[nodiscard]] double take_core(const AssignedTask& task) override;
    void task_starts(const AssignedTask& task, double before_kernel) override;
    void has_work(std::int32_t node) override;

private:
    /// Progress of one vertex.
    struct Progress {
        double submitted = 0;
        double ready = 0;
        double start = 0;
        std::int32_t worker = 0;
        std::uint8_t place = 0;
    };

    void await_submission(std::int32_t node);
    void submit_next(std::int32_t node);
    void give_up(std::size_t node);
    void release(std::uint32_t v);
    void become_ready(std::uint32_t v);
    void send(std::span<const std::uint32_t> messages);
    void put_on_wire(std::uint32_t message);
    [[nodiscard]] const Place& place_of(const AssignedTask& task) const {
        return cluster_.places_of(vertex(task.vertex).node)[task.place];
    }
    [[nodiscard]] ProcessorUse::WorkerOf worker_of(const AssignedTask& task) const {
        return {static_cast<std::size_t>(vertex(task.vertex).node), place_of(task), task.worker};
    }
    [[nodiscard]] bool on_submission_core(const AssignedTask& task) const;
    void task_ended(std::uint32_t v);
    void finish(std::uint32_t v);
    void ended_on(std::int32_t node, std::uint16_t stream);
    void check_all_done() const;

    [[nodiscard]] const Vertex& vertex(std::uint32_t v) const { return section_->vertices[v]; }
    [[nodiscard]] NodeScheduler& scheduler_of(std::uint32_t v) {
        return schedulers_[static_cast<std::size_t>(vertex(v).node)];
    }
    [[nodiscard]] std::int32_t node_count() const { return static_cast<std::int32_t>(schedulers_.size()); }
    [[nodiscard]] std::int32_t parcel_of(std::uint32_t task) const;
    void tell_task(std::uint32_t v) const;
    void tell_message(std::uint32_t v, const MessageTimes& times) const;

    const Cluster& cluster_;
    const Durations& durations_;
    Copies& copies_;
    const SimulationOptions& options_;
    std::unique_ptr<Timeline> timeline_;
    std::vector<Submission> submissions_;    // per node
    std::vector<NodeScheduler> schedulers_;  // per node
    Memories memories_;
    Allocations allocations_;
    SubmissionCore submission_core_;
    ProcessorUse use_;
    Channels channels_;
    CommutingLocks locks_;
    std::vector<bool> has_work_;             // per node
    std::vector<std::int32_t> to_dispatch_;  // nodes that have, the latest first
    std::vector<std::size_t> given_up_;      // per node, how much of the section's list

    const Section* section_ = nullptr;
    const SubmissionRules* rules_ = nullptr;
    LargeArray<Progress> progress_;
    LargeArray<std::uint32_t> waits_for_;  // per vertex; by itself, since every edge of the graph looks here
    std::size_t finished_ = 0;

    Index messages_ = 0;
    Index tasks_ = 0;
    double bytes_ = 0;
};

}  // namespace tesela::sim
