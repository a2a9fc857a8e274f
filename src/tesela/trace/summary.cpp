#include "tesela/trace/intervals.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace tesela::trace {
namespace {

using Times = std::map<std::string, double>;

Times by_name(const Table& table, std::string_view name_column, std::string_view time_column) {
    Times times;
    const Names& names = table.names(name_column);
    const Reals& values = table.reals(time_column);
    for (std::size_t row = 0; row < values.size(); ++row) times[names.at(row)] += values[row];
    return times;
}

Times idle_by_reason(const Summary& summary) {
    return {{"no_ready_task", summary.idle.no_ready_task},
            {"data", summary.idle.data},
            {"other_kind", summary.idle.other_kind},
            {"runtime", summary.idle.runtime}};
}

Times bounds_of(const Summary& summary) {
    Times times{{"critical_path", summary.critical_path}, {"area_of_this_schedule", summary.area_of_this_schedule}};
    if (summary.bounds) times["lower_bound"] = summary.bounds->lower();
    return times;
}

class DifferenceTable {
public:
    void add(const std::string& group, const Times& a, const Times& b) {
        struct Line {
            std::string name;
            double a = 0, b = 0;
        };
        std::map<std::string, Line> lines;
        for (const auto& [name, value] : a) lines[name].a = value;
        for (const auto& [name, value] : b) lines[name].b = value;
        std::vector<Line> sorted;
        for (auto& [name, line] : lines) sorted.push_back({name, line.a, line.b});
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Line& x, const Line& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
        for (const Line& line : sorted) {
            group_.add(group);
            name_.add(line.name);
            a_.push_back(line.a);
            b_.push_back(line.b);
            change_.push_back(line.b - line.a);
            ratio_.push_back(line.a > 0 ? line.b / line.a : std::numeric_limits<double>::quiet_NaN());
        }
    }
    [[nodiscard]] Table take() {
        return {"difference",
                {{"group", group_}, {"name", name_}, {"a", a_}, {"b", b_}, {"change", change_}, {"ratio", ratio_}}};
    }

private:
    Names group_, name_;
    Reals a_, b_, change_, ratio_;
};

}  // namespace

Summary summarise(const Trace& trace, const Graph& graph) {
    Summary s;
    s.makespan = seconds(run_interval(trace).length());
    for (const TaskRow& task : trace.tasks) {
        if (task.kind != TaskKind::task) continue;
        ++s.tasks;
        if (!task.ran()) ++s.unfinished;
        s.flops += task.flops;
    }
    const Table shares = utilisation(trace);
    s.utilisation = shares.reals("utilisation").front();
    s.utilisation_95 = shares.reals("utilisation_95").front();
    s.critical_path = seconds(critical_path(trace, graph).length);
    s.area_of_this_schedule = area_of_this_schedule(trace);
    s.bounds = lower_bounds(trace, graph);
    for (const MessageRow& message : trace.messages)
        if (message.direction == Direction::send) {
            ++s.messages;
            s.bytes += static_cast<double>(message.bytes);
        }
    const Table memory = memory_over_time(trace);
    for (const std::int64_t bytes : memory.integers("bytes"))
        s.peak_memory = std::max(s.peak_memory, static_cast<double>(bytes));
    for (const IdleTime& idle : idle_time(trace, graph)) {
        s.idle.no_ready_task += idle.no_ready_task;
        s.idle.data += idle.data;
        s.idle.other_kind += idle.other_kind;
        s.idle.runtime += idle.runtime;
    }
    s.nodes = static_cast<std::int64_t>(trace.nodes.size());
    s.workers = shares.integers("workers").front();
    s.complete = std::all_of(trace.nodes.begin(), trace.nodes.end(), [](const NodeRow& node) { return node.complete; });
    return s;
}

void to_json(nlohmann::ordered_json& json, const Summary& s) {
    json = {{"makespan", s.makespan},
            {"tasks", s.tasks},
            {"unfinished", s.unfinished},
            {"utilisation", s.utilisation},
            {"utilisation_95", s.utilisation_95},
            {"critical_path", s.critical_path},
            {"area_of_this_schedule", s.area_of_this_schedule},
            {"bytes", s.bytes},
            {"messages", s.messages},
            {"flops", s.flops},
            {"gflops", s.makespan > 0 ? s.flops / s.makespan * 1e-9 : 0},
            {"peak_memory", s.peak_memory},
            {"idle",
             {{"no_ready_task", s.idle.no_ready_task},
              {"data", s.idle.data},
              {"other_kind", s.idle.other_kind},
              {"runtime", s.idle.runtime}}},
            {"nodes", s.nodes},
            {"workers", s.workers},
            {"complete", s.complete}};
    if (!s.bounds) return;
    json["lower_bound"] = s.bounds->lower();
    json["lower_bound_area"] = s.bounds->area;
    json["lower_bound_critical_path"] = s.bounds->critical_path;
}

Table difference(const Trace& a, const Trace& b) {
    const Summary of_a = summarise(a, dependency_graph(a));
    const Summary of_b = summarise(b, dependency_graph(b));
    DifferenceTable table;
    table.add("run", {{"makespan", of_a.makespan}}, {{"makespan", of_b.makespan}});
    table.add("bound", bounds_of(of_a), bounds_of(of_b));
    table.add("kernel", by_name(time_per_kernel(a), "kernel", "total"), by_name(time_per_kernel(b), "kernel", "total"));
    table.add("phase", by_name(time_per_phase(a), "phase", "span"), by_name(time_per_phase(b), "phase", "span"));
    table.add("idle", idle_by_reason(of_a), idle_by_reason(of_b));
    return table.take();
}

}  // namespace tesela::trace
