// What a run takes at least: the critical path through its graph, and the time of its workers.

#include "tesela/base/dependencies.hpp"
#include "tesela/base/fractional_load.hpp"
#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tesela::trace {
namespace {

/// What a task really waits for: whoever wrote the values that it reads, and on its own node whoever uses the same
/// memory. Readers of an older value elsewhere have copies.
class RealPredecessors {
public:
    RealPredecessors(const Trace& trace, const Graph& graph) : trace_(trace), graph_(graph) {}

    /// To be called in the order of submission, once for each task.
    const std::vector<std::uint32_t>& operator()(std::uint32_t v) {
        found_.clear();
        for (const std::uint32_t u : graph_.predecessors_of(v))
            if (trace_.tasks[u].node == trace_.tasks[v].node) found_.push_back(u);
        const auto accesses = trace_.accesses_of(trace_.tasks[v]);
        for (const std::uint64_t access : accesses)
            if (use_of(access) == Use::read || use_of(access) == Use::read_write) {
                const auto& writers = last_[datum_of(access)].writers();
                found_.insert(found_.end(), writers.begin(), writers.end());
            }
        for (const std::uint64_t access : accesses) last_[datum_of(access)].touch(touch_of(use_of(access)), v, unused_);
        unused_.clear();
        return found_;
    }

private:
    const Trace& trace_;
    const Graph& graph_;
    std::unordered_map<std::uint64_t, LastTouch> last_;
    std::vector<std::uint32_t> found_, unused_;
};

/// The chain of dependent tasks that is longest if a task takes so long.
template <class Predecessors, class Duration>
CriticalPath longest_chain(const Trace& trace, Predecessors&& predecessors_of, Duration duration) {
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::vector<Time> finish(trace.tasks.size(), 0);
    std::vector<std::uint32_t> before(trace.tasks.size(), none);
    std::uint32_t last = none;
    for (const std::uint32_t v : submission_order(trace)) {
        for (const std::uint32_t u : predecessors_of(v))
            if (before[v] == none || finish[u] > finish[before[v]]) before[v] = u;
        finish[v] = duration(trace.tasks[v]) + (before[v] == none ? 0 : finish[before[v]]);
        if (last == none || finish[v] > finish[last]) last = v;
    }
    CriticalPath path;
    if (last != none) path.length = finish[last];
    for (; last != none; last = before[last]) path.tasks.push_back(last);
    std::reverse(path.tasks.begin(), path.tasks.end());
    return path;
}

/// Whether it is known of every task how long it would take elsewhere.
bool has_durations(const Trace& trace) {
    const bool grouped = std::all_of(trace.workers.begin(), trace.workers.end(),
                                     [](const WorkerRow& worker) { return worker.group >= 0; });
    return grouped && !trace.works.empty() && std::all_of(trace.tasks.begin(), trace.tasks.end(), [](const TaskRow& t) {
               return t.kind != TaskKind::task || !t.ran() || t.work >= 0;
           });
}

const WorkRow& work_of(const Trace& trace, const TaskRow& task) {
    return trace.works[static_cast<std::size_t>(task.work)];
}

/// At its fastest on its node, rounded down to what the trace's clock tells.
Time fastest(const Trace& trace, const TaskRow& task) {
    if (task.work < 0 || !task.ran()) return 0;
    const auto& seconds = work_of(trace, task).seconds;
    const double least = task.factor * *std::min_element(seconds.begin(), seconds.end());
    return static_cast<Time>(std::min(least / nanosecond, static_cast<double>(task.duration())));
}

/// Each node's tasks by kind of work, and its workers by group.
std::vector<FractionalLoad> node_loads(const Trace& trace) {
    std::vector<FractionalLoad> loads(trace.nodes.size());
    for (const WorkerRow& worker : trace.workers) {
        auto& machines = loads[static_cast<std::size_t>(worker.node)].machines;
        const auto group = static_cast<std::size_t>(worker.group);
        if (machines.size() <= group) machines.resize(group + 1);
        machines[group] += worker.capacity;
    }
    std::vector<double> amounts(trace.works.size());
    for (const TaskRow& task : trace.tasks)
        if (task.ran() && task.work >= 0) amounts[static_cast<std::size_t>(task.work)] += task.factor;
    for (std::size_t w = 0; w < amounts.size(); ++w) {
        if (amounts[w] == 0) continue;
        FractionalLoad& load = loads[static_cast<std::size_t>(trace.works[w].node)];
        load.amounts.push_back(amounts[w]);
        load.seconds.push_back(trace.works[w].seconds);
        load.seconds.back().resize(load.machines.size(), std::numeric_limits<double>::infinity());
    }
    return loads;
}

}  // namespace

CriticalPath critical_path(const Trace& trace, const Graph& graph) {
    return longest_chain(
        trace, [&](std::uint32_t v) { return graph.predecessors_of(v); },
        [](const TaskRow& task) { return task.duration(); });
}

Table critical_path_table(const Trace& trace, const CriticalPath& path) {
    Integers task, node, i, j, step;
    Names kernel, phase;
    Reals start, end, duration, wait, delay;
    Time before = unknown_time;
    for (const std::uint32_t v : path.tasks) {
        const TaskRow& t = trace.tasks[v];
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        task.push_back(static_cast<std::int64_t>(t.id));
        kernel.add(name_of(trace.kernels, t.kernel));
        phase.add(name_of(trace.phases, t.phase));
        node.push_back(t.node);
        i.push_back(t.i);
        j.push_back(t.j);
        step.push_back(t.step);
        start.push_back(seconds_or_nan(t.start));
        end.push_back(seconds_or_nan(t.end));
        duration.push_back(seconds(t.duration()));
        wait.push_back(before == unknown_time || t.start == unknown_time ? unknown : seconds(t.start - before));
        delay.push_back(t.ready == unknown_time || t.start == unknown_time ? unknown : seconds(t.start - t.ready));
        before = t.end;
    }
    return {"critical_path",
            {{"task", task},
             {"kernel", kernel},
             {"phase", phase},
             {"node", node},
             {"i", i},
             {"j", j},
             {"step", step},
             {"start", start},
             {"end", end},
             {"duration", duration},
             {"wait", wait},
             {"ready_delay", delay}}};
}

double area_of_this_schedule(const Trace& trace) {
    std::vector<double> busy(trace.nodes.size());
    std::vector<double> workers(trace.nodes.size());
    for (const Processor& processor : processors_of(trace)) {
        const auto node = static_cast<std::size_t>(trace.workers[processor.first_worker].node);
        for (const Interval& interval : processor.busy) busy[node] += seconds(interval.length());
        workers[node] += 1;
    }
    double area = 0;
    for (std::size_t node = 0; node < busy.size(); ++node)
        if (workers[node] > 0) area = std::max(area, busy[node] / workers[node]);
    return area;
}

std::optional<Bounds> lower_bounds(const Trace& trace, const Graph& graph) {
    if (!has_durations(trace)) return std::nullopt;
    Bounds bounds;
    for (const FractionalLoad& load : node_loads(trace)) bounds.area = std::max(bounds.area, least_seconds(load));
    const auto chain =
        longest_chain(trace, RealPredecessors(trace, graph), [&](const TaskRow& task) { return fastest(trace, task); });
    bounds.critical_path = seconds(chain.length);
    return bounds;
}

}  // namespace tesela::trace
