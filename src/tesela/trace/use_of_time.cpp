// Where the workers' time went: utilisation, occupancy, load, time per kernel and phase, steps.

#include "tesela/trace/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace tesela::trace {
namespace {

/// Busy time of some workers over the run and its first 95 %.
struct Busy {
    std::int64_t workers = 0;
    Time whole = 0;
    Time first_95 = 0;
    void add(const Busy& other) {
        workers += other.workers;
        whole += other.whole;
        first_95 += other.first_95;
    }
};

class UtilisationTable {
public:
    explicit UtilisationTable(const Interval& run) : run_(run) {}
    struct Row {
        std::string level;
        std::string name;
        std::int64_t node = -1;
        std::string kind;
    };
    void add(const Row& row, const Busy& busy) {
        level_.add(row.level);
        name_.add(row.name);
        node_.push_back(row.node);
        kind_.add(row.kind);
        workers_.push_back(busy.workers);
        busy_.push_back(seconds(busy.whole));
        whole_.push_back(share_of_time(busy.whole, busy.workers, run_.length()));
        first_95_.push_back(share_of_time(busy.first_95, busy.workers, first_95(run_).length()));
    }
    [[nodiscard]] static Interval first_95(const Interval& run) {
        return {run.begin, run.begin + static_cast<Time>(std::llround(0.95 * static_cast<double>(run.length())))};
    }
    [[nodiscard]] Table take() {
        return {"utilisation",
                {{"level", std::move(level_)},
                 {"name", std::move(name_)},
                 {"node", std::move(node_)},
                 {"kind", std::move(kind_)},
                 {"workers", std::move(workers_)},
                 {"busy", std::move(busy_)},
                 {"utilisation", std::move(whole_)},
                 {"utilisation_95", std::move(first_95_)}}};
    }

private:
    Interval run_;
    Names level_, name_, kind_;
    Integers node_, workers_;
    Reals busy_, whole_, first_95_;
};

struct Tally {
    std::int64_t tasks = 0;
    Time total = 0;
    double squares = 0;
    Time least = std::numeric_limits<Time>::max();
    Time most = 0;
    Time start = std::numeric_limits<Time>::max();
    Time end = 0;
    double flops = 0;
    double bytes = 0;

    void add(const TaskRow& task) {
        ++tasks;
        total += task.duration();
        squares += seconds(task.duration()) * seconds(task.duration());
        least = std::min(least, task.duration());
        most = std::max(most, task.duration());
        start = std::min(start, task.start);
        end = std::max(end, task.end);
        flops += task.flops;
        bytes += task.bytes;
    }
    [[nodiscard]] double mean() const { return seconds(total) / static_cast<double>(tasks); }
    [[nodiscard]] double deviation() const {
        return std::sqrt(std::max(0.0, squares / static_cast<double>(tasks) - mean() * mean()));
    }
    [[nodiscard]] double gflops() const { return total > 0 ? flops / static_cast<double>(total) : 0; }
};

std::string kind_of_worker(const Trace& trace, Code worker) {
    return worker < 0 ? "?" : trace.workers[static_cast<std::size_t>(worker)].kind;
}

}  // namespace

Table utilisation(const Trace& trace) {
    const Interval run = run_interval(trace);
    const std::vector<Processor> processors = processors_of(trace);
    UtilisationTable table(run);
    std::map<std::int32_t, Busy> nodes;
    std::map<std::pair<std::int32_t, std::string>, Busy> kinds_of_node;
    std::map<std::string, Busy> kinds;
    Busy all;
    std::vector<Busy> workers;
    for (const Processor& processor : processors) {
        const WorkerRow& worker = trace.workers[processor.first_worker];
        const Busy busy{1, covered(processor.busy, run), covered(processor.busy, UtilisationTable::first_95(run))};
        workers.push_back(busy);
        nodes[worker.node].add(busy);
        kinds_of_node[{worker.node, worker.kind}].add(busy);
        kinds[worker.kind].add(busy);
        all.add(busy);
    }
    table.add({"run", "all", -1, ""}, all);
    for (const auto& [kind, busy] : kinds) table.add({"kind", kind, -1, kind}, busy);
    for (const auto& [node, busy] : nodes) table.add({"node", std::to_string(node), node, ""}, busy);
    for (const auto& [key, busy] : kinds_of_node)
        table.add({"node_kind", fmt::format("{}/{}", key.first, key.second), key.first, key.second}, busy);
    for (std::size_t p = 0; p < workers.size(); ++p) {
        const WorkerRow& worker = trace.workers[processors[p].first_worker];
        table.add({"worker", fmt::format("{}/{}", worker.node, worker.number), worker.node, worker.kind}, workers[p]);
    }
    return table.take();
}

Table time_per_kernel(const Trace& trace) {
    std::map<std::pair<std::string, std::string>, Tally> tallies;
    for (const TaskRow& task : trace.tasks)
        if (task.ran()) tallies[{name_of(trace.kernels, task.kernel), kind_of_worker(trace, task.worker)}].add(task);
    Names kernel, kind;
    Integers tasks;
    Reals total, mean, deviation, least, most, flops, gflops, bytes;
    for (const auto& [key, tally] : tallies) {
        kernel.add(key.first);
        kind.add(key.second);
        tasks.push_back(tally.tasks);
        total.push_back(seconds(tally.total));
        mean.push_back(tally.mean());
        deviation.push_back(tally.deviation());
        least.push_back(seconds(tally.least));
        most.push_back(seconds(tally.most));
        flops.push_back(tally.flops);
        gflops.push_back(tally.gflops());
        bytes.push_back(tally.bytes);
    }
    return {"kernels",
            {{"kernel", kernel},
             {"kind", kind},
             {"tasks", tasks},
             {"total", total},
             {"mean", mean},
             {"deviation", deviation},
             {"min", least},
             {"max", most},
             {"flops", flops},
             {"gflops", gflops},
             {"bytes", bytes}}};
}

Table time_per_phase(const Trace& trace) {
    std::map<std::string, Tally> tallies;
    for (const TaskRow& task : trace.tasks)
        if (task.ran()) tallies[name_of(trace.phases, task.phase)].add(task);
    Names phase;
    Integers tasks;
    Reals start, end, span, busy, flops;
    for (const auto& [name, tally] : tallies) {
        phase.add(name);
        tasks.push_back(tally.tasks);
        start.push_back(seconds(tally.start));
        end.push_back(seconds(tally.end));
        span.push_back(seconds(tally.end - tally.start));
        busy.push_back(seconds(tally.total));
        flops.push_back(tally.flops);
    }
    return {"phases",
            {{"phase", phase},
             {"tasks", tasks},
             {"start", start},
             {"end", end},
             {"span", span},
             {"busy", busy},
             {"flops", flops}}};
}

Table time_per_kernel_and_phase(const Trace& trace) {
    std::map<std::pair<std::string, std::string>, Tally> tallies;
    for (const TaskRow& task : trace.tasks)
        if (task.ran()) tallies[{name_of(trace.phases, task.phase), name_of(trace.kernels, task.kernel)}].add(task);
    Names phase, kernel;
    Integers tasks;
    Reals total, mean;
    for (const auto& [key, tally] : tallies) {
        phase.add(key.first);
        kernel.add(key.second);
        tasks.push_back(tally.tasks);
        total.push_back(seconds(tally.total));
        mean.push_back(tally.mean());
    }
    return {"kernel_phase", {{"phase", phase}, {"kernel", kernel}, {"tasks", tasks}, {"total", total}, {"mean", mean}}};
}

Table occupancy(const Trace& trace, int stages) {
    const Interval run = run_interval(trace);
    const std::vector<Processor> processors = processors_of(trace);
    Integers stage;
    Reals start, end, busy, value;
    for (int s = 0; s < stages; ++s) {
        const Interval window{run.begin + run.length() * s / stages, run.begin + run.length() * (s + 1) / stages};
        Time sum = 0;
        for (const Processor& processor : processors) sum += covered(processor.busy, window);
        stage.push_back(s);
        start.push_back(seconds(window.begin));
        end.push_back(seconds(window.end));
        busy.push_back(seconds(sum));
        value.push_back(share_of_time(sum, static_cast<Index>(processors.size()), window.length()));
    }
    return {"occupancy", {{"stage", stage}, {"start", start}, {"end", end}, {"busy", busy}, {"occupancy", value}}};
}

Table load(const Trace& trace) {
    std::vector<Tally> tallies(trace.nodes.size());
    Time total = 0;
    for (const TaskRow& task : trace.tasks) {
        if (!task.ran()) continue;
        tallies[static_cast<std::size_t>(task.node)].add(task);
        total += task.duration();
    }
    const double mean = seconds(total) / static_cast<double>(std::max<std::size_t>(1, tallies.size()));
    Integers node, tasks;
    Reals busy, relative, flops;
    for (std::size_t n = 0; n < tallies.size(); ++n) {
        node.push_back(static_cast<std::int64_t>(n));
        tasks.push_back(tallies[n].tasks);
        busy.push_back(seconds(tallies[n].total));
        relative.push_back(mean > 0 ? seconds(tallies[n].total) / mean : 0);
        flops.push_back(tallies[n].flops);
    }
    return {"load", {{"node", node}, {"tasks", tasks}, {"busy", busy}, {"relative", relative}, {"flops", flops}}};
}

Table steps(const Trace& trace) {
    std::map<std::tuple<std::string, std::int32_t>, Tally> tallies;
    for (const TaskRow& task : trace.tasks)
        if (task.ran() && task.kind == TaskKind::task)
            tallies[{name_of(trace.phases, task.phase), task.step}].add(task);
    Names phase;
    Integers step, tasks;
    Reals start, end, busy;
    for (const auto& [key, tally] : tallies) {
        phase.add(std::get<0>(key));
        step.push_back(std::get<1>(key));
        tasks.push_back(tally.tasks);
        start.push_back(seconds(tally.start));
        end.push_back(seconds(tally.end));
        busy.push_back(seconds(tally.total));
    }
    return {"steps",
            {{"phase", phase}, {"step", step}, {"tasks", tasks}, {"start", start}, {"end", end}, {"busy", busy}}};
}

}  // namespace tesela::trace
