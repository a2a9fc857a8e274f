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

namespace {

/// Whether a task gives the first tile that it writes a new value, whatever it held before.
bool makes_its_tile(const Trace& trace, const TaskRow& task) {
    for (const std::uint64_t access : trace.accesses_of(task))
        if (use_of(access) != Use::read) return use_of(access) == Use::write;
    return false;
}

/// Tasks that wrote one tile, by their ends.
struct Writers {
    const TaskRow* first = nullptr;
    const TaskRow* maker = nullptr;
    const TaskRow* last = nullptr;

    void add(const TaskRow& task, bool makes) {
        if (first == nullptr || task.end < first->end) first = &task;
        if (makes && (maker == nullptr || task.end > maker->end)) maker = &task;
        if (last == nullptr || task.end > last->end) last = &task;
    }
};

}  // namespace

std::vector<TileRanks> ranks_of_tiles(const Trace& trace) {
    std::map<std::tuple<Code, std::int32_t, std::int32_t>, Writers> tiles;
    for (const TaskRow& task : trace.tasks)
        if (task.matrix >= 0 && task.ran() && task.kind == TaskKind::task)
            tiles[{task.matrix, task.i, task.j}].add(task, makes_its_tile(trace, task));
    std::vector<TileRanks> result;
    result.reserve(tiles.size());
    for (const auto& [key, by] : tiles) {
        const TaskRow* maker = by.maker != nullptr ? by.maker : by.first;
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), maker->rank, by.last->rank,
                          maker->singles, by.last->singles});
    }
    return result;
}

Table ranks(const Trace& trace) {
    Names matrix;
    Integers i, j, before, after;
    for (const TileRanks& tile : ranks_of_tiles(trace)) {
        matrix.add(trace.matrices[static_cast<std::size_t>(tile.matrix)].name);
        i.push_back(tile.i);
        j.push_back(tile.j);
        before.push_back(tile.initial);
        after.push_back(tile.last);
    }
    return {"ranks", {{"matrix", matrix}, {"i", i}, {"j", j}, {"before", before}, {"after", after}}};
}

}  // namespace tesela::trace
