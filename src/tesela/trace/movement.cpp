// What moved and what it took: messages, memory, ranks of tiles.

#include "tesela/trace/intervals.hpp"

#include <deque>
#include <map>
#include <tuple>

namespace tesela::trace {

Table communication(const Trace& trace) {
    struct Sum {
        std::int64_t messages = 0;
        double bytes = 0;
    };
    std::map<std::pair<std::int32_t, std::int32_t>, Sum> sums;
    for (const MessageRow& message : trace.messages) {
        if (message.direction != Direction::send) continue;
        Sum& sum = sums[{message.node, message.peer}];
        ++sum.messages;
        sum.bytes += static_cast<double>(message.bytes);
    }
    Integers from, to, messages;
    Reals bytes;
    for (const auto& [key, sum] : sums) {
        from.push_back(key.first);
        to.push_back(key.second);
        messages.push_back(sum.messages);
        bytes.push_back(sum.bytes);
    }
    return {"communication", {{"from", from}, {"to", to}, {"messages", messages}, {"bytes", bytes}}};
}

std::vector<MatchedMessage> match_messages(const Trace& trace) {
    // Messages are in order of time already; versions of a tag that wrapped around are kept apart by that order.
    using Key = std::tuple<std::uint64_t, std::int32_t, std::int32_t>;
    std::map<Key, std::deque<std::size_t>> receives;
    for (std::size_t m = 0; m < trace.messages.size(); ++m) {
        const MessageRow& row = trace.messages[m];
        if (row.direction == Direction::receive) receives[{row.tag, row.peer, row.node}].push_back(m);
    }
    std::vector<MatchedMessage> matched;
    for (std::size_t m = 0; m < trace.messages.size(); ++m) {
        const MessageRow& row = trace.messages[m];
        if (row.direction != Direction::send) continue;
        const auto found = receives.find({row.tag, row.node, row.peer});
        if (found == receives.end() || found->second.empty()) continue;
        matched.push_back({m, found->second.front()});
        found->second.pop_front();
    }
    return matched;
}

Table memory_over_time(const Trace& trace) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> in_use;
    Integers node, memory, change, bytes;
    Reals time;
    for (const MemoryRow& row : trace.memory) {
        std::int64_t& now = in_use[{row.node, row.memory}];
        // A trace that began in the middle of a run sees releases of what it did not see taken.
        now = std::max<std::int64_t>(0, now + row.bytes);
        node.push_back(row.node);
        memory.push_back(row.memory);
        time.push_back(seconds(row.time));
        change.push_back(row.bytes);
        bytes.push_back(now);
    }
    return {"memory", {{"node", node}, {"memory", memory}, {"time", time}, {"change", change}, {"bytes", bytes}}};
}

Table ranks(const Trace& trace) {
    struct Seen {
        Time first = 0, last = 0;
        std::int32_t before = -1, after = -1;
    };
    std::map<std::tuple<Code, std::int32_t, std::int32_t>, Seen> tiles;
    for (const TaskRow& task : trace.tasks) {
        if (task.matrix < 0 || !task.ran() || task.kind != TaskKind::task) continue;
        const auto [entry, is_new] =
            tiles.try_emplace({task.matrix, task.i, task.j}, Seen{task.end, task.end, task.rank, task.rank});
        Seen& seen = entry->second;
        if (task.end < seen.first) seen = {task.end, seen.last, task.rank, seen.after};
        if (task.end > seen.last) seen = {seen.first, task.end, seen.before, task.rank};
    }
    Names matrix;
    Integers i, j, before, after;
    for (const auto& [key, seen] : tiles) {
        matrix.add(trace.matrices[static_cast<std::size_t>(std::get<0>(key))].name);
        i.push_back(std::get<1>(key));
        j.push_back(std::get<2>(key));
        before.push_back(seen.before);
        after.push_back(seen.after);
    }
    return {"ranks", {{"matrix", matrix}, {"i", i}, {"j", j}, {"before", before}, {"after", after}}};
}

}  // namespace tesela::trace
