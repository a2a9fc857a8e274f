#include "tesela/starpu/internal/agreement.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/polite_wait.hpp"

#include <chrono>
#include <exception>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

namespace tesela::starpu {
namespace {

/// The topic of what is done outside of streams; streams are topics by number, from 1.
constexpr std::uint64_t engine_topic = 0;
std::uint64_t topic_of(const StarpuStream& stream) { return stream.number + 1; }

}  // namespace

Agreement::Agreement(const net::Nodes& nodes, net::Transport::Options options)
    : nodes_(nodes),
      meetings_(nodes.count(), {.send = [this](int to, const net::Notice& notice) { transport_->notify(to, notice); },
                                .arrived = [this](int node, const net::Arrival& arrival) { arrived(node, arrival); },
                                .diverged = [this](net::Case what) { differ(std::move(what)); },
                                .describe = describe}),
      difference_({.send = [this](int to, const net::Notice& notice) { transport_->notify(to, notice); },
                   .recall = [this](std::uint64_t topic, std::uint64_t step) { return recall(topic, step); },
                   .found = [](const std::string& line) { net::end_job_for_all(line); }}) {
    nodes.all_or_none([&] {  // it starts a thread
        const net::Transport::Hooks hooks{
            .notice = [this](int from, const net::Notice& notice) { hear(from, notice); },
            .mistaken = [this](int from, const net::Message& expected,
                               const std::string& why) { mistaken(from, expected, why); }};
        transport_ = std::make_unique<net::Transport>(nodes, hooks, options);
    });
    slots_.assign(static_cast<std::size_t>(std::min(transport_->slots(), 1 << 16)) + 1, false);
    slots_[0] = true;
    nodes.meet();  // nobody speaks before all can hear
}

Agreement::~Agreement() {
    try {
        (void)meet(Kind::finish, 0, std::uncaught_exceptions() > 0 ? "after an error" : "",
                   [] { return std::int64_t{0}; });
        nodes_.meet();
        transport_.reset();  // before what its notices touch
    } catch (const std::exception& error) {
        net::end_job(error.what());
    }
}

std::string Agreement::describe(const net::Arrival& arrival) {
    switch (static_cast<Kind>(arrival.kind)) {
        case Kind::open: return fmt::format("opens stream {}", arrival.text);
        case Kind::wait: return fmt::format("waits for stream {}", arrival.text);
        case Kind::end: return fmt::format("leaves stream {}", arrival.text);
        case Kind::together: return "does something together with the others outside of streams";
        case Kind::finish: break;
    }
    return arrival.text.empty() ? "ends its engine" : fmt::format("ends its engine ({})", arrival.text);
}

void Agreement::hear(int from, const net::Notice& notice) {
    if (notice.kind == failure_notice)
        hear_failure(notice);
    else if (notice.kind == trail_notice)
        hear_trail(from, notice);
    else if (notice.kind >= net::FirstDifference::first_kind)
        difference_.hear(from, notice);
    else
        meetings_.hear(from, notice);
}

/// The first node has come to a meeting: nobody may be further than it is.
void Agreement::arrived(int node, const net::Arrival& arrival) {
    if (auto wrong = compare(node, arrival)) differ(std::move(*wrong));
}

/// What is wrong with where another node has arrived, if anything.
std::optional<net::Case> Agreement::compare(int node, const net::Arrival& arrival) {
    const auto heard = [&]() -> std::optional<net::Case> {
        if (const auto other = itinerary_.heard(node, arrival, describe(arrival))) return case_of(*other);
        return {};
    };
    const std::lock_guard lock(mutex_);
    if (arrival.topic == engine_topic) {
        if (arrival.round < meetings_of_engine_) return {};
        return heard();
    }
    if (Early* early = early_of(arrival.topic - 1, arrival.round)) {
        early->last_step = arrival.position;
        early->last_step_of = node;
        return heard();
    }
    const auto found = streams_.find(arrival.topic - 1);
    if (found == streams_.end() || found->second->round.load() != arrival.round) return {};  // it is over
    StarpuStream& stream = *found->second;
    stream.last_step_of = node;
    stream.last_step = arrival.position;
    const std::uint64_t here = stream.log.count();
    if (here > arrival.position)
        return case_of({node, arrival.topic, fmt::format("{} after {} steps", describe(arrival), arrival.position),
                        fmt::format("has made {}", here)});
    return heard();
}

void Agreement::step(StarpuStream& stream, std::uint64_t now) {
    if (astray_.load(std::memory_order_relaxed)) go_no_further();
    if (now > stream.last_step.load()) {
        differ(
            case_of({stream.last_step_of.load(), topic_of(stream),
                     fmt::format("stopped in stream {} after {} steps", stream.options().name, stream.last_step.load()),
                     "goes on"}));
        go_no_further();
    }
    if (now == stream.compare_at.load()) {
        std::unique_lock lock(mutex_);
        auto wrong = compare_trail(stream);
        lock.unlock();
        if (wrong) differ(std::move(*wrong));
    }
    if (auto other = itinerary_.step()) {
        other->here = fmt::format("{} in stream {}", stream.log.recall(now, *stream.names).text, stream.options().name);
        differ(case_of(*other));
    }
}

net::Case Agreement::case_of(const net::Elsewhere& other) const {
    return {.nodes = {other.node, nodes_.me()},
            .topic = other.topic,
            .why = fmt::format("node {} {}, where this node {}: {}", other.node, other.there, other.here,
                               net::rule_for_nodes)};
}

/// Messages of the engine are letters.
void Agreement::mistaken(int from, const net::Message& expected, const std::string& why) {
    const StreamMail& mail = static_cast<const Letter&>(expected).stream();
    net::Case what{.nodes = {from, nodes_.me()}, .topic = engine_topic, .why = why};
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, stream] : streams_)
            if (stream->mail.get() == &mail) what.topic = topic_of(*stream);
    }
    differ(std::move(what));
}

void Agreement::differ(net::Case what) {
    astray_ = true;
    what.name = "what all do";
    if (what.topic != engine_topic) {
        const std::lock_guard lock(mutex_);
        const auto found = streams_.find(what.topic - 1);
        if (found != streams_.end()) what.name = fmt::format("stream {}", found->second->options().name);
    }
    const std::string why = what.why;
    if (!difference_.find(std::move(what))) return;
    try {
        // A node may be where it answers nobody.
        std::thread([why] {
            std::this_thread::sleep_for(std::chrono::seconds(3));
            net::end_job_for_all(why);
        }).detach();
    } catch (const std::system_error&) {
        net::end_job_for_all(why);
    }
}

void Agreement::go_no_further() {
    for (PoliteWait wait;; wait.rest()) transport_->help();
}

/// Somebody looks for the step in which two nodes differ: this one stays where it is.
std::optional<net::Recalled> Agreement::recall(std::uint64_t topic, std::uint64_t step) {
    astray_ = true;
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(topic - 1);
    if (topic == engine_topic || found == streams_.end()) return {};
    net::Recalled recalled = found->second->log.recall(step, *found->second->names);
    if (step > recalled.newest) {
        recalled.text = itinerary_.here();
        if (recalled.text.empty()) recalled.text = "has come no further";
    }
    return recalled;
}

void Agreement::waits_long(const StarpuStream& stream) {
    const std::uint64_t steps = stream.log.count();
    transport_->notify_others({.kind = trail_notice,
                               .topic = topic_of(stream),
                               .round = stream.round.load(),
                               .position = steps,
                               .trail = stream.log.trail(steps).value_or(0)});
}

void Agreement::hear_trail(int from, const net::Notice& notice) {
    std::optional<net::Case> wrong;
    {
        const std::lock_guard lock(mutex_);
        const auto found = streams_.find(notice.topic - 1);
        if (found == streams_.end() || found->second->round.load() != notice.round) return;
        StarpuStream& stream = *found->second;
        stream.compare_with = notice.trail;
        stream.compare_node = from;
        stream.compare_at = notice.position;
        if (stream.log.count() >= notice.position) wrong = compare_trail(stream);  // otherwise when it comes there
    }
    if (wrong) differ(std::move(*wrong));
}

/// What is wrong with the steps of a stream up to those that another node told of, if anything; under `mutex_`.
std::optional<net::Case> Agreement::compare_trail(const StarpuStream& stream) const {
    const std::optional<std::uint64_t> mine = stream.log.trail(stream.compare_at);
    if (!mine || *mine == stream.compare_with) return {};
    return case_of({stream.compare_node, topic_of(stream),
                    fmt::format("waits in stream {} after {} steps", stream.options().name, stream.compare_at.load()),
                    "has done others"});
}

/// What follows under `mutex_` when it returns must end with `itinerary_.leave()`.
std::int64_t Agreement::meet(net::Arrival arrival, const std::function<std::int64_t()>& value) {
    if (const auto other = itinerary_.arrive(arrival, describe(arrival))) differ(case_of(*other));
    meetings_.arrive(arrival);
    meetings_.bring(arrival, value());
    for (PoliteWait wait;; wait.rest()) {
        transport_->help();
        if (astray_.load(std::memory_order_relaxed)) continue;
        if (const auto outcome = meetings_.outcome(arrival)) return *outcome;
    }
}

std::int64_t Agreement::meet(Kind kind, std::uint64_t position, const std::string& text,
                             const std::function<std::int64_t()>& value) {
    const std::int64_t outcome = meet({.topic = engine_topic,
                                       .round = meetings_of_engine_,
                                       .kind = static_cast<std::uint32_t>(kind),
                                       .position = position,
                                       .text = text},
                                      value);
    const std::lock_guard lock(mutex_);
    ++meetings_of_engine_;
    itinerary_.leave();
    return outcome;
}

void Agreement::meet() {
    (void)meet(Kind::together, 0, "", [] { return std::int64_t{0}; });
}

int Agreement::free_slot() {
    const std::lock_guard lock(mutex_);
    for (std::size_t slot = 1; slot < slots_.size(); ++slot)
        if (!slots_[slot]) {
            slots_[slot] = true;
            return static_cast<int>(slot);
        }
    return 0;
}

/// Where to note something of a round of a stream that has not begun here; null if it has, or is over.
Agreement::Early* Agreement::early_of(std::uint64_t stream, std::uint64_t round) {
    const auto found = streams_.find(stream);
    if (found == streams_.end() ? stream < opened_ : found->second->round.load() >= round) return nullptr;
    Early& early = early_[stream];
    early.round = round;
    return &early;
}

/// What others have said of this round already.
void Agreement::begin_round(StarpuStream& stream) {
    const auto found = early_.find(stream.number);
    if (found == early_.end() || found->second.round != stream.round.load()) return;
    stream.last_step_of = found->second.last_step_of;
    stream.last_step = found->second.last_step;
    if (!found->second.failure.ok()) stream.failure.raise(found->second.failure);
    early_.erase(found);
}

int Agreement::open(std::uint64_t number, const std::string& name) {
    // Node 0 knows which are free: it has heard of the end of a stream first.
    const std::int64_t slot = meet(Kind::open, number, name, [&] {
        return nodes_.me() == 0 ? std::int64_t{free_slot()} : std::numeric_limits<std::int64_t>::max();
    });
    if (slot == 0) throw Error("too many streams are open at a time: at most {}", slots_.size() - 1);
    return static_cast<int>(slot);
}

void Agreement::know(StarpuStream& stream) {
    const std::lock_guard lock(mutex_);
    streams_[stream.number] = &stream;
    opened_ = std::max(opened_, stream.number + 1);
    begin_round(stream);
}

Status Agreement::wait(StarpuStream& stream, Then then, const std::function<void()>& work) {
    const net::Arrival arrival{.topic = topic_of(stream),
                               .round = stream.round.load(),
                               .kind = static_cast<std::uint32_t>(then == Then::ends ? Kind::end : Kind::wait),
                               .position = stream.log.count(),
                               .trail = stream.log.trail(stream.log.count()).value_or(0),
                               .text = stream.options().name};
    Status mine;
    const std::int64_t outcome = meet(arrival, [&] {
        work();
        mine = stream.failure.take();
        return rank_of(mine);
    });
    {
        const std::lock_guard lock(mutex_);
        (void)stream.failure.take();  // what others told of meanwhile is in the outcome
        stream.failure_told = false;
        stream.last_step = ~std::uint64_t{0};
        ++stream.round;
        itinerary_.leave();
        begin_round(stream);
        if (then == Then::ends) {
            streams_.erase(stream.number);
            early_.erase(stream.number);
            if (nodes_.me() == 0) slots_[static_cast<std::size_t>(stream.mail->slot())] = false;
        }
    }
    Status status = status_of_rank(outcome);
    if (status.failure == Failure::stated || status.failure == Failure::outside)
        status.reason = agreed_reason(outcome == rank_of(mine) ? mine.reason : "");
    return status;
}

/// What the first node says that knows why.
std::string Agreement::agreed_reason(const std::string& mine) const {
    for (const std::string& reason : nodes_.gather(mine))
        if (!reason.empty()) return reason;
    return {};
}

void Agreement::tell_failure(StarpuStream& stream) {
    if (stream.failure_told.exchange(true)) return;
    const Status status = stream.failure.status();
    transport_->notify_others({.kind = failure_notice,
                               .detail = static_cast<std::uint32_t>(status.failure),
                               .topic = topic_of(stream),
                               .round = stream.round.load(),
                               .value = status.index});
}

/// Its tasks here become no-ops too.
void Agreement::hear_failure(const net::Notice& notice) {
    const Status status{static_cast<Failure>(notice.detail), notice.value, {}};
    const std::lock_guard lock(mutex_);
    if (Early* early = early_of(notice.topic - 1, notice.round)) {
        early->failure = earlier_failure(early->failure, status);
        return;
    }
    const auto found = streams_.find(notice.topic - 1);
    if (found != streams_.end() && found->second->round.load() == notice.round) found->second->failure.raise(status);
}

}  // namespace tesela::starpu
