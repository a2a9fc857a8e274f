#pragma once

#include "tesela/trace/busy_time.hpp"
#include "tesela/trace/graph.hpp"
#include "tesela/trace/table.hpp"
#include "tesela/trace/trace.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tesela::trace {

/// From the first task that was created (or started) to the end of the last.
[[nodiscard]] Interval run_interval(const Trace& trace);

/// Share of the workers' time spent in kernels: per worker, node, kind of worker and for the run, over the whole run
/// and its first 95 % (paper 000, section 5.3). A card is one worker, under the number of its first stream, here and in
/// all that follows: see BusyProcessor. Columns level, name, node, kind, workers, busy, utilisation,
/// utilisation_95.
[[nodiscard]] Table utilisation(const Trace& trace);

/// Tasks and time per kernel and kind of worker.
[[nodiscard]] Table time_per_kernel(const Trace& trace);
/// Tasks and time per phase, with its first start and last end.
[[nodiscard]] Table time_per_phase(const Trace& trace);
/// Tasks and time per kernel and phase.
[[nodiscard]] Table time_per_kernel_and_phase(const Trace& trace);

/// Per task: from the end of the last task it waits for until it was ready (data on its way), and from there until it
/// started (paper 004, figure 3).
[[nodiscard]] Table delays(const Trace& trace, const Graph& graph);

/// The chain of dependent tasks whose durations sum to the most: no schedule with these durations is shorter.
struct CriticalPath {
    Time length = 0;
    std::vector<std::uint32_t> tasks;
};
[[nodiscard]] CriticalPath critical_path(const Trace& trace, const Graph& graph);
/// Its tasks, with the time that passed between the end of each and the start of the next.
[[nodiscard]] Table critical_path_table(const Trace& trace, const CriticalPath& path);

/// The time that workers were busy, spread evenly over those of their node: the largest over the nodes. No bound: a
/// schedule that gives cores and GPUs other tasks can be shorter.
[[nodiscard]] double area_of_this_schedule(const Trace& trace);

/// What every schedule takes at least that leaves tasks on their nodes.
struct Bounds {
    /// The longest chain of dependent tasks, each at its fastest on its node, messages aside.
    double critical_path = 0;
    /// What the workers of a node need for its tasks, dependencies aside (least_seconds); the largest over the nodes.
    double area = 0;
    [[nodiscard]] double lower() const { return std::max(critical_path, area); }
};
/// Nothing unless the trace says of every task how long it takes on each kind of worker, as those of simulated runs do.
[[nodiscard]] std::optional<Bounds> lower_bounds(const Trace& trace, const Graph& graph);

/// Share of the workers' time in kernels, in equal parts of the run (figure 4b of paper 004 has stages of its own).
[[nodiscard]] Table occupancy(const Trace& trace, int stages = 4);

/// Work per node (paper 004, figure 1).
[[nodiscard]] Table load(const Trace& trace);

/// Messages and bytes from node to node.
[[nodiscard]] Table communication(const Trace& trace);

/// A send and the receive of the same value, as rows of the message table.
struct MatchedMessage {
    std::size_t send = 0;
    std::size_t receive = 0;
};
/// Sends with their receives, in the order of the sends; the first send of a value to a node goes with its first
/// receive.
[[nodiscard]] std::vector<MatchedMessage> match_messages(const Trace& trace);

/// Bytes in use after each allocation and release (paper 000, figure 4, bottom).
[[nodiscard]] Table memory_over_time(const Trace& trace);

/// First start and last end of each step of each phase (paper 000, figure 4, top).
[[nodiscard]] Table steps(const Trace& trace);

/// The ranks of a tile in a run; dense is -1. Of their columns some may be in single precision.
struct TileRanks {
    Code matrix = -1;
    std::int32_t i = 0;
    std::int32_t j = 0;
    std::int32_t initial = -1;
    std::int32_t last = -1;
    std::int32_t initial_singles = 0;
    std::int32_t last_singles = 0;
};
/// The ranks of each tile that a task wrote (paper 004, figure 2): as it was made, by the last task that wrote it
/// without reading it (by the first that wrote it, where all read it too), and after the last of all. By matrix, row
/// and column.
[[nodiscard]] std::vector<TileRanks> ranks_of_tiles(const Trace& trace);
/// The same as a table, in which they are called before and after.
[[nodiscard]] Table ranks(const Trace& trace);

/// Why a worker stood still: at each moment its node has a ready task for a worker of its kind that nobody runs
/// (`runtime`), else one for its kind that waits for data only (`data`), else one of either that went to another kind
/// of worker (`other_kind`: a core beside tasks that are queued for a GPU), else none (`no_ready_task`).
struct IdleTime {
    double no_ready_task = 0;
    double data = 0;
    double other_kind = 0;
    double runtime = 0;
    [[nodiscard]] double total() const { return no_ready_task + data + other_kind + runtime; }
};
/// Seconds per worker, a card being one, in the order of the worker table.
[[nodiscard]] std::vector<IdleTime> idle_time(const Trace& trace, const Graph& graph);
[[nodiscard]] Table idle_table(const Trace& trace, const Graph& graph);

/// What a run came to, in seconds, bytes and shares.
struct Summary {
    double makespan = 0;
    std::int64_t tasks = 0;
    std::int64_t unfinished = 0;
    double utilisation = 0;
    double utilisation_95 = 0;
    double critical_path = 0;  ///< of these durations
    double area_of_this_schedule = 0;
    std::optional<Bounds> bounds;
    double bytes = 0;
    std::int64_t messages = 0;
    double flops = 0;
    double peak_memory = 0;
    IdleTime idle;
    std::int64_t nodes = 0;
    std::int64_t workers = 0;
    bool complete = false;
};
[[nodiscard]] Summary summarise(const Trace& trace, const Graph& graph);
void to_json(nlohmann::ordered_json& json, const Summary& summary);

/// What changed from one run to another: the makespan, time per kernel and phase, idle time per reason; within each
/// group the largest change first. Columns group, name, a, b, change, ratio (seconds).
[[nodiscard]] Table difference(const Trace& a, const Trace& b);

/// The names that `table` knows, and what each is, for help texts.
struct TableName {
    std::string name;
    std::string meaning;
};
[[nodiscard]] std::vector<TableName> table_names(const Trace& trace);
/// A raw table (tasks, comms, memory, waits, workers, edges, counters, an application's events by their name) or one of
/// the analyses above. Throws Error naming the known ones.
[[nodiscard]] Table make_table(const Trace& trace, const Graph& graph, const std::string& name);

}  // namespace tesela::trace
