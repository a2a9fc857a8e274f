#include "tesela/sim/internal/executor.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/internal/observers.hpp"
#include "tesela/sim/internal/timers.hpp"

#include <utility>

namespace tesela::sim {

Executor::Executor(const Cluster& cluster, const Durations& durations, Copies& copies, const SimulationOptions& options)
    : cluster_(cluster),
      durations_(durations),
      copies_(copies),
      options_(options),
      timeline_(options.network(cluster.platform)),
      memories_(cluster, copies, *timeline_, options.observers, *this),
      allocations_(cluster, options.allocation, copies, memories_),
      submission_core_(cluster.nodes()),
      use_(cluster),
      channels_(cluster),
      locks_(copies),
      has_work_(cluster.nodes(), false),
      given_up_(cluster.nodes(), 0) {
    const SchedulerSurroundings around{cluster, durations, *timeline_, memories_, *this};
    for (std::int32_t node = 0; std::cmp_less(node, cluster.nodes()); ++node) {
        const RuntimeCosts& runtime = cluster.type(node).runtime;
        submissions_.emplace_back(SubmissionCosts{options.submission_seconds.value_or(runtime.submission),
                                                  options.passing_seconds.value_or(runtime.passing)});
        schedulers_.emplace_back(around, node, options.scheduler);
    }
}

void Executor::run(const Section& section, const SubmissionRules& rules) {
    section_ = &section;
    rules_ = &rules;
    finished_ = 0;
    progress_.assign(section.vertices.size(), {});
    // One more thing to wait for: submission on its own node.
    waits_for_ = section.waits_for;
    for (std::uint32_t& count : waits_for_) ++count;
    for (NodeScheduler& scheduler : schedulers_) scheduler.begin(section, rules.resources);
    channels_.begin(section);
    locks_.begin(section);
    memories_.begin(section);
    allocations_.begin(section);
    for (std::int32_t node = 0; node < node_count(); ++node) {
        const auto n = static_cast<std::size_t>(node);
        submissions_[n].begin(section.submissions[n], section.first_item, rules.throttle, now());
        given_up_[n] = 0;
        give_up(n);
    }
    for (const std::uint32_t copy : section.at_once) memories_.allocate(copy);
    for (std::int32_t node = 0; node < node_count(); ++node) await_submission(node);
    timeline_->run(*this);
    for (std::int32_t node = 0; node < node_count(); ++node)
        tell(options_.observers, &ScheduleObserver::wait,
             ScheduledWait{.node = node,
                           .stream = rules.waiting,
                           .start = submissions_[static_cast<std::size_t>(node)].last(),
                           .end = now()});
    check_all_done();
}

void Executor::check_all_done() const {
    if (finished_ == section_->vertices.size()) return;
    for (const NodeScheduler& scheduler : schedulers_) scheduler.check_none_waits();
    throw Error("the simulation stopped with {} of {} tasks and messages done: this is a fault of the simulator",
                finished_, section_->vertices.size());
}

void Executor::allow(std::uint16_t stream, const WorkerSet& workers) {
    for (NodeScheduler& scheduler : schedulers_) scheduler.allow(stream, workers);
}

void Executor::timer(std::uint64_t what) {
    const TimerWord word = unpack(what);
    const auto memory = static_cast<std::int32_t>(word.part);
    switch (word.kind) {
        case TimerKind::submission: return submit_next(word.node);
        case TimerKind::task_end:
            if (!scheduler_of(word.id).goes_on(word.id, progress_[word.id].place)) task_ended(word.id);
            return;
        case TimerKind::gpu:
            if (const auto v = schedulers_[static_cast<std::size_t>(word.node)].kernel_ended(word.part, word.id))
                task_ended(*v);
            return;
        case TimerKind::to_device: return memories_.transfer_ended(word.node, memory, Direction::to_device);
        case TimerKind::to_host: return memories_.transfer_ended(word.node, memory, Direction::to_host);
        case TimerKind::memory_there: return put_on_wire(word.id);
    }
}

void Executor::has_work(std::int32_t node) {
    const auto n = static_cast<std::size_t>(node);
    if (has_work_[n]) return;
    has_work_[n] = true;
    to_dispatch_.push_back(node);
}

void Executor::settle() {
    while (!to_dispatch_.empty()) {
        const auto node = static_cast<std::size_t>(to_dispatch_.back());
        to_dispatch_.pop_back();
        has_work_[node] = false;
        schedulers_[node].dispatch();
    }
}

// --- from submission to the start
// -------------------------------------------------------------------------------------

void Executor::await_submission(std::int32_t node) {
    Submission& submission = submissions_[static_cast<std::size_t>(node)];
    const auto time = submission.next_time(now());
    if (!time) return;
    const double ready = *time + allocations_.seconds_to_submit(submission.next(), node);
    timeline_->set_timer(ready + submission_core_.delay_of_submission(node, ready - now()),
                         pack({.kind = TimerKind::submission, .node = node}));
}

void Executor::submit_next(std::int32_t node) {
    const auto n = static_cast<std::size_t>(node);
    const auto step = submissions_[n].submit(now());
    if (!step) return;
    if (step->vertex == SubmissionStep::worker_set) {
        const auto set = rules_->recording.items[step->item].first_part;
        schedulers_[n].allow(rules_->throttle.stream_of_item[step->item], rules_->recording.worker_sets[set]);
    } else if (step->has_vertex() && vertex(step->vertex).node == node) {
        progress_[step->vertex].submitted = now();
        release(step->vertex);
    }
    give_up(n);
    await_submission(node);
}

/// What a node holds of matrices that were given up before its next step.
void Executor::give_up(std::size_t node) {
    const std::vector<GivenUpCopy>& copies = section_->given_up[node];
    for (std::size_t& next = given_up_[node];
         next < copies.size() && copies[next].steps <= submissions_[node].submitted(); ++next)
        memories_.forget_use(copies[next].copy);
}

void Executor::release(std::uint32_t v) {
    if (--waits_for_[v] == 0) become_ready(v);
}

void Executor::become_ready(std::uint32_t v) {
    progress_[v].ready = now();
    if (vertex(v).message()) {
        if (memories_.stage(v, 0)) send(channels_.ready(v));  // a message leaves from main memory
    } else if (locks_.take(v)) {
        scheduler_of(v).admit(v);
    }
}

void Executor::data_there(std::uint32_t v) {
    if (vertex(v).message())
        send(channels_.ready(v));
    else
        scheduler_of(v).data_there(v);
}

void Executor::send(std::span<const std::uint32_t> messages) {
    for (const std::uint32_t v : messages) {
        const double ready = allocations_.ready_to_receive(v, now());
        if (ready > now())
            timeline_->set_timer(ready, pack({.kind = TimerKind::memory_there, .id = v}));
        else
            put_on_wire(v);
    }
}

void Executor::put_on_wire(std::uint32_t v) {
    timeline_->send({v, vertex(v).node, vertex(v).to, vertex(v).priority, vertex(v).bytes});
}

void Executor::message_started(std::uint32_t id) {
    memories_.allocate(section_->uses_of(vertex(id)).back().copy);
    schedulers_[static_cast<std::size_t>(vertex(id).node)].handle_message(vertex(id).bytes);
}

bool Executor::on_submission_core(const AssignedTask& task) const {
    const Place& place = place_of(task);
    return place.critical_slots > 0 && task.worker == place.first_critical;
}

double Executor::take_core(const AssignedTask& task) {
    if (!on_submission_core(task)) return 1;
    const std::int32_t node = vertex(task.vertex).node;
    return submission_core_.critical_starts(node, submissions_[static_cast<std::size_t>(node)].busy());
}

void Executor::task_starts(const AssignedTask& task, double before_kernel) {
    for (const Use& use : section_->uses_of(vertex(task.vertex)))
        if (writes(use.mode)) memories_.allocate(use.copy);
    Progress& progress = progress_[task.vertex];
    progress.start = now() + before_kernel;
    progress.place = static_cast<std::uint8_t>(task.place);
    progress.worker = task.worker;
    use_.starts(worker_of(task), progress.submitted, progress.start);
}

// --- the end
// ----------------------------------------------------------------------------------------------------------

void Executor::task_ended(std::uint32_t v) {
    const Progress& progress = progress_[v];
    const std::int32_t node = vertex(v).node;
    NodeScheduler& scheduler = scheduler_of(v);
    const AssignedTask task{v, progress.place, progress.worker};
    const std::int32_t memory = place_of(task).memory;
    use_.ends(worker_of(task), now());
    if (on_submission_core(task)) submission_core_.critical_ends(node);
    scheduler.give_back_worker(task);
    for (const Use& use : section_->uses_of(vertex(v)))
        if (writes(use.mode)) memories_.written(use.copy, memory);
    memories_.unstage(v, memory);
    tell_task(v);
    for (const std::uint32_t next : locks_.give_back(v)) scheduler.admit(next);
    scheduler.give_back_resource(v);
    finish(v);
    has_work(node);
    if (options_.progress && ++tasks_ % 4096 == 0) options_.progress(tasks_);
}

void Executor::message_arrived(std::uint32_t id, const MessageTimes& times) {
    const Vertex& message = vertex(id);
    memories_.written(section_->uses_of(message).back().copy, 0);
    schedulers_[static_cast<std::size_t>(message.to)].handle_message(message.bytes);
    ++messages_;
    bytes_ += message.bytes;
    send(channels_.arrived(id));
    tell_message(id, times);
    ended_on(message.to, message.stream);
    finish(id);
}

void Executor::finish(std::uint32_t v) {
    ++finished_;
    memories_.forget_uses(v);
    const auto* successor = section_->successors.data() + section_->first_successor[v];
    const auto* end = section_->successors.data() + section_->first_successor[v + 1];
    for (; successor != end; ++successor) release(*successor);
    ended_on(vertex(v).node, vertex(v).stream);
}

/// What a node submitted is not pending there any more.
void Executor::ended_on(std::int32_t node, std::uint16_t stream) {
    const auto held_since = submissions_[static_cast<std::size_t>(node)].ended(stream);
    if (!held_since) return;
    tell(
        options_.observers, &ScheduleObserver::wait,
        ScheduledWait{
            .node = node, .stream = stream, .reason = trace::WaitReason::throttle, .start = *held_since, .end = now()});
    submit_next(node);
}

std::int32_t Executor::parcel_of(std::uint32_t task) const {
    const Vertex& of = vertex(task);
    const bool exchange = rules_->recording.items[of.item].kind == RecordedItem::Kind::exchange;
    return exchange ? static_cast<std::int32_t>(of.version) : ScheduledTask::no_parcel;
}

void Executor::tell_task(std::uint32_t v) const {
    if (options_.observers.empty()) return;
    const Progress& progress = progress_[v];
    tell(options_.observers, &ScheduleObserver::task,
         ScheduledTask{.item = vertex(v).item,
                       .node = vertex(v).node,
                       .worker = progress.worker,
                       .submitted = progress.submitted,
                       .ready = progress.ready,
                       .start = progress.start,
                       .end = now(),
                       .work = vertex(v).work,
                       .factor = vertex(v).noise,
                       .kernel = &durations_.kernel(vertex(v).work),
                       .parcel = parcel_of(v)});
}

void Executor::tell_message(std::uint32_t v, const MessageTimes& times) const {
    using Carries = ScheduledMessage::Carries;
    const Vertex& message = vertex(v);
    tell(options_.observers, &ScheduleObserver::message,
         ScheduledMessage{.carries = message.datum == Vertex::parcel ? Carries::parcel : Carries::datum,
                          .datum = copies_[section_->uses_of(message).back().copy].datum,
                          .from = message.node,
                          .to = message.to,
                          .priority = message.priority,
                          .item = message.item,
                          .version = message.version,
                          .bytes = message.bytes,
                          .posted = progress_[v].ready,
                          .start = times.start,
                          .sent = times.sent,
                          .arrival = times.arrival});
}

}  // namespace tesela::sim
