#include "tesela/net/meetings.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <limits>

namespace tesela::net {

Notice Meetings::notice(Kind kind, const Arrival& arrival) {
    Notice notice{.kind = static_cast<std::uint32_t>(kind),
                  .detail = arrival.kind,
                  .topic = arrival.topic,
                  .round = arrival.round,
                  .position = arrival.position,
                  .trail = arrival.trail,
                  .value = static_cast<std::int64_t>(arrival.count)};
    notice.set_text(arrival.text);
    return notice;
}

Arrival Meetings::arrival_of(const Notice& notice) {
    return {.topic = notice.topic,
            .round = notice.round,
            .kind = notice.detail,
            .position = notice.position,
            .trail = notice.trail,
            .text = notice.text.data(),
            .count = static_cast<std::uint64_t>(notice.value)};
}

void Meetings::tell_all(const Notice& notice) const {
    for (int node = 0; node < nodes_; ++node) hooks_.send(node, notice);
}

void Meetings::arrive(const Arrival& arrival) { hooks_.send(0, notice(Kind::arrive, arrival)); }

void Meetings::bring(const Arrival& arrival, std::int64_t value) {
    Notice brought = notice(Kind::bring, arrival);
    brought.value = value;
    hooks_.send(0, brought);
}

std::optional<std::int64_t> Meetings::outcome(const Arrival& arrival) {
    const std::lock_guard lock(mutex_);
    const auto found = agreed_.find({arrival.topic, arrival.round});
    if (found == agreed_.end()) return {};
    const std::int64_t value = found->second;
    agreed_.erase(found);
    return value;
}

void Meetings::hear(int from, const Notice& notice) {
    switch (static_cast<Kind>(notice.kind)) {
        case Kind::arrive: return hear_arrival(from, arrival_of(notice));
        case Kind::first_arrived: return hooks_.arrived(notice.node, arrival_of(notice));
        case Kind::bring: return hear_value(arrival_of(notice), notice.value);
        case Kind::agreed: {
            const std::lock_guard lock(mutex_);
            agreed_[{notice.topic, notice.round}] = notice.value;
        }
    }
}

void Meetings::hear_arrival(int from, const Arrival& arrival) {
    Meeting before;
    {
        const std::lock_guard lock(mutex_);
        Meeting& meeting = meetings_[{arrival.topic, arrival.round}];
        if (meeting.arrived++ == 0) {
            meeting.first_node = from;
            meeting.first = arrival;
            meeting.least = std::numeric_limits<std::int64_t>::max();
        }
        before = meeting;
    }
    if (before.arrived == 1) {
        Notice first = notice(Kind::first_arrived, arrival);
        first.node = from;
        tell_all(first);
        return;
    }
    const Arrival& first = before.first;
    std::string what;
    if (first.kind != arrival.kind || first.position != arrival.position)
        what = fmt::format("node {} {} after {} steps, where node {} {} after {}", before.first_node,
                           hooks_.describe(first), first.position, from, hooks_.describe(arrival), arrival.position);
    else if (first.trail != arrival.trail)
        what = fmt::format("node {} {} after {} steps, and node {} after as many others",
                           std::min(before.first_node, from), hooks_.describe(arrival), arrival.position,
                           std::max(before.first_node, from));
    else if (first.count != arrival.count && first.count != 0 && arrival.count != 0)
        what = fmt::format("node {} {} as number {} of all that it does, and node {} as its number {}",
                           before.first_node, hooks_.describe(first), first.count, from, arrival.count);
    if (what.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        diverged_ = true;
    }
    hooks_.diverged({.nodes = {before.first_node, from},
                     .topic = arrival.topic,
                     .why = fmt::format("{}: {}", what, rule_for_nodes)});
}

void Meetings::hear_value(const Arrival& arrival, std::int64_t value) {
    std::int64_t least = 0;
    {
        const std::lock_guard lock(mutex_);
        if (diverged_) return;
        const auto found = meetings_.find({arrival.topic, arrival.round});
        Meeting& meeting = found->second;
        meeting.least = std::min(meeting.least, value);
        if (++meeting.brought < nodes_) return;
        least = meeting.least;
        meetings_.erase(found);
    }
    Notice agreed = notice(Kind::agreed, arrival);
    agreed.value = least;
    tell_all(agreed);
}

}  // namespace tesela::net
