#pragma once

#include "tesela/sim/internal/limited_resources.hpp"
#include "tesela/sim/internal/place_state.hpp"
#include "tesela/sim/internal/section.hpp"
#include "tesela/sim/internal/task_memory.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tesela::sim {

/// A task, where it runs and who runs it.
struct AssignedTask {
    std::uint32_t vertex = 0;
    std::size_t place = 0;
    std::int32_t worker = 0;
};

/// Who is told what a scheduler does.
class SchedulerHandler : public Interface {
public:
    /// How many times its time a task takes that a worker takes now: more than 1 where something else uses its core.
    [[nodiscard]] virtual double take_core(const AssignedTask& task) = 0;
    /// A worker takes a task now, and begins with its kernel so many seconds later; a timer for its end is set next.
    virtual void task_starts(const AssignedTask& task, double before_kernel) = 0;
    /// `dispatch` is to be called before time goes on.
    virtual void has_work(std::int32_t node) = 0;
};

/// What schedulers have around them.
struct SchedulerSurroundings {
    const Cluster& cluster;
    const Durations& durations;
    Timeline& timeline;
    TaskMemory& memory;
    SchedulerHandler& handler;
};

/// Decides on one node which task runs next and where: tasks that are ready wait for a limited resource, then by
/// priority for the places that may take them, then in one of these for their data.
class NodeScheduler {
public:
    NodeScheduler(const SchedulerSurroundings& around, std::int32_t node, SimulatedScheduler rule);

    /// What comes from now on is of this section; it stays until the next.
    void begin(const Section& section, std::span<const ResourceLimit> resources);
    /// From now on a stream uses these workers.
    void allow(std::uint16_t stream, const WorkerSet& workers);

    /// A task is ready but for limited resources, workers and data that are in another memory of the node.
    void admit(std::uint32_t task);
    /// The data of a task that had to wait for them are there.
    void data_there(std::uint32_t task);
    /// Starts what can start.
    void dispatch();

    /// The node sends or receives a message: busy cores lose the time that it takes one of them; a free one has it.
    void handle_message(double bytes);
    /// Whether a task of a core that should have ended has lost time and goes on; a timer for its end is set then.
    [[nodiscard]] bool goes_on(std::uint32_t task, std::size_t place);
    /// The task whose kernel has ended as a timer of kind TimerKind::gpu expected; nothing if it did not.
    [[nodiscard]] std::optional<std::uint32_t> kernel_ended(std::size_t place, std::uint32_t expected);
    /// The worker of a task that has ended is free; so is, when what the task has written is known, its resource.
    void give_back_worker(const AssignedTask& task);
    void give_back_resource(std::uint32_t task);

    /// Throws Error if a task is left that no worker may take.
    void check_none_waits() const;

private:
    /// Tasks of a stream that the same places may take.
    struct ReadyQueue {
        std::uint32_t places = 0;  ///< bit by bit
        Urgency urgency = Urgency::ordinary;
        std::uint16_t stream = 0;
        VertexQueue tasks{};
    };

    [[nodiscard]] const Vertex& vertex(std::uint32_t task) const { return section_->vertices[task]; }
    [[nodiscard]] QueuedVertex queued(std::uint32_t task) const { return {vertex(task).priority, task}; }
    [[nodiscard]] const AllowedWorkers& allowed(std::uint32_t task) const { return allowed_[vertex(task).stream]; }
    [[nodiscard]] double seconds(std::uint32_t task, const Place& place) const;
    [[nodiscard]] double now() const { return around_.timeline.now(); }
    [[noreturn]] void no_worker_for(std::uint32_t task) const;
    [[noreturn]] void no_place_for(std::uint32_t task) const;

    // Which place.
    [[nodiscard]] double seconds_if_able(std::uint32_t task, const Place& place) const;
    [[nodiscard]] std::uint32_t able_places(std::uint32_t task) const;
    [[nodiscard]] std::uint32_t earliest_place(std::uint32_t task) const;
    void enqueue(std::uint32_t task);
    [[nodiscard]] ReadyQueue& queue_for(std::uint32_t task, std::uint32_t places);

    // What a place does next.
    [[nodiscard]] ReadyQueue* best_queue(std::size_t place);
    [[nodiscard]] std::int32_t ordinary_room(const PlaceState& place) const {
        return place.free.count() + lookahead_ - place.staged;
    }
    [[nodiscard]] std::int32_t room(const PlaceState& place, const ReadyQueue& queue) const;
    void stage(std::uint32_t task, std::size_t place);
    void unstage(std::uint32_t task, std::size_t place);
    void complete(std::uint32_t task, std::size_t place);
    void start_staged(std::size_t place);
    [[nodiscard]] bool start_first(VertexQueue& queue, FreeWorkers& free, std::size_t place);
    void start(const AssignedTask& task);
    [[nodiscard]] double seconds_before_kernel(double slowdown);
    void expect_kernel(std::size_t place);
    void lose_time();

    SchedulerSurroundings around_;
    std::int32_t node_;
    std::size_t type_;
    SimulatedScheduler rule_;
    std::int32_t lookahead_ = 0;
    double next_turn_ = 0;  // when the list of tasks is free for the next worker
    double to_lose_ = 0;    // seconds of messages that came since the last dispatch
    double lost_ = 0;       // seconds that no task has made up for yet
    const Section* section_ = nullptr;
    std::vector<PlaceState> places_;
    std::vector<ReadyQueue> queues_;
    std::vector<AllowedWorkers> allowed_;  // per stream
    LimitedResources resources_;
    std::vector<std::pair<std::uint32_t, std::size_t>> without_data_;  // staged tasks and their places
};

}  // namespace tesela::sim
