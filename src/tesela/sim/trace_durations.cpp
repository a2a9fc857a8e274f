#include "tesela/sim/trace_durations.hpp"

#include "tesela/base/error.hpp"
#include "tesela/sim/schedule.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tesela {
namespace {

using trace::TaskRow;
using trace::Trace;

/// Workers of a run know their kind alone: the first group of that kind is theirs.
void group_workers(Trace& trace, const Platform& platform) {
    for (trace::WorkerRow& worker : trace.workers) {
        const NodeType& type = node_type(platform, NodeId{worker.node});
        const auto found = std::ranges::find_if(
            type.workers, [&](const WorkerGroup& group) { return worker.kind == kind_in_traces(group.processor); });
        if (found == type.workers.end())
            throw Error("the run had a {} worker on node {}, and node type \"{}\" of the platform has none",
                        worker.kind, worker.node, type.name);
        worker.group = static_cast<std::int32_t>(found - type.workers.begin());
    }
}

/// The matrix that a datum is a tile of, as those of a trace are numbered one after the other.
class Tiles {
public:
    explicit Tiles(const Trace& trace) {
        for (const trace::MatrixRow& matrix : trace.matrices) matrices_[matrix.first_datum] = &matrix;
    }
    [[nodiscard]] std::array<std::int64_t, 2> shape(std::uint64_t datum) const {
        const auto after = matrices_.upper_bound(datum);
        return after == matrices_.begin() ? std::array<std::int64_t, 2>{} : std::prev(after)->second->tile;
    }

private:
    std::map<std::uint64_t, const trace::MatrixRow*> matrices_;
};

KernelWork work_of(const Trace& trace, const Tiles& tiles, const TaskRow& task) {
    KernelWork work{.tile = 1, .flops = task.flops, .bytes = task.bytes};
    for (const std::uint64_t access : trace.accesses_of(task)) {
        const auto [rows, cols] = tiles.shape(trace::datum_of(access));
        work.add_tile(rows, cols, trace::use_of(access) != trace::Use::read);
    }
    return work;
}

trace::WorkRow durations_of(const Trace& trace, const TaskRow& task, const KernelWork& work, const NodeType& type) {
    trace::WorkRow row{.node = task.node, .seconds = {}};
    const std::string& kernel = trace::name_of(trace.kernels, task.kernel);
    for (const WorkerGroup& group : type.workers)
        row.seconds.push_back(kernel_seconds(group, kernel, work).value_or(std::numeric_limits<double>::infinity()));
    if (std::ranges::all_of(row.seconds, [](double s) { return s == std::numeric_limits<double>::infinity(); }))
        no_duration(type, kernel);
    return row;
}

}  // namespace

void add_durations(Trace& trace, const Platform& platform) {
    if (std::cmp_greater(trace.nodes.size(), node_count(platform)))
        throw Error("the run had {} nodes, and the platform has {}", trace.nodes.size(), node_count(platform));
    group_workers(trace, platform);
    trace.works.clear();
    const Tiles tiles(trace);
    std::map<std::tuple<std::int32_t, trace::Code, Index, double, double>, trace::Code> known;
    for (TaskRow& task : trace.tasks) {
        task.work = -1;
        task.factor = 1;
        if (task.kind != trace::TaskKind::task || !task.ran()) continue;
        const KernelWork work = work_of(trace, tiles, task);
        const auto [entry, is_new] = known.try_emplace({task.node, task.kernel, work.tile, work.flops, work.bytes},
                                                       static_cast<trace::Code>(trace.works.size()));
        if (is_new) trace.works.push_back(durations_of(trace, task, work, node_type(platform, NodeId{task.node})));
        task.work = entry->second;
    }
}

}  // namespace tesela
