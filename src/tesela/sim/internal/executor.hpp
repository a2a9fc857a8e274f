#pragma once

#include "tesela/sim/internal/channels.hpp"
#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/commuting_locks.hpp"
#include "tesela/sim/internal/memories.hpp"
#include "tesela/sim/internal/node.hpp"
#include "tesela/sim/internal/observers.hpp"
#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/submission.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tesela::sim {

/// How streams submit a section.
struct SubmissionRules {
    const Recording& recording;
    Throttle throttle;
    std::uint16_t waiting = 0;  ///< the stream that waits for the section
};

/// What happens on the cluster when sections are run one after the other: submission, scheduling, transfers, memory.
class Executor final : public TimelineHandler, public MemoryHandler {
public:
    Executor(const Cluster& cluster, const Durations& durations, Copies& copies, const SimulationOptions& options);

    /// Runs a section to its end.
    void run(const Section& section, const SubmissionRules& rules);
    /// From now on a stream uses these workers, on every node or on one.
    void allow(std::uint16_t stream, const WorkerSet& workers);
    void allow(std::uint16_t stream, const WorkerSet& workers, std::int32_t node);

    [[nodiscard]] double now() const { return timeline_->now(); }
    [[nodiscard]] Index messages() const { return messages_; }
    [[nodiscard]] double bytes() const { return bytes_; }
    /// Seconds that cores and GPUs of a node were busy, summed over them.
    [[nodiscard]] double busy(std::size_t node) const;
    [[nodiscard]] double memory_peak(std::size_t node) const { return memories_.peak(node); }

    void timer(std::uint64_t what) override;
    void message_started(std::uint32_t id) override;
    void message_arrived(std::uint32_t id, const MessageTimes& times) override;
    void settle() override;
    void data_there(std::uint32_t v) override;
    void room_found(std::uint32_t v) override { touch(section_->vertices[v].node); }

private:
    /// Progress of one vertex.
    struct Progress {
        std::uint32_t waits_for = 0;
        std::uint8_t place = 0;
        std::int32_t worker = 0;
        double submitted = 0;
        double ready = 0;
        double start = 0;
    };

    // submission
    void await_submission(std::int32_t node);
    void submit_next(std::int32_t node);
    void know_resources();
    void check_all_done() const;
    [[noreturn]] void no_worker_for(std::uint32_t v) const;
    void ended_on(std::int32_t node, std::uint16_t stream);

    void send(std::span<const std::uint32_t> messages);

    // dependencies
    void release(std::uint32_t v);
    void become_ready(std::uint32_t v);
    void finish(std::uint32_t v);

    // scheduling
    void admit(std::uint32_t v);
    void enqueue(std::uint32_t v);
    [[nodiscard]] double expected_wait(const PlaceState& place) const;
    [[nodiscard]] std::uint32_t choose_places(std::uint32_t v) const;
    [[nodiscard]] double seconds(std::uint32_t v, const Place& place) const;
    void dispatch(std::int32_t node);
    void stage(std::uint32_t v, std::int32_t node, std::size_t place);
    void complete(std::uint32_t v);
    void start_staged(std::int32_t node, std::size_t place);
    [[nodiscard]] bool start_first(VertexQueue& queue, std::vector<std::int32_t>& free_workers, std::int32_t node,
                                   std::size_t place);
    [[nodiscard]] bool takes_critical(const PlaceState& place, std::uint32_t v) const;
    void unstage(std::uint32_t v, std::int32_t node, std::size_t place);
    [[nodiscard]] const AllowedWorkers& allowed(std::uint32_t v) const;
    [[nodiscard]] std::int32_t room(const NodeState& node, const PlaceState& place, const ReadyQueue& queue) const;
    void start(std::uint32_t v, std::int32_t node, std::size_t place, std::int32_t slot);
    void task_ended(std::uint32_t v);
    void advance_gpu(PlaceState& place);
    void expect_gpu(std::int32_t node, std::size_t place);
    void gpu_tick(std::int32_t node, std::size_t place, std::uint32_t epoch);

    void touch(std::int32_t node);
    [[nodiscard]] NodeState& node_of(std::uint32_t v) {
        return nodes_[static_cast<std::size_t>(section_->vertices[v].node)];
    }
    template <class Record>
    void tell(void (ScheduleObserver::*method)(const Record&), const Record& record) const {
        sim::tell(options_.observers, method, record);
    }

    const Cluster& cluster_;
    const Durations& durations_;
    Copies& copies_;
    const SimulationOptions& options_;
    std::unique_ptr<Timeline> timeline_;
    std::vector<NodeState> nodes_;
    std::vector<Submission> submissions_;  // per node
    Memories memories_;
    Channels channels_;
    CommutingLocks locks_;
    std::vector<std::int32_t> touched_;

    const Section* section_ = nullptr;
    const SubmissionRules* rules_ = nullptr;
    std::vector<Progress> progress_;
    std::size_t finished_ = 0;

    Index messages_ = 0;
    Index tasks_ = 0;
    double bytes_ = 0;
};

}  // namespace tesela::sim
