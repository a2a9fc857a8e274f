#include "tesela/sim/internal/scheduler.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/internal/timers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tesela::sim {
namespace {

/// Tasks that a place with GPUs beside it gets data for while it computes others.
constexpr std::int32_t tasks_ahead = 8;

}  // namespace

NodeScheduler::NodeScheduler(const SchedulerSurroundings& around, std::int32_t node, SimulatedScheduler rule)
    : around_(around),
      node_(node),
      type_(around.cluster.type_of_node[static_cast<std::size_t>(node)]),
      rule_(rule) {
    for (const Place& place : around.cluster.places_of(node)) {
        places_.emplace_back(place);
        if (place.is_gpu()) lookahead_ = tasks_ahead;
    }
}

/// Of a resource a node has the tasks' limit, or the platform's where that is lower.
void NodeScheduler::begin(const Section& section, std::span<const ResourceLimit> resources) {
    section_ = &section;
    const auto& of_platform = around_.cluster.type(node_).limits;
    for (const ResourceLimit& resource : resources.subspan(resources_.known())) {
        const auto described = of_platform.find(resource.name);
        const Index few = described == of_platform.end() ? resource.at_most : described->second;
        resources_.add(std::min<Index>(resource.at_most, few));
    }
}

void NodeScheduler::allow(std::uint16_t stream, const WorkerSet& workers) {
    if (allowed_.size() <= stream) allowed_.resize(std::size_t{stream} + 1);
    allowed_[stream] = AllowedWorkers(workers, around_.cluster.workers_of(node_));
    around_.handler.has_work(node_);
}

void NodeScheduler::check_none_waits() const {
    for (const ReadyQueue& queue : queues_)
        if (!queue.tasks.empty() && !allowed_[queue.stream].all()) no_worker_for(queue.tasks.top().vertex);
}

void NodeScheduler::no_worker_for(std::uint32_t task) const {
    throw Error("none of the workers that stream {} may use on node {} can run {}", vertex(task).stream, node_,
                around_.durations.kernel(vertex(task).work).name);
}

void NodeScheduler::no_place_for(std::uint32_t task) const {
    if (!allowed(task).all()) no_worker_for(task);
    throw Error("the tiles of {} do not fit into the memory of the GPUs of node {}: use smaller tiles",
                around_.durations.kernel(vertex(task).work).name, node_);
}

double NodeScheduler::seconds(std::uint32_t task, const Place& place) const {
    return around_.durations.seconds(vertex(task).work, type_, place.group);
}

void NodeScheduler::admit(std::uint32_t task) {
    if (resources_.take(vertex(task).resource, queued(task))) enqueue(task);
}

void NodeScheduler::give_back_resource(std::uint32_t task) {
    if (const auto next = resources_.give_back(vertex(task).resource)) enqueue(*next);
}

/// Seconds that a task takes in a place; `never` where it cannot run, or its tiles do not fit.
double NodeScheduler::seconds_if_able(std::uint32_t task, const Place& place) const {
    const double duration = seconds(task, place);
    return duration != Durations::never && around_.memory.fits(task, place.memory) ? duration : Durations::never;
}

/// All places that can run a task, as bits. Whose workers its stream may use is not asked: that can change while it
/// waits.
std::uint32_t NodeScheduler::able_places(std::uint32_t task) const {
    std::uint32_t able = 0;
    for (std::size_t p = 0; p < places_.size(); ++p)
        if (seconds_if_able(task, *places_[p].place) != Durations::never) able |= 1U << p;
    return able;
}

/// The place that is expected to end a task first, as a bit.
std::uint32_t NodeScheduler::earliest_place(std::uint32_t task) const {
    std::uint32_t best = 0;
    double least = Durations::never;
    for (std::size_t p = 0; p < places_.size(); ++p) {
        const Place& place = *places_[p].place;
        const double duration = seconds_if_able(task, place);
        if (duration == Durations::never || !allowed(task).has_any_of(place)) continue;
        const double end =
            places_[p].expected_wait(now()) + around_.memory.seconds_to_bring(task, place.memory) + duration;
        if (end < least) {
            least = end;
            best = 1U << p;
        }
    }
    return best;
}

void NodeScheduler::enqueue(std::uint32_t task) {
    const std::uint32_t places = rule_ == SimulatedScheduler::priority ? able_places(task) : earliest_place(task);
    if (places == 0) no_place_for(task);
    if (std::has_single_bit(places)) {
        PlaceState& place = places_[static_cast<std::size_t>(std::countr_zero(places))];
        place.load += seconds(task, *place.place);
        ++place.queued;
    }
    queue_for(task, places).tasks.push(queued(task));
    around_.handler.has_work(node_);
}

NodeScheduler::ReadyQueue& NodeScheduler::queue_for(std::uint32_t task, std::uint32_t places) {
    const Vertex& of = vertex(task);
    const auto queue = std::find_if(queues_.begin(), queues_.end(), [&](const ReadyQueue& q) {
        return q.places == places && q.urgency == of.urgency && q.stream == of.stream;
    });
    if (queue != queues_.end()) return *queue;
    return queues_.emplace_back(ReadyQueue{.places = places, .urgency = of.urgency, .stream = of.stream});
}

/// Every place takes tasks as long as it has a free worker for them (and a few more, to have their data in time).
void NodeScheduler::dispatch() {
    for (std::size_t p = 0; p < places_.size(); ++p) {
        start_staged(p);
        while (ReadyQueue* queue = best_queue(p)) {
            const std::uint32_t task = queue->tasks.top().vertex;
            queue->tasks.pop();
            if (std::has_single_bit(queue->places))
                --places_[p].queued;
            else
                places_[p].load += seconds(task, *places_[p].place);
            stage(task, p);
            start_staged(p);
        }
    }
    if (to_lose_ > 0) lose_time();
}

/// The one with the most urgent task among those that a place takes from now; null if there is none.
NodeScheduler::ReadyQueue* NodeScheduler::best_queue(std::size_t p) {
    // Most places are full most of the time, and need no look at the queues.
    if (ordinary_room(places_[p]) <= 0 && places_[p].free_critical.empty()) return nullptr;
    ReadyQueue* best = nullptr;
    for (ReadyQueue& queue : queues_) {
        if ((queue.places >> p & 1U) == 0 || queue.tasks.empty() || room(places_[p], queue) <= 0) continue;
        if (best == nullptr || best->tasks.top() < queue.tasks.top()) best = &queue;
    }
    return best;
}

/// How many more tasks of a queue a place takes: for its free workers, and a few more whose data are brought meanwhile.
/// A stream that may not use all workers gets none while none of its own is free.
std::int32_t NodeScheduler::room(const PlaceState& place, const ReadyQueue& queue) const {
    const AllowedWorkers& allowed = allowed_[queue.stream];
    std::int32_t room = ordinary_room(place);
    if (!allowed.all() && !place.free.has_any_of(allowed)) room = 0;
    if (queue.urgency == Urgency::critical) room += place.free_critical.count();
    return room;
}

/// The task will run here: its data are brought, and kept on a GPU until it has ended.
void NodeScheduler::stage(std::uint32_t task, std::size_t p) {
    ++places_[p].staged;
    if (around_.memory.stage(task, places_[p].place->memory))
        complete(task, p);
    else
        without_data_.emplace_back(task, p);
}

void NodeScheduler::complete(std::uint32_t task, std::size_t p) {
    places_[p].complete[static_cast<std::size_t>(vertex(task).urgency)].push(queued(task));
}

void NodeScheduler::data_there(std::uint32_t task) {
    const auto staged = std::find_if(without_data_.begin(), without_data_.end(),
                                     [&](const auto& waiting) { return waiting.first == task; });
    complete(task, staged->second);
    without_data_.erase(staged);
    around_.handler.has_work(node_);
}

/// The stream of a staged task has lost all workers of this place: it goes back to where it was chosen from.
void NodeScheduler::unstage(std::uint32_t task, std::size_t p) {
    places_[p].leave_stage(seconds(task, *places_[p].place));
    around_.memory.unstage(task, places_[p].place->memory);
    enqueue(task);
}

void NodeScheduler::start_staged(std::size_t p) {
    PlaceState& place = places_[p];
    auto& [ordinary, critical] = place.complete;
    while (!place.free.empty() && !(ordinary.empty() && critical.empty())) {
        const bool urgent = ordinary.empty() || (!critical.empty() && ordinary.top() < critical.top());
        if (start_first(urgent ? critical : ordinary, place.free, p)) continue;
        if (!start_first(urgent ? ordinary : critical, place.free, p)) break;
    }
    while (!place.free_critical.empty() && !critical.empty() && start_first(critical, place.free_critical, p)) {
    }
}

/// Starts the first task of a queue that may use one of the free workers.
bool NodeScheduler::start_first(VertexQueue& queue, FreeWorkers& free, std::size_t p) {
    const PlaceState& place = places_[p];
    const AllowedWorkers any;
    const bool serves_all = &free == &place.free_critical;
    std::vector<QueuedVertex> passed_over;
    bool started = false;
    while (!queue.empty() && !started) {
        const QueuedVertex first = queue.top();
        queue.pop();
        const AllowedWorkers& may = allowed(first.vertex);
        if (const auto worker = free.take(serves_all ? any : may)) {
            start({first.vertex, p, *worker});
            started = true;
        } else if (!may.has_any_of(*place.place) && !place.takes_critical(vertex(first.vertex).urgency)) {
            unstage(first.vertex, p);
        } else {
            passed_over.push_back(first);
        }
    }
    for (const QueuedVertex& task : passed_over) queue.push(task);
    return started;
}

void NodeScheduler::start(const AssignedTask& task) {
    PlaceState& place = places_[task.place];
    const double slowdown = around_.handler.take_core(task);
    const double before_kernel = place.place->is_gpu() ? 0 : seconds_before_kernel(slowdown);
    around_.handler.task_starts(task, before_kernel);
    const double expected = seconds(task.vertex, *place.place);
    const double kernel = expected * vertex(task.vertex).noise;
    place.leave_stage(expected);
    if (place.place->is_gpu()) {
        place.gpu.start(task.vertex, kernel + around_.memory.seconds_owed(place.place->memory, node_), now());
        return expect_kernel(task.place);
    }
    const double duration = slowdown * kernel + before_kernel;
    place.cores.start(duration, now());
    around_.timeline.set_timer(now() + duration, pack({.kind = TimerKind::task_end, .id = task.vertex}));
}

/// Workers take tasks from one list, one after the other, and then need some time of their own for each.
double NodeScheduler::seconds_before_kernel(double slowdown) {
    const RuntimeCosts& runtime = around_.cluster.type(node_).runtime;
    const double turn = std::max(now(), next_turn_);
    next_turn_ = turn + runtime.turn;
    return turn - now() + slowdown * runtime.task;
}

void NodeScheduler::handle_message(double bytes) {
    const double seconds = around_.cluster.type(node_).runtime.message_seconds(bytes);
    if (seconds == 0) return;
    to_lose_ += seconds;
    around_.handler.has_work(node_);
}

/// A core that is still free when everything that can start has started has the time for messages.
void NodeScheduler::lose_time() {
    const auto has_free_core = [](const PlaceState& place) { return !place.place->is_gpu() && !place.free.empty(); };
    const double seconds = std::exchange(to_lose_, 0);
    if (std::ranges::none_of(places_, has_free_core)) lost_ += seconds;
}

bool NodeScheduler::goes_on(std::uint32_t task, std::size_t p) {
    if (lost_ == 0) return false;
    const double more = std::exchange(lost_, 0);
    places_[p].cores.go_on(more);
    around_.timeline.set_timer(now() + more, pack({.kind = TimerKind::task_end, .id = task}));
    return true;
}

void NodeScheduler::expect_kernel(std::size_t p) {
    const auto expected = places_[p].gpu.expect(now());
    if (!expected) return;
    around_.timeline.set_timer(expected->time,
                               pack({.kind = TimerKind::gpu, .node = node_, .part = p, .id = expected->number}));
}

std::optional<std::uint32_t> NodeScheduler::kernel_ended(std::size_t p, std::uint32_t expected) {
    const auto task = places_[p].gpu.end_first(expected, now());
    if (task) expect_kernel(p);
    return task;
}

void NodeScheduler::give_back_worker(const AssignedTask& task) {
    PlaceState& place = places_[task.place];
    place.give_back(task.worker);
    if (!place.place->is_gpu()) place.cores.end(now());
}

}  // namespace tesela::sim
