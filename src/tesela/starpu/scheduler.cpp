#include "tesela/starpu/internal/scheduler.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <thread>

namespace tesela::starpu {
namespace {

/// StarPU, of which there is one in a process, calls policies without anything of ours, also before it says that it has
/// started and for tasks that are not ours.
Scheduler* the_scheduler = nullptr;

int allowed(unsigned worker, starpu_task* task, unsigned) {
    const auto* what = static_cast<const Scheduled*>(task->sched_data);
    return static_cast<int>(what->stream->allows(static_cast<int>(worker), what->lane));
}

/// Every kernel runs on cores.
bool can_run(int worker, starpu_task* task) {
    return starpu_worker_get_type(worker) == STARPU_CPU_WORKER ||
           starpu_worker_can_execute_task(static_cast<unsigned>(worker), task, 0) != 0;
}

/// Policies of StarPU's that run our tasks; the others are experiments, or want to be told more about a program.
constexpr std::array<std::string_view, 11> usable_policies{"prio", "eager", "lws",   "ws",    "random", "dm",
                                                           "dmda", "dmdap", "dmdar", "dmdas", "dmdasd"};

const starpu_sched_policy& find_policy(const std::string& name) {
    std::string names = Scheduler::streams;
    for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); *policy != nullptr; ++policy) {
        if (std::ranges::count(usable_policies, std::string_view((*policy)->policy_name)) == 0) continue;
        if (name == (*policy)->policy_name) return **policy;
        names += std::string(", ") + (*policy)->policy_name;
    }
    throw Error("there is no scheduler \"{}\"; there are: {}", name, names);
}

}  // namespace

bool Gate::enter(starpu_task* task) {
    const std::lock_guard lock(mutex_);
    if (free_ > 0) {
        --free_;
        waiting_.pass();
        return true;
    }
    waiting_.push({task->priority, waited_++, task});
    return false;
}

starpu_task* Gate::leave() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
        ++free_;
        return nullptr;
    }
    starpu_task* next = waiting_.top().task;
    waiting_.pop();
    return next;
}

Scheduler::Scheduler(const std::string& name) : name_(name) {
    if (name == streams) {
        if (name != default_name())
            throw Error(
                "the workers of this StarPU sleep until its own scheduler wakes them (blocking drivers): use prio");
        policy_.init_sched = initialise;
        policy_.deinit_sched = finish;
        policy_.pop_task = pop;
        policy_.policy_name = streams;
        policy_.policy_description = "by priority, among the streams that a worker may work for";
        policy_.worker_type = STARPU_WORKER_LIST;
    } else {
        policy_ = find_policy(name);
        forward_ = policy_.push_task;
    }
    policy_.push_task = push;
    LaneWorkers all;
    all.fill(WorkerBits().set());
    others_.stream = &open(all);
    the_scheduler = this;
}

Scheduler::~Scheduler() { the_scheduler = nullptr; }

const char* Scheduler::default_name() {
#ifdef STARPU_NON_BLOCKING_DRIVERS
    return streams;
#else
    return "prio";
#endif
}

int (*Scheduler::can_execute() const)(unsigned, starpu_task*, unsigned) { return own() ? nullptr : allowed; }

Scheduler::Expectations Scheduler::expectations() const {
    return name_.starts_with("dm") ? Expectations::durations : Expectations::none;
}

void Scheduler::initialise(unsigned context) {
    // Any number is a priority.
    starpu_sched_ctx_set_min_priority(context, std::numeric_limits<int>::min());
    starpu_sched_ctx_set_max_priority(context, std::numeric_limits<int>::max());
}

void Scheduler::finish(unsigned) {}

int Scheduler::push(starpu_task* task) {
    Gate* gate = the_scheduler->scheduled(task).gate;
    return gate == nullptr || gate->enter(task) ? the_scheduler->put(task) : 0;
}

starpu_task* Scheduler::pop(unsigned) { return the_scheduler->take(starpu_worker_get_id()); }

int Scheduler::put(starpu_task* task) {
    if (!own()) return forward_(task);
    const Scheduled& what = scheduled(task);
    const std::lock_guard lock(mutex_);
    what.stream->ready[static_cast<std::size_t>(what.lane)].push({task->priority, pushed_++, task});
    ready_.fetch_add(1, std::memory_order_relaxed);
    starpu_push_task_end(task);
    return 0;
}

starpu_task* Scheduler::take(int worker) {
    // Workers look again and again: one that comes too early comes back. Of each queue the first task counts, so the
    // worker of a GPU may find none it can run although there is one further behind: with GPUs dmdas is the default.
    if (ready_.load(std::memory_order_relaxed) == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    const StreamQueue* of = nullptr;
    ReadyTasks* best = nullptr;
    const auto consider = [&](StreamQueue& stream, std::size_t lane) {
        ReadyTasks& tasks = stream.ready[lane];
        if (tasks.empty() || !stream.allows(worker, Lane(lane)) || !can_run(worker, tasks.top().task)) return;
        if (best != nullptr && !(best->top() < tasks.top())) return;
        best = &tasks;
        of = &stream;
    };
    for (StreamQueue& stream : streams_)
        for (std::size_t lane = 0; lane < lanes; ++lane) consider(stream, lane);
    if (best == nullptr) return nullptr;
    starpu_task* task = best->top().task;
    best->pop();
    ready_.fetch_sub(1, std::memory_order_relaxed);
    hands_[static_cast<std::size_t>(worker)].holds.store(of);
    return task;
}

StreamQueue& Scheduler::open(const LaneWorkers& workers) {
    const std::lock_guard lock(mutex_);
    StreamQueue& opened = streams_.emplace_back();
    opened.workers = workers;
    return opened;
}

void Scheduler::close(StreamQueue& stream) {
    const std::lock_guard lock(mutex_);
    streams_.remove_if([&](const StreamQueue& s) { return &s == &stream; });
}

void Scheduler::set_workers(StreamQueue& stream, const LaneWorkers& workers) {
    if (!own())
        throw Error(
            "the workers of a stream cannot change under StarPU's scheduler {}, which may give tasks to workers before "
            "they run: use the scheduler {}",
            name_, streams);
    WorkerBits removed;
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t lane = 0; lane < lanes; ++lane) removed |= stream.workers[lane] & ~workers[lane];
        stream.workers = workers;
    }
    for (std::size_t w = 0; w < hands_.size(); ++w)
        while (removed[w] && hands_[w].holds.load() == &stream) std::this_thread::yield();
}

Gate& Scheduler::gate(const LimitedResource& resource) {
    const std::lock_guard lock(gates_mutex_);
    const std::size_t number = number_of(resources_, resource);
    while (gates_.size() <= number) gates_.emplace_back(resource.at_most);
    return gates_[number];
}

void Scheduler::expect(const Scheduled& task) {
    if (task.gate != nullptr) task.gate->expect();
    if (own()) task.stream->ready[static_cast<std::size_t>(task.lane)].expect(mutex_);
}

void Scheduler::ended(const Scheduled& task) {
    if (task.gate == nullptr) return;
    if (starpu_task* next = task.gate->leave()) put(next);
}

}  // namespace tesela::starpu
