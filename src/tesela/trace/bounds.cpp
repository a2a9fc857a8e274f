// What a run takes at least: the critical path through its graph, and the area bound of its workers.

#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace tesela::trace {
namespace {

/// Tasks of one kernel and their mean duration on each kind of worker; infinite where it never ran there.
struct KernelTimes {
    double tasks = 0;
    std::vector<double> mean;
};

struct Kinds {
    std::vector<std::string> names;
    std::vector<double> workers;
    [[nodiscard]] std::size_t of(const Trace& trace, Code worker) const {
        const std::string& kind = trace.workers[static_cast<std::size_t>(worker)].kind;
        return static_cast<std::size_t>(std::find(names.begin(), names.end(), kind) - names.begin());
    }
};

Kinds find_kinds(const Trace& trace) {
    Kinds kinds;
    for (const WorkerRow& worker : trace.workers) {
        const auto found = std::find(kinds.names.begin(), kinds.names.end(), worker.kind);
        const auto at = static_cast<std::size_t>(found - kinds.names.begin());
        if (found == kinds.names.end()) {
            kinds.names.push_back(worker.kind);
            kinds.workers.push_back(0);
        }
        ++kinds.workers[at];
    }
    return kinds;
}

std::vector<KernelTimes> find_times(const Trace& trace, const Kinds& kinds) {
    struct Sum {
        std::vector<double> tasks, seconds;
    };
    std::map<Code, Sum> sums;
    const std::size_t count = kinds.names.size();
    for (const TaskRow& task : trace.tasks) {
        if (!task.ran() || task.worker < 0) continue;
        Sum& sum =
            sums.try_emplace(task.kernel, Sum{std::vector<double>(count), std::vector<double>(count)}).first->second;
        const std::size_t kind = kinds.of(trace, task.worker);
        sum.tasks[kind] += 1;
        sum.seconds[kind] += seconds(task.duration());
    }
    std::vector<KernelTimes> times;
    for (const auto& [kernel, sum] : sums) {
        KernelTimes t{0, std::vector<double>(count, std::numeric_limits<double>::infinity())};
        for (std::size_t kind = 0; kind < count; ++kind) {
            t.tasks += sum.tasks[kind];
            // A duration below the clock's resolution counts as one tick, so that ratios exist.
            if (sum.tasks[kind] > 0) t.mean[kind] = std::max(sum.seconds[kind] / sum.tasks[kind], nanosecond);
        }
        times.push_back(t);
    }
    return times;
}

/// Kernels in the order in which kind 0 suits them best: an optimal fractional assignment gives a prefix to kind 0.
double two_kinds(std::vector<KernelTimes> times, const Kinds& kinds) {
    std::sort(times.begin(), times.end(), [](const KernelTimes& a, const KernelTimes& b) {
        return a.mean[0] / a.mean[1] < b.mean[0] / b.mean[1];  // x/inf = 0 first, inf/x last
    });
    double on_0 = 0;
    double on_1 = 0;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const KernelTimes& t : times)
        if (t.mean[1] < infinite) on_1 += t.tasks * t.mean[1];
    for (const KernelTimes& t : times) {
        if (t.mean[0] == infinite) break;
        if (t.mean[1] == infinite) {
            on_0 += t.tasks * t.mean[0];
            continue;
        }
        // Move x of the tasks to kind 0 until both take equally long: (on_0 + x m0) / w0 = (on_1 - x m1) / w1.
        const double balance = (on_1 * kinds.workers[0] - on_0 * kinds.workers[1]) /
                               (t.mean[0] * kinds.workers[1] + t.mean[1] * kinds.workers[0]);
        const double x = std::clamp(balance, 0.0, t.tasks);
        on_0 += x * t.mean[0];
        on_1 -= x * t.mean[1];
    }
    return std::max(on_0 / kinds.workers[0], on_1 / kinds.workers[1]);
}

}  // namespace

CriticalPath critical_path(const Trace& trace, const Graph& graph) {
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    std::vector<Time> finish(trace.tasks.size(), 0);
    std::vector<std::uint32_t> before(trace.tasks.size(), none);
    std::uint32_t last = none;
    for (const std::uint32_t v : submission_order(trace)) {
        for (const std::uint32_t u : graph.predecessors_of(v)) {
            if (before[v] != none && finish[u] <= finish[before[v]]) continue;
            before[v] = u;
        }
        finish[v] = trace.tasks[v].duration() + (before[v] == none ? 0 : finish[before[v]]);
        if (last == none || finish[v] > finish[last]) last = v;
    }
    CriticalPath path;
    if (last != none) path.length = finish[last];
    for (; last != none; last = before[last]) path.tasks.push_back(last);
    std::reverse(path.tasks.begin(), path.tasks.end());
    return path;
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

double area_bound(const Trace& trace) {
    const Kinds kinds = find_kinds(trace);
    if (kinds.names.empty()) return 0;
    const std::vector<KernelTimes> times = find_times(trace, kinds);
    if (kinds.names.size() == 2) return two_kinds(times, kinds);
    double work = 0;
    double workers = 0;
    for (const KernelTimes& t : times) work += t.tasks * *std::min_element(t.mean.begin(), t.mean.end());
    for (const double count : kinds.workers) workers += count;
    return work / workers;
}

}  // namespace tesela::trace
