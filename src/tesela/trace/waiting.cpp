// What was waited for: delays per task, and why workers stood still.

#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

namespace tesela::trace {
namespace {

/// When the last task that v waits for had ended, and v existed; unknown if one of them did not end.
Time enabled(const Trace& trace, const Graph& graph, std::size_t v) {
    Time time = trace.tasks[v].created;
    for (const std::uint32_t u : graph.predecessors_of(v)) {
        if (trace.tasks[u].end == unknown_time) return unknown_time;
        time = std::max(time, trace.tasks[u].end);
    }
    return time;
}

enum Reason : std::size_t { no_ready_task, other_kind, data, runtime, reasons };

/// For one kind of workers of a node: how long each reason held from the beginning until any moment.
class Reasons {
public:
    void add(Time begin, Time end, Reason reason) {
        if (begin == unknown_time || end <= begin) return;
        changes_.push_back({begin, reason, +1});
        changes_.push_back({end, reason, -1});
    }
    /// Call once, after all intervals were added.
    void integrate() {
        std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.time < b.time; });
        std::array<std::int64_t, reasons> open{};
        points_.push_back({});
        for (const Change& change : changes_) {
            Point next = points_.back();
            next.sums[current(open)] += change.time - next.time;
            next.time = change.time;
            open[change.reason] += change.by;
            next.reason = current(open);
            if (points_.back().time == next.time)
                points_.back() = next;
            else
                points_.push_back(next);
        }
    }
    [[nodiscard]] std::array<Time, reasons> until(Time time) const {
        auto after = std::upper_bound(points_.begin(), points_.end(), time,
                                      [](Time t, const Point& point) { return t < point.time; });
        const Point& point = *std::prev(after);
        std::array<Time, reasons> sums = point.sums;
        sums[point.reason] += time - point.time;
        return sums;
    }

private:
    struct Change {
        Time time = 0;
        Reason reason = no_ready_task;
        int by = 0;
    };
    struct Point {
        Time time = 0;
        Reason reason = no_ready_task;
        std::array<Time, reasons> sums{};
    };
    [[nodiscard]] static Reason current(const std::array<std::int64_t, reasons>& open) {
        for (const Reason reason : {runtime, data, other_kind})
            if (open[reason] > 0) return reason;
        return no_ready_task;
    }
    std::vector<Change> changes_;
    std::vector<Point> points_;
};

/// By node and kind of worker.
using ReasonsByKind = std::vector<std::map<std::string, Reasons>>;

ReasonsByKind reasons_by_kind(const Trace& trace, const Graph& graph) {
    ReasonsByKind nodes(trace.nodes.size());
    for (const WorkerRow& worker : trace.workers) nodes[static_cast<std::size_t>(worker.node)][worker.kind];
    for (std::size_t v = 0; v < trace.tasks.size(); ++v) {
        const TaskRow& task = trace.tasks[v];
        if (task.start == unknown_time) continue;
        const Time could = enabled(trace, graph, v);
        const Time ready = task.ready != unknown_time ? task.ready : could;
        for (auto& [kind, reasons] : nodes[static_cast<std::size_t>(task.node)]) {
            const bool own = task.worker < 0 || trace.workers[static_cast<std::size_t>(task.worker)].kind == kind;
            reasons.add(could, std::min(ready, task.start), own ? data : other_kind);
            reasons.add(ready, task.start, own ? runtime : other_kind);
        }
    }
    for (auto& node : nodes)
        for (auto& [kind, reasons] : node) reasons.integrate();
    return nodes;
}

IdleTime idle_of(const std::vector<Interval>& busy, const Interval& run, const Reasons& node) {
    std::array<Time, reasons> sums{};
    const auto add = [&](Time begin, Time end) {
        if (end <= begin) return;
        const auto from = node.until(begin);
        const auto to = node.until(end);
        for (std::size_t r = 0; r < reasons; ++r) sums[r] += to[r] - from[r];
    };
    Time at = run.begin;
    for (const Interval& interval : busy) {
        add(at, interval.begin);
        at = interval.end;
    }
    add(at, run.end);
    return {.no_ready_task = seconds(sums[no_ready_task]),
            .data = seconds(sums[data]),
            .other_kind = seconds(sums[other_kind]),
            .runtime = seconds(sums[runtime])};
}

std::vector<IdleTime> idle_of(const std::vector<Processor>& processors, const Trace& trace, const Graph& graph) {
    const Interval run = run_interval(trace);
    const auto nodes = reasons_by_kind(trace, graph);
    std::vector<IdleTime> idle;
    for (const Processor& processor : processors) {
        const WorkerRow& worker = trace.workers[processor.first_worker];
        idle.push_back(idle_of(processor.busy, run, nodes[static_cast<std::size_t>(worker.node)].at(worker.kind)));
    }
    return idle;
}

}  // namespace

Table delays(const Trace& trace, const Graph& graph) {
    Integers task, node, i, j, step, priority;
    Names kernel{{}, trace.kernels}, phase{{}, trace.phases};
    Reals data_delay, ready_delay, ready, start;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t v = 0; v < trace.tasks.size(); ++v) {
        const TaskRow& t = trace.tasks[v];
        if (t.kind != TaskKind::task) continue;
        const Time could = enabled(trace, graph, v);
        task.push_back(static_cast<std::int64_t>(t.id));
        kernel.codes.push_back(t.kernel);
        phase.codes.push_back(t.phase);
        node.push_back(t.node);
        i.push_back(t.i);
        j.push_back(t.j);
        step.push_back(t.step);
        priority.push_back(t.priority);
        ready.push_back(seconds_or_nan(t.ready));
        start.push_back(seconds_or_nan(t.start));
        const bool knows_ready = t.ready != unknown_time;
        data_delay.push_back(knows_ready && could != unknown_time ? seconds(std::max<Time>(0, t.ready - could))
                                                                  : unknown);
        ready_delay.push_back(knows_ready && t.start != unknown_time ? seconds(t.start - t.ready) : unknown);
    }
    return {"delays",
            {{"task", task},
             {"kernel", kernel},
             {"phase", phase},
             {"node", node},
             {"i", i},
             {"j", j},
             {"step", step},
             {"priority", priority},
             {"ready", ready},
             {"start", start},
             {"data_delay", data_delay},
             {"ready_delay", ready_delay}}};
}

std::vector<IdleTime> idle_time(const Trace& trace, const Graph& graph) {
    return idle_of(processors_of(trace), trace, graph);
}

Table idle_table(const Trace& trace, const Graph& graph) {
    const std::vector<Processor> processors = processors_of(trace);
    const std::vector<IdleTime> idle = idle_of(processors, trace, graph);
    Integers node, worker;
    Names kind;
    Reals total, none, waiting, elsewhere, overhead;
    for (std::size_t p = 0; p < idle.size(); ++p) {
        const WorkerRow& first = trace.workers[processors[p].first_worker];
        node.push_back(first.node);
        worker.push_back(first.number);
        kind.add(first.kind);
        total.push_back(idle[p].total());
        none.push_back(idle[p].no_ready_task);
        waiting.push_back(idle[p].data);
        elsewhere.push_back(idle[p].other_kind);
        overhead.push_back(idle[p].runtime);
    }
    return {"idle",
            {{"node", node},
             {"worker", worker},
             {"kind", kind},
             {"idle", total},
             {"no_ready_task", none},
             {"data", waiting},
             {"other_kind", elsewhere},
             {"runtime", overhead}}};
}

}  // namespace tesela::trace
