// The tables of a trace as they were recorded, and all tables by name.

#include "tesela/base/error.hpp"
#include "tesela/trace/intervals.hpp"

#include <algorithm>
#include <bit>

namespace tesela::trace {
namespace {

std::vector<std::string> matrix_names(const Trace& trace) {
    std::vector<std::string> names;
    for (const MatrixRow& matrix : trace.matrices) names.push_back(matrix.name);
    return names;
}

template <class Rows, class Field>
Integers integers(const Rows& rows, Field field) {
    Integers values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(static_cast<std::int64_t>(field(row)));
    return values;
}
template <class Rows, class Field>
Reals times(const Rows& rows, Field field) {
    Reals values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(seconds_or_nan(field(row)));
    return values;
}
template <class Rows, class Field>
Names codes(const Rows& rows, Field field, std::vector<std::string> names) {
    Names column{{}, std::move(names)};
    column.codes.reserve(rows.size());
    for (const auto& row : rows) column.codes.push_back(static_cast<std::int32_t>(field(row)));
    return column;
}
template <class Rows, class Field>
Reals reals(const Rows& rows, Field field) {
    Reals values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(field(row));
    return values;
}

Table tasks_table(const Trace& trace) {
    const auto& t = trace.tasks;
    const auto worker_number = [&](const TaskRow& r) {
        return r.worker < 0 ? -1 : trace.workers[static_cast<std::size_t>(r.worker)].number;
    };
    return {"tasks",
            {{"task", integers(t, [](const TaskRow& r) { return r.id; })},
             {"kind", codes(t, [](const TaskRow& r) { return r.kind; }, {"task", "fetch"})},
             {"kernel", codes(
                            t, [](const TaskRow& r) { return r.kernel; }, trace.kernels)},
             {"phase", codes(
                           t, [](const TaskRow& r) { return r.phase; }, trace.phases)},
             {"stream", integers(t, [](const TaskRow& r) { return stream_of(r.id); })},
             {"node", integers(t, [](const TaskRow& r) { return r.node; })},
             {"worker", integers(t, worker_number)},
             {"matrix", codes(
                            t, [](const TaskRow& r) { return r.matrix; }, matrix_names(trace))},
             {"i", integers(t, [](const TaskRow& r) { return r.i; })},
             {"j", integers(t, [](const TaskRow& r) { return r.j; })},
             {"step", integers(t, [](const TaskRow& r) { return r.step; })},
             {"priority", integers(t, [](const TaskRow& r) { return r.priority; })},
             {"rank", integers(t, [](const TaskRow& r) { return r.rank; })},
             {"created", times(t, [](const TaskRow& r) { return r.created; })},
             {"ready", times(t, [](const TaskRow& r) { return r.ready; })},
             {"start", times(t, [](const TaskRow& r) { return r.start; })},
             {"end", times(t, [](const TaskRow& r) { return r.end; })},
             {"flops", reals(t, [](const TaskRow& r) { return r.flops; })},
             {"bytes", reals(t, [](const TaskRow& r) { return r.bytes; })}}};
}

Table comms_table(const Trace& trace) {
    const auto& m = trace.messages;
    return {"comms",
            {{"direction", codes(m, [](const MessageRow& r) { return r.direction; }, {"send", "receive"})},
             {"node", integers(m, [](const MessageRow& r) { return r.node; })},
             {"peer", integers(m, [](const MessageRow& r) { return r.peer; })},
             {"tag", integers(m, [](const MessageRow& r) { return r.tag; })},
             {"matrix", codes(
                            m, [](const MessageRow& r) { return r.matrix; }, matrix_names(trace))},
             {"i", integers(m, [](const MessageRow& r) { return r.i; })},
             {"j", integers(m, [](const MessageRow& r) { return r.j; })},
             {"priority", integers(m, [](const MessageRow& r) { return r.priority; })},
             {"bytes", integers(m, [](const MessageRow& r) { return r.bytes; })},
             {"posted", times(m, [](const MessageRow& r) { return r.posted; })},
             {"start", times(m, [](const MessageRow& r) { return r.start; })},
             {"end", times(m, [](const MessageRow& r) { return r.end; })}}};
}

Table waits_table(const Trace& trace) {
    const auto& w = trace.waits;
    return {"waits",
            {{"node", integers(w, [](const WaitRow& r) { return r.node; })},
             {"stream", integers(w, [](const WaitRow& r) { return r.stream; })},
             {"reason", codes(w, [](const WaitRow& r) { return r.reason; }, {"throttle", "completion"})},
             {"start", times(w, [](const WaitRow& r) { return r.start; })},
             {"end", times(w, [](const WaitRow& r) { return r.end; })}}};
}

Table workers_table(const Trace& trace) {
    Names kind, name, host;
    for (const WorkerRow& worker : trace.workers) {
        kind.add(worker.kind);
        name.add(worker.name);
        host.add(trace.nodes[static_cast<std::size_t>(worker.node)].host);
    }
    return {"workers",
            {{"node", integers(trace.workers, [](const WorkerRow& r) { return r.node; })},
             {"worker", integers(trace.workers, [](const WorkerRow& r) { return r.number; })},
             {"kind", kind},
             {"card", integers(trace.workers, [](const WorkerRow& r) { return r.card; })},
             {"name", name},
             {"host", host}}};
}

Table edges_table(const Trace& trace, const Graph& graph) {
    Integers from, to;
    from.reserve(graph.predecessors.size());
    to.reserve(graph.predecessors.size());
    for (std::size_t v = 0; v < graph.size(); ++v)
        for (const std::uint32_t u : graph.predecessors_of(v)) {
            from.push_back(static_cast<std::int64_t>(trace.tasks[u].id));
            to.push_back(static_cast<std::int64_t>(trace.tasks[v].id));
        }
    return {"edges", {{"from", std::move(from)}, {"to", std::move(to)}}};
}

Table counters_table(const Trace& trace) {
    Table table{"counters",
                {{"task", integers(trace.counters, [](const CounterRow& r) { return r.task; })},
                 {"node", integers(trace.counters, [](const CounterRow& r) { return r.node; })}}};
    for (std::size_t k = 0; k < trace.counter_names.size(); ++k)
        table.columns.push_back(
            {trace.counter_names[k], integers(trace.counters, [k](const CounterRow& r) { return r.values[k]; })});
    return table;
}

Table events_table(const EventTable& events) {
    Table table{events.name,
                {{"node", integers(events.node, [](std::int32_t n) { return n; })},
                 {"time", times(events.time, [](Time t) { return t; })}}};
    const std::size_t width = events.fields.size();
    for (std::size_t k = 0; k < width; ++k) {
        Integers whole;
        Reals real;
        for (std::size_t row = 0; row < events.time.size(); ++row) {
            const std::uint64_t bits = events.values[row * width + k];
            if (events.fields[k].type == FieldType::real)
                real.push_back(std::bit_cast<double>(bits));
            else
                whole.push_back(static_cast<std::int64_t>(bits));
        }
        if (events.fields[k].type == FieldType::real)
            table.columns.push_back({events.fields[k].name, std::move(real)});
        else
            table.columns.push_back({events.fields[k].name, std::move(whole)});
    }
    return table;
}

struct NamedTable {
    TableName name;
    Table (*make)(const Trace&, const Graph&);
};

const std::vector<NamedTable>& built_in() {
    static const std::vector<NamedTable> all{
        {{"tasks", "every task"}, [](const Trace& t, const Graph&) { return tasks_table(t); }},
        {{"comms", "every message"}, [](const Trace& t, const Graph&) { return comms_table(t); }},
        {{"memory", "bytes in use after each allocation and release"},
         [](const Trace& t, const Graph&) { return memory_over_time(t); }},
        {{"waits", "when submission stood still"}, [](const Trace& t, const Graph&) { return waits_table(t); }},
        {{"workers", "the workers"}, [](const Trace& t, const Graph&) { return workers_table(t); }},
        {{"edges", "the dependency graph"}, edges_table},
        {{"counters", "hardware counters per task"}, [](const Trace& t, const Graph&) { return counters_table(t); }},
        {{"utilisation", "share of time in kernels per run, kind, node and worker"},
         [](const Trace& t, const Graph&) { return utilisation(t); }},
        {{"kernels", "time per kernel"}, [](const Trace& t, const Graph&) { return time_per_kernel(t); }},
        {{"phases", "time per phase"}, [](const Trace& t, const Graph&) { return time_per_phase(t); }},
        {{"kernel_phase", "time per kernel and phase"},
         [](const Trace& t, const Graph&) { return time_per_kernel_and_phase(t); }},
        {{"delays", "how long each task waited for data and, once ready, for a worker"}, delays},
        {{"critical_path", "the longest chain of dependent tasks"},
         [](const Trace& t, const Graph& g) { return critical_path_table(t, critical_path(t, g)); }},
        {{"occupancy", "share of time in kernels in four parts of the run"},
         [](const Trace& t, const Graph&) { return occupancy(t); }},
        {{"load", "work per node"}, [](const Trace& t, const Graph&) { return load(t); }},
        {{"communication", "messages and bytes between nodes"},
         [](const Trace& t, const Graph&) { return communication(t); }},
        {{"steps", "when each step of each phase ran"}, [](const Trace& t, const Graph&) { return steps(t); }},
        {{"ranks", "rank of each tile as it was made and at last"},
         [](const Trace& t, const Graph&) { return ranks(t); }},
        {{"idle", "why workers stood still"}, idle_table}};
    return all;
}

}  // namespace

std::vector<TableName> table_names(const Trace& trace) {
    std::vector<TableName> names;
    for (const NamedTable& table : built_in()) names.push_back(table.name);
    for (const EventTable& events : trace.events) names.push_back({events.name, "events of the application"});
    return names;
}

Table make_table(const Trace& trace, const Graph& graph, const std::string& name) {
    for (const NamedTable& table : built_in())
        if (table.name.name == name) return table.make(trace, graph);
    for (const EventTable& events : trace.events)
        if (events.name == name) return events_table(events);
    std::string known;
    for (const TableName& table : table_names(trace)) {
        if (!known.empty()) known += ", ";
        known += table.name;
    }
    throw Error("there is no table called {}; there are {}", name, known);
}

}  // namespace tesela::trace
