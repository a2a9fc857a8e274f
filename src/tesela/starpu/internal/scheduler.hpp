#pragma once

#include "tesela/flow/resource.hpp"
#include "tesela/flow/task.hpp"
#include "tesela/starpu/internal/ready_tasks.hpp"

#include <starpu.h>
#include <starpu_scheduler.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace tesela::starpu {

/// Workers by StarPU's numbers.
using WorkerBits = std::bitset<STARPU_NMAXWORKERS>;

/// Tasks by which workers may take them: `critical` ones may run on the critical worker too, and those that hold a
/// limited `resource` run on the workers for such tasks, where there are any.
enum class Lane : std::uint8_t { ordinary, critical, resource };
inline constexpr std::size_t lanes = 3;

/// Which workers may take the tasks of each lane.
using LaneWorkers = std::array<WorkerBits, lanes>;

/// The tasks of a stream that are ready, and the workers that may take them.
struct StreamQueue {
    LaneWorkers workers{};
    std::array<ReadyTasks, lanes> ready{};

    [[nodiscard]] bool allows(int worker, Lane lane) const {
        return workers[static_cast<std::size_t>(lane)][static_cast<std::size_t>(worker)];
    }
};

/// A limited resource on this node: tasks that find none left wait here, by priority.
class Gate {
public:
    explicit Gate(int at_most) : free_(at_most) {}
    /// Makes room for a task that may have to wait. Throws std::bad_alloc.
    void expect() { waiting_.expect(mutex_); }
    /// Whether the task may go on; otherwise it waits until `leave` returns it.
    [[nodiscard]] bool enter(starpu_task* task);
    /// A task that had one has ended: the next that may go on, or null.
    [[nodiscard]] starpu_task* leave();

private:
    std::mutex mutex_;
    int free_;
    std::uint64_t waited_ = 0;
    ReadyTasks waiting_;
};

/// What a task tells the scheduler; StarPU's task points to it.
struct Scheduled {
    StreamQueue* stream = nullptr;
    Gate* gate = nullptr;
    Lane lane = Lane::ordinary;
};

/// Decides which worker of this node takes which task. Tesela's own policy, `streams`, keeps the tasks that are ready
/// per stream; a free worker takes the one of highest priority among the streams that it may work for. So it costs
/// nothing that other streams have many tasks, and a change of workers acts on tasks that wait. With another name it is
/// that policy of StarPU's; either way tasks wait for limited resources here. One at a time in a process, and it
/// outlives StarPU.
class Scheduler {
public:
    /// Throws Error, naming those there are, for a policy that StarPU does not have.
    explicit Scheduler(const std::string& name);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;
    Scheduler(Scheduler&&) = delete;
    Scheduler& operator=(Scheduler&&) = delete;

    static constexpr const char* streams = "streams";
    /// `streams`, unless this StarPU's workers sleep until a policy wakes them.
    [[nodiscard]] static const char* default_name();

    /// What StarPU is to be started with.
    [[nodiscard]] starpu_sched_policy* policy() { return &policy_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// What a codelet asks before a worker takes its task; null where the policy looks after that.
    [[nodiscard]] int (*can_execute() const)(unsigned, starpu_task*, unsigned);

    /// Whether the policy gives tasks to workers by how long it expects them to take.
    enum class Expectations : std::uint8_t { none, durations };
    [[nodiscard]] Expectations expectations() const;

    [[nodiscard]] StreamQueue& open(const LaneWorkers& workers);
    /// Nothing of the stream may be pending.
    void close(StreamQueue& stream);
    /// Acts on tasks that wait; returns when no task of the stream can start on a worker that was taken away. Throws
    /// Error under a policy of StarPU's.
    void set_workers(StreamQueue& stream, const LaneWorkers& workers);

    /// The gate of a resource. Throws Error for a limit below 1.
    [[nodiscard]] Gate& gate(const LimitedResource& resource);

    /// A task is about to be submitted. Throws std::bad_alloc where there is no memory to remember it when it is ready;
    /// one that is then not submitted after all leaves room for one too many.
    void expect(const Scheduled& task);
    /// A worker has begun a task.
    void started(int worker) noexcept { hands_[static_cast<std::size_t>(worker)].holds.store(nullptr); }
    /// A task has ended.
    void ended(const Scheduled& task);

private:
    [[nodiscard]] const Scheduled& scheduled(const starpu_task* task) const {
        return task->sched_data != nullptr ? *static_cast<const Scheduled*>(task->sched_data) : others_;
    }
    static int push(starpu_task* task);
    static starpu_task* pop(unsigned context);
    static void initialise(unsigned context);
    static void finish(unsigned context);
    int put(starpu_task* task);
    [[nodiscard]] starpu_task* take(int worker);
    [[nodiscard]] bool own() const { return forward_ == nullptr; }

    std::string name_;
    starpu_sched_policy policy_{};
    int (*forward_)(starpu_task*) = nullptr;  // StarPU's policy, unless it is ours

    std::mutex mutex_;
    std::list<StreamQueue> streams_;
    Scheduled others_;  // tasks that are not ours, if the program submits some to StarPU itself: any worker
    std::atomic<std::int64_t> ready_{0};
    std::uint64_t pushed_ = 0;

    std::mutex gates_mutex_;
    std::vector<ResourceLimit> resources_;
    std::deque<Gate> gates_;

    /// From when a worker has taken a task until it begins it: the stream of that task.
    struct alignas(64) Hand {
        std::atomic<const StreamQueue*> holds{nullptr};
    };
    std::array<Hand, STARPU_NMAXWORKERS> hands_{};
};

}  // namespace tesela::starpu
