#include "tesela/plan/bounds.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/sim/kernel_work.hpp"

#include <algorithm>
#include <limits>

namespace tesela::plan {
namespace {

double fastest(const Platform& platform, const RecordedItem& task, const KernelWork& work) {
    double least = never;
    for (const NodeType& type : platform.node_types)
        least = std::min(least, fastest_seconds(type, task.kernel->name, work));
    if (least == never) throw Error("no node of {} can run {}", platform.name, task.kernel->name);
    return least;
}

/// Most tasks after each other are of the same kernel and size.
class Fastest {
public:
    Fastest(const Recording& recording, const Platform& platform) : recording_(recording), platform_(platform) {}

    double operator()(const RecordedItem& task) {
        const KernelWork work = kernel_work(recording_, task);
        for (const Known& known : known_)
            if (known.kernel == task.kernel && known.work.tile == work.tile && known.work.flops == work.flops &&
                known.work.bytes == work.bytes && known.work.elements == work.elements)
                return known.seconds;
        known_.push_back({task.kernel, work, fastest(platform_, task, work)});
        return known_.back().seconds;
    }

private:
    struct Known {
        const Kernel* kernel;
        KernelWork work;
        double seconds;
    };
    const Recording& recording_;
    const Platform& platform_;
    std::vector<Known> known_;
};

}  // namespace

// min T with Σ_r a[t,r] = N[t], Σ_t a[t,r]·(seconds of a worker)/workers ≤ T for every r, and a[t,r]·w[t,r] ≤ T where
// few workers can run a type at a time: the others are free for other types meanwhile.
double area_bound(const StepCounts& counts, const std::vector<ResourceGroup>& groups) {
    lp::LinearProgram program;
    const std::size_t seconds = program.add_column(1);
    const auto add_limit = [&] {
        const std::size_t row = program.add_row({.lower = -lp::infinity, .upper = 0});
        program.add(row, seconds, -1);
        return row;
    };
    std::vector<std::size_t> busy;
    for (std::size_t r = 0; r < groups.size(); ++r) busy.push_back(add_limit());
    for (std::size_t t = 0; t < counts.types.size(); ++t) {
        const double tasks = counts.types[t].amount();
        const std::size_t all = program.add_row({tasks, tasks});
        if (std::ranges::all_of(groups, [&](const ResourceGroup& group) { return group.group_seconds[t] == never; }))
            throw Error("no node can run {}: the platform has no durations of it", counts.types[t].kernel);
        for (std::size_t r = 0; r < groups.size(); ++r) {
            const ResourceGroup& group = groups[r];
            if (group.group_seconds[t] == never) continue;
            const std::size_t here = program.add_column(0);
            program.add(all, here, 1);
            const double of_all = group.worker_seconds[t] / group.workers;
            program.add(busy[r], here, of_all);
            if (group.group_seconds[t] > of_all) program.add(add_limit(), here, group.group_seconds[t]);
        }
    }
    const lp::Solution solution = lp::solve(program);
    if (solution.outcome != lp::Outcome::optimal) throw Error("no node can run all kinds of tasks");
    return solution.objective;
}

double critical_path(const Recording& recording, const Platform& platform, const RankModel& ranks) {
    const TaskGraph graph = dependency_graph(recording);
    std::vector<double> ends(graph.size(), 0.0);
    Fastest fastest_time(recording, platform);
    double longest = 0;
    for (std::size_t v = 0; v < graph.size(); ++v) {
        const RecordedItem& item = recording.items[v];
        for (const std::uint32_t before : graph.predecessors_of(v)) ends[v] = std::max(ends[v], ends[before]);
        if (item.kind == RecordedItem::Kind::task)
            ends[v] += fastest_time(item) * time_ratio(recording, item, ranks, platform.recompression);
        longest = std::max(longest, ends[v]);
    }
    return longest;
}

}  // namespace tesela::plan
