#include "tesela/sim/internal/executor.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tesela::sim {
namespace {

/// Tasks that a place with GPUs beside it gets data for while it computes others.
constexpr std::int32_t tasks_ahead = 8;

NodeState make_node(const std::vector<Place>& places) {
    NodeState node;
    for (const Place& place : places) {
        PlaceState state{.place = &place};
        for (std::int32_t s = place.slots; s-- > 0;) state.free_slots.push_back(place.first_worker + s);
        for (std::int32_t s = place.critical_slots; s-- > 0;) state.free_critical.push_back(place.first_critical + s);
        node.places.push_back(std::move(state));
        if (place.is_gpu()) node.lookahead = tasks_ahead;
    }
    return node;
}

}  // namespace

AllowedWorkers::AllowedWorkers(const WorkerSet& workers, std::size_t of_node) {
    if (workers.empty()) return;
    allowed_.assign(of_node, false);
    for (const int worker : workers)
        if (static_cast<std::size_t>(worker) < of_node) allowed_[static_cast<std::size_t>(worker)] = true;
}

bool AllowedWorkers::has_any_of(const Place& place) const {
    for (std::int32_t slot = 0; slot < place.slots; ++slot)
        if (has(place.first_worker + slot)) return true;
    return false;
}

std::size_t AllowedWorkers::find_in(const std::vector<std::int32_t>& free_workers) const {
    for (std::size_t k = free_workers.size(); k-- > 0;)
        if (has(free_workers[k])) return k;
    return free_workers.size();
}

Executor::Executor(const Cluster& cluster, const Durations& durations, Copies& copies, const SimulationOptions& options)
    : cluster_(cluster),
      durations_(durations),
      copies_(copies),
      options_(options),
      timeline_(options.network(cluster.platform)),
      submissions_(cluster.nodes(), Submission({options.submission_seconds, options.passing_seconds})),
      memories_(cluster, copies, *timeline_, options.observers, *this),
      channels_(cluster),
      locks_(copies) {
    for (std::size_t node = 0; node < cluster.nodes(); ++node)
        nodes_.push_back(make_node(cluster.places[cluster.type_of_node[node]]));
}

double Executor::busy(std::size_t node) const {
    double total = 0;
    for (const PlaceState& place : nodes_[node].places) total += place.busy;
    return total;
}

void Executor::run(const Section& section, const SubmissionRules& rules) {
    section_ = &section;
    rules_ = &rules;
    finished_ = 0;
    know_resources();
    progress_.assign(section.vertices.size(), {});
    // One more thing to wait for: submission on its own node.
    for (std::size_t v = 0; v < progress_.size(); ++v) progress_[v].waits_for = section.waits_for[v] + 1;
    channels_.begin(section);
    locks_.begin(section);
    memories_.begin(section);
    const auto count = static_cast<std::int32_t>(nodes_.size());
    for (std::int32_t node = 0; node < count; ++node) {
        const auto n = static_cast<std::size_t>(node);
        submissions_[n].begin(section.submissions[n], section.first_item, rules.throttle, now());
        await_submission(node);
    }
    timeline_->run(*this);
    for (std::int32_t node = 0; node < count; ++node)
        tell(&ScheduleObserver::wait, ScheduledWait{.node = node,
                                                    .stream = rules.waiting,
                                                    .start = submissions_[static_cast<std::size_t>(node)].last(),
                                                    .end = now()});
    check_all_done();
}

/// What the nodes have of the resources that tasks need: the tasks' limit, or the platform's where that is lower.
void Executor::know_resources() {
    const std::vector<ResourceLimit>& resources = rules_->recording.resources;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
        for (std::size_t r = nodes_[node].resources.known(); r < resources.size(); ++r) {
            const auto& of_platform = cluster_.type(static_cast<std::int32_t>(node)).limits;
            const auto described = of_platform.find(resources[r].name);
            const Index few = described == of_platform.end() ? resources[r].at_most : described->second;
            nodes_[node].resources.add(std::min<Index>(resources[r].at_most, few));
        }
}

void Executor::check_all_done() const {
    if (finished_ == section_->vertices.size()) return;
    for (const NodeState& node : nodes_)
        for (const ReadyQueue& queue : node.queues)
            if (!queue.tasks.empty() && !node.allowed[queue.stream].all()) no_worker_for(queue.tasks.top().vertex);
    throw Error("the simulation stopped with {} of {} tasks and messages done: this is a fault of the simulator",
                finished_, section_->vertices.size());
}

void Executor::no_worker_for(std::uint32_t v) const {
    const Vertex& vertex = section_->vertices[v];
    throw Error("none of the workers that stream {} may use on node {} can run {}", vertex.stream, vertex.node,
                durations_.kernel(vertex.work).name);
}

void Executor::allow(std::uint16_t stream, const WorkerSet& workers) {
    for (std::size_t node = 0; node < nodes_.size(); ++node) allow(stream, workers, static_cast<std::int32_t>(node));
}

void Executor::allow(std::uint16_t stream, const WorkerSet& workers, std::int32_t node) {
    auto& allowed = nodes_[static_cast<std::size_t>(node)].allowed;
    if (allowed.size() <= stream) allowed.resize(std::size_t{stream} + 1);
    allowed[stream] = AllowedWorkers(workers, cluster_.workers_of(node));
    touch(node);
}

void Executor::timer(std::uint64_t what) {
    const TimerWord word = unpack(what);
    const auto memory = static_cast<std::int32_t>(word.part);
    switch (word.kind) {
        case TimerKind::submission: return submit_next(word.node);
        case TimerKind::task_end: return task_ended(word.id);
        case TimerKind::gpu: return gpu_tick(word.node, word.part, word.id);
        case TimerKind::to_device: return memories_.transfer_ended(word.node, memory, Direction::to_device);
        case TimerKind::to_host: return memories_.transfer_ended(word.node, memory, Direction::to_host);
    }
}

void Executor::touch(std::int32_t node) {
    NodeState& state = nodes_[static_cast<std::size_t>(node)];
    if (state.touched) return;
    state.touched = true;
    touched_.push_back(node);
}

void Executor::settle() {
    while (!touched_.empty()) {
        const std::int32_t node = touched_.back();
        touched_.pop_back();
        nodes_[static_cast<std::size_t>(node)].touched = false;
        dispatch(node);
    }
}

// --- submission
// -------------------------------------------------------------------------------------------------------

void Executor::await_submission(std::int32_t node) {
    if (const auto time = submissions_[static_cast<std::size_t>(node)].next_time(now()))
        timeline_->set_timer(*time, pack({.kind = TimerKind::submission, .node = node}));
}

void Executor::submit_next(std::int32_t node) {
    const auto step = submissions_[static_cast<std::size_t>(node)].submit(now());
    if (!step) return;
    if (step->vertex == SubmissionStep::none) {
        const auto set = rules_->recording.items[step->item].first_part;
        allow(rules_->throttle.stream_of_item[step->item], rules_->recording.worker_sets[set], node);
    } else if (section_->vertices[step->vertex].node == node) {
        progress_[step->vertex].submitted = now();
        release(step->vertex);
    }
    await_submission(node);
}

/// What a node submitted is not pending there any more.
void Executor::ended_on(std::int32_t node, std::uint16_t stream) {
    const auto held_since = submissions_[static_cast<std::size_t>(node)].ended(stream);
    if (!held_since) return;
    tell(
        &ScheduleObserver::wait,
        ScheduledWait{
            .node = node, .stream = stream, .reason = trace::WaitReason::throttle, .start = *held_since, .end = now()});
    submit_next(node);
}

// --- dependencies
// -----------------------------------------------------------------------------------------------------

void Executor::release(std::uint32_t v) {
    if (--progress_[v].waits_for == 0) become_ready(v);
}

void Executor::become_ready(std::uint32_t v) {
    progress_[v].ready = now();
    const Vertex& vertex = section_->vertices[v];
    if (!vertex.message()) {
        if (locks_.take(v)) admit(v);
        return;
    }
    if (memories_.stage(v, 0)) send(channels_.ready(v));  // a message leaves from main memory
}

void Executor::data_there(std::uint32_t v) {
    if (section_->vertices[v].message()) return send(channels_.ready(v));
    complete(v);
    touch(section_->vertices[v].node);
}

void Executor::send(std::span<const std::uint32_t> messages) {
    for (const std::uint32_t v : messages) {
        const Vertex& vertex = section_->vertices[v];
        timeline_->send({v, vertex.node, vertex.to, vertex.priority, vertex.bytes});
    }
}

void Executor::message_started(std::uint32_t id) {
    memories_.allocate(section_->uses_of(section_->vertices[id]).back().copy);
}

void Executor::message_arrived(std::uint32_t id, const MessageTimes& times) {
    const Vertex& vertex = section_->vertices[id];
    const std::uint32_t arrived = section_->uses_of(vertex).back().copy;
    const Copy& target = copies_[arrived];
    memories_.written(arrived, 0);
    ++messages_;
    bytes_ += vertex.bytes;
    send(channels_.arrived(id));
    using Carries = ScheduledMessage::Carries;
    tell(&ScheduleObserver::message,
         ScheduledMessage{.carries = vertex.datum == Vertex::parcel ? Carries::parcel : Carries::datum,
                          .datum = target.datum,
                          .from = vertex.node,
                          .to = vertex.to,
                          .priority = vertex.priority,
                          .version = vertex.version,
                          .bytes = vertex.bytes,
                          .posted = progress_[id].ready,
                          .start = times.start,
                          .sent = times.sent,
                          .arrival = times.arrival});
    ended_on(vertex.to, vertex.stream);
    finish(id);
}

void Executor::finish(std::uint32_t v) {
    ++finished_;
    const Vertex& vertex = section_->vertices[v];
    memories_.forget_uses(v);
    const auto* successor = section_->successors.data() + section_->first_successor[v];
    const auto* end = section_->successors.data() + section_->first_successor[v + 1];
    for (; successor != end; ++successor) release(*successor);
    ended_on(vertex.node, vertex.stream);
}

// --- scheduling
// -------------------------------------------------------------------------------------------------------

/// A task that needs a limited resource goes on when there is one left for it.
void Executor::admit(std::uint32_t v) {
    const Vertex& vertex = section_->vertices[v];
    if (node_of(v).resources.take(vertex.resource, {vertex.priority, v})) enqueue(v);
}

double Executor::seconds(std::uint32_t v, const Place& place) const {
    const Vertex& vertex = section_->vertices[v];
    return durations_.seconds(vertex.work, cluster_.type_of_node[static_cast<std::size_t>(vertex.node)], place.group);
}

/// Seconds until a place has done what it has, as far as it keeps a new task waiting.
double Executor::expected_wait(const PlaceState& place) const {
    if (place.place->is_gpu()) {
        double left = place.load;
        for (const auto& kernel : place.running) left += kernel.left;
        return std::max(0.0, left - (place.running.empty() ? 0 : now() - place.updated));
    }
    if (place.queued == 0 && !place.free_slots.empty()) return 0;
    return std::max(0.0, (place.load + place.ends - place.working * now()) / place.place->slots);
}

/// The places that may take a task, as bits: all that can run it, or the one expected to end it first.
std::uint32_t Executor::choose_places(std::uint32_t v) const {
    const NodeState& node = nodes_[static_cast<std::size_t>(section_->vertices[v].node)];
    std::uint32_t able = 0;
    std::uint32_t best = 0;
    double least = Durations::never;
    for (std::size_t p = 0; p < node.places.size(); ++p) {
        const PlaceState& place = node.places[p];
        const double duration = seconds(v, *place.place);
        if (duration == Durations::never || !memories_.fits(v, place.place->memory)) continue;
        // Under `priority` a set may change while the task waits.
        if (options_.scheduler == SimulatedScheduler::earliest_finish && !allowed(v).has_any_of(*place.place)) continue;
        able |= 1U << p;
        if (options_.scheduler == SimulatedScheduler::priority) continue;
        const double end = expected_wait(place) + memories_.seconds_to_bring(v, place.place->memory) + duration;
        if (end < least) {
            least = end;
            best = 1U << p;
        }
    }
    return options_.scheduler == SimulatedScheduler::priority ? able : best;
}

void Executor::enqueue(std::uint32_t v) {
    const Vertex& vertex = section_->vertices[v];
    NodeState& node = node_of(v);
    const std::uint32_t places = choose_places(v);
    if (places == 0) {
        if (!allowed(v).all()) no_worker_for(v);
        throw Error("the tiles of {} do not fit into the memory of the GPUs of node {}: use smaller tiles",
                    durations_.kernel(vertex.work).name, vertex.node);
    }
    if (std::has_single_bit(places)) {
        PlaceState& place = node.places[static_cast<std::size_t>(std::countr_zero(places))];
        place.load += seconds(v, *place.place);
        ++place.queued;
    }
    auto queue = std::find_if(node.queues.begin(), node.queues.end(), [&](const ReadyQueue& q) {
        return q.places == places && q.urgency == vertex.urgency && q.stream == vertex.stream;
    });
    if (queue == node.queues.end())
        queue = node.queues.insert(node.queues.end(),
                                   {.places = places, .urgency = vertex.urgency, .stream = vertex.stream});
    queue->tasks.push({vertex.priority, v});
    touch(vertex.node);
}

/// Every place takes tasks as long as it has a free worker for them (and a few more, to have their data in time).
void Executor::dispatch(std::int32_t n) {
    NodeState& node = nodes_[static_cast<std::size_t>(n)];
    for (std::size_t p = 0; p < node.places.size(); ++p) {
        PlaceState& place = node.places[p];
        start_staged(n, p);
        while (true) {
            ReadyQueue* best = nullptr;
            for (ReadyQueue& queue : node.queues) {
                if ((queue.places >> p & 1U) == 0 || queue.tasks.empty()) continue;
                if (room(node, place, queue) <= 0) continue;
                if (best == nullptr || best->tasks.top() < queue.tasks.top()) best = &queue;
            }
            if (best == nullptr) break;
            const std::uint32_t v = best->tasks.top().vertex;
            best->tasks.pop();
            if (std::has_single_bit(best->places))
                --place.queued;
            else
                place.load += seconds(v, *place.place);
            stage(v, n, p);
            start_staged(n, p);
        }
    }
}

/// How many more tasks of a queue a place takes: for its free workers, and a few more whose data are brought meanwhile.
/// A stream that may not use all workers gets none while none of its own is free.
std::int32_t Executor::room(const NodeState& node, const PlaceState& place, const ReadyQueue& queue) const {
    const AllowedWorkers& allowed = node.allowed[queue.stream];
    auto room = static_cast<std::int32_t>(place.free_slots.size()) + node.lookahead - place.staged;
    if (!allowed.all() && allowed.find_in(place.free_slots) == place.free_slots.size()) room = 0;
    if (queue.urgency == Urgency::critical) room += static_cast<std::int32_t>(place.free_critical.size());
    return room;
}

const AllowedWorkers& Executor::allowed(std::uint32_t v) const {
    const Vertex& vertex = section_->vertices[v];
    return nodes_[static_cast<std::size_t>(vertex.node)].allowed[vertex.stream];
}

/// The task will run here: its data are brought, and kept on a GPU until it has ended.
void Executor::stage(std::uint32_t v, std::int32_t n, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    ++place.staged;
    progress_[v].place = static_cast<std::uint8_t>(p);
    if (memories_.stage(v, place.place->memory)) complete(v);
}

void Executor::complete(std::uint32_t v) {
    const Vertex& vertex = section_->vertices[v];
    PlaceState& place = node_of(v).places[progress_[v].place];
    place.complete[static_cast<std::size_t>(vertex.urgency)].push({vertex.priority, v});
}

void Executor::start_staged(std::int32_t n, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    auto& [ordinary, critical] = place.complete;
    while (!place.free_slots.empty() && !(ordinary.empty() && critical.empty())) {
        const bool urgent = ordinary.empty() || (!critical.empty() && ordinary.top() < critical.top());
        if (start_first(urgent ? critical : ordinary, place.free_slots, n, p)) continue;
        if (!start_first(urgent ? ordinary : critical, place.free_slots, n, p)) break;
    }
    while (!place.free_critical.empty() && !critical.empty() && start_first(critical, place.free_critical, n, p)) {
    }
}

/// Starts the first task of a queue that may use one of the free workers. A task whose stream has lost all workers of
/// this place goes back to where it was chosen from.
bool Executor::start_first(VertexQueue& queue, std::vector<std::int32_t>& free_workers, std::int32_t n, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    const bool critical_workers = &free_workers == &place.free_critical;
    std::vector<QueuedVertex> passed_over;
    bool started = false;
    while (!queue.empty() && !started) {
        const QueuedVertex first = queue.top();
        queue.pop();
        const AllowedWorkers& may = allowed(first.vertex);
        const std::size_t k = critical_workers ? free_workers.size() - 1 : may.find_in(free_workers);
        if (k < free_workers.size()) {
            const std::int32_t worker = free_workers[k];
            free_workers.erase(free_workers.begin() + static_cast<std::ptrdiff_t>(k));
            --place.staged;
            start(first.vertex, n, p, worker);
            started = true;
        } else if (!may.has_any_of(*place.place) && !takes_critical(place, first.vertex)) {
            unstage(first.vertex, n, p);
        } else {
            passed_over.push_back(first);
        }
    }
    for (const QueuedVertex& vertex : passed_over) queue.push(vertex);
    return started;
}

/// Whether the place's critical worker, which serves every stream, will take a task.
bool Executor::takes_critical(const PlaceState& place, std::uint32_t v) const {
    return place.place->critical_slots > 0 && section_->vertices[v].urgency == Urgency::critical;
}

void Executor::unstage(std::uint32_t v, std::int32_t n, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    --place.staged;
    place.load = std::max(0.0, place.load - seconds(v, *place.place));
    memories_.unstage(v, place.place->memory);
    enqueue(v);
}

void Executor::start(std::uint32_t v, std::int32_t n, std::size_t p, std::int32_t slot) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    const Vertex& vertex = section_->vertices[v];
    for (const Use& use : section_->uses_of(vertex))
        if (writes(use.mode)) memories_.allocate(use.copy);
    progress_[v].start = now();
    progress_[v].worker = slot;
    place.load = std::max(0.0, place.load - seconds(v, *place.place));
    const double duration = seconds(v, *place.place) * vertex.noise;
    if (place.place->is_gpu()) {
        advance_gpu(place);
        place.running.push_back({v, duration});
        expect_gpu(n, p);
    } else {
        place.busy += duration;
        ++place.working;
        place.ends += now() + duration;
        timeline_->set_timer(now() + duration, pack({.kind = TimerKind::task_end, .id = v}));
    }
}

void Executor::task_ended(std::uint32_t v) {
    const Vertex& vertex = section_->vertices[v];
    const Progress& progress = progress_[v];
    PlaceState& place = node_of(v).places[progress.place];
    const bool critical_worker = place.place->critical_slots > 0 && progress.worker >= place.place->first_critical;
    auto& slots = critical_worker ? place.free_critical : place.free_slots;
    slots.insert(std::lower_bound(slots.begin(), slots.end(), progress.worker, std::greater<>()), progress.worker);
    if (!place.place->is_gpu()) {
        place.ends = --place.working == 0 ? 0 : place.ends - now();
    }
    for (const Use& use : section_->uses_of(vertex))
        if (writes(use.mode)) memories_.written(use.copy, place.place->memory);
    memories_.unstage(v, place.place->memory);
    tell(&ScheduleObserver::task, ScheduledTask{.item = vertex.item,
                                                .node = vertex.node,
                                                .worker = progress.worker,
                                                .submitted = progress.submitted,
                                                .ready = progress.ready,
                                                .start = progress.start,
                                                .end = now()});
    for (const std::uint32_t next : locks_.give_back(v)) admit(next);
    if (const auto next = node_of(v).resources.give_back(vertex.resource)) enqueue(*next);
    finish(v);
    touch(vertex.node);
    if (options_.progress && ++tasks_ % 4096 == 0) options_.progress(tasks_);
}

/// Kernels that share a GPU go on at equal rates: counts down what is left of each since the last change.
void Executor::advance_gpu(PlaceState& place) {
    const double passed = now() - place.updated;
    place.updated = now();
    if (place.running.empty()) return;
    place.busy += passed;
    const double share = passed / static_cast<double>(place.running.size());
    for (auto& kernel : place.running) kernel.left -= share;
}

void Executor::expect_gpu(std::int32_t n, std::size_t p) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    ++place.epoch;
    if (place.running.empty()) return;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& kernel : place.running) least = std::min(least, kernel.left);
    timeline_->set_timer(now() + std::max(0.0, least) * static_cast<double>(place.running.size()),
                         pack({.kind = TimerKind::gpu, .node = n, .part = p, .id = place.epoch}));
}

/// The kernel with the least left has ended, unless others have started since this was expected.
void Executor::gpu_tick(std::int32_t n, std::size_t p, std::uint32_t epoch) {
    PlaceState& place = nodes_[static_cast<std::size_t>(n)].places[p];
    if (epoch != place.epoch) return;
    advance_gpu(place);
    const auto first = std::min_element(place.running.begin(), place.running.end(),
                                        [](const auto& a, const auto& b) { return a.left < b.left; });
    const std::uint32_t v = first->vertex;
    place.running.erase(first);
    expect_gpu(n, p);
    task_ended(v);
}

}  // namespace tesela::sim
