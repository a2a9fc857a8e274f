#pragma once

#include "tesela/trace/app_events.hpp"
#include "tesela/trace/schema.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tesela::trace {

/// A place in one of the tables of names below; -1 where it is not known.
using Code = std::int32_t;

/// Nanoseconds since the trace of the run began, on the clock of node 0; unknown_time where it was not observed.
using Time = std::int64_t;

struct NodeRow {
    std::string host;
    /// Whether the trace was ended properly; false for a run that was killed.
    bool complete = false;
    std::uint64_t lost = 0;
    Time end = 0;
};

struct WorkerRow {
    std::int32_t node = 0;
    std::int32_t number = 0;
    std::string kind = "cpu";
    std::string name{};
    /// Of workers alike on its node, as the columns of WorkRow; -1 where it was not said.
    std::int32_t group = -1;
    /// Kernels at full rate at a time: streams of a GPU share one.
    double capacity = 1;
    /// Which card of its kind on its node it is a stream of; -1 for a core, or where it was not said.
    std::int32_t card = -1;
};

/// A kind of work on a node: seconds on a worker of each group, infinite where it cannot be done.
struct WorkRow {
    std::int32_t node = 0;
    std::vector<double> seconds;
};

struct MatrixRow {
    std::string name;
    std::uint64_t first_datum = 0;
    std::int64_t tile_rows = 0;  ///< how many rows of tiles
    std::int64_t tile_cols = 0;
    /// Rows and columns of its first tile; 0 where it was not said.
    std::array<std::int64_t, 2> tile{};
    /// Rows and columns of the whole matrix; 0 where it was not said.
    std::array<std::int64_t, 2> size{};
};

enum class TaskKind : std::uint8_t { task, fetch };

struct TaskRow {
    std::uint64_t id = 0;
    std::int32_t node = 0;
    Code worker = -1;
    Code kernel = -1;
    Code phase = -1;
    Code matrix = -1;
    std::int32_t i = 0;
    std::int32_t j = 0;
    std::int32_t step = 0;
    std::int32_t priority = 0;
    std::int32_t rank = -1;
    std::int32_t singles = 0;  ///< of the columns, those in single precision
    TaskKind kind = TaskKind::task;
    std::uint8_t access_count = 0;
    std::size_t first_access = 0;
    Time created = unknown_time;
    Time ready = unknown_time;
    Time start = unknown_time;
    Time end = unknown_time;
    double flops = 0;
    double bytes = 0;
    /// Where the trace has durations (WorkRow): what it does, and what the time of that is multiplied by.
    Code work = -1;
    double factor = 1;

    [[nodiscard]] bool ran() const { return start != unknown_time && end != unknown_time; }
    [[nodiscard]] Time duration() const { return ran() ? end - start : 0; }
};

enum class Direction : std::uint8_t { send, receive };

struct MessageRow {
    Direction direction = Direction::send;
    std::int32_t node = 0;
    std::int32_t peer = 0;
    std::uint64_t tag = 0;
    std::int32_t priority = 0;
    Code matrix = -1;
    std::int64_t i = 0;
    std::int64_t j = 0;
    std::uint64_t bytes = 0;
    Time posted = 0;
    Time start = 0;
    Time end = 0;
};

struct MemoryRow {
    std::int32_t node = 0;
    std::int32_t memory = 0;
    Time time = 0;
    std::int64_t bytes = 0;
};

struct WaitRow {
    std::int32_t node = 0;
    std::int32_t stream = 0;
    WaitReason reason = WaitReason::completion;
    Time start = 0;
    Time end = 0;
};

/// A kind of event that an application registered, and its events; values are row by row.
struct EventTable {
    std::string name;
    std::vector<Field> fields;
    std::vector<std::int32_t> node;
    std::vector<Time> time;
    std::vector<std::uint64_t> values;
};

struct CounterRow {
    std::uint64_t task = 0;
    std::int32_t node = 0;
    std::array<std::int64_t, 4> values{};
};

/// The trace of a run over all its nodes, as plain tables.
struct Trace {
    std::vector<NodeRow> nodes;
    std::vector<WorkerRow> workers;
    std::vector<std::string> kernels;
    std::vector<std::string> phases;
    std::vector<std::string> streams;
    std::vector<MatrixRow> matrices;
    std::vector<WorkRow> works;
    /// By stream and position in it; a value that was copied out appears on every node.
    std::vector<TaskRow> tasks;
    std::vector<std::uint64_t> accesses;
    std::vector<MessageRow> messages;
    std::vector<MemoryRow> memory;
    std::vector<WaitRow> waits;
    std::vector<EventTable> events;
    std::vector<std::string> counter_names;
    std::vector<CounterRow> counters;
    /// What a reader should be told: the run was killed, the file of a node is missing, …
    std::vector<std::string> warnings;

    [[nodiscard]] std::span<const std::uint64_t> accesses_of(const TaskRow& task) const {
        return {accesses.data() + task.first_access, task.access_count};
    }
};

/// The name for a code, "?" where it is not known.
[[nodiscard]] inline const std::string& name_of(const std::vector<std::string>& names, Code code) {
    static const std::string unknown = "?";
    return code >= 0 && static_cast<std::size_t>(code) < names.size() ? names[static_cast<std::size_t>(code)] : unknown;
}

/// Reads the trace of a run: PATH and, where several nodes took part, PATH.1, PATH.2, … beside it. A trace that was cut
/// short is read up to its last whole chunk, with a warning; throws Error for what is no trace, is damaged or was
/// written with another version of the schema.
[[nodiscard]] Trace read_trace(const std::string& path);

/// The same for the content of one node's file; `path` is its name in messages.
[[nodiscard]] Trace parse_trace(std::span<const std::byte> content, const std::string& path);

}  // namespace tesela::trace
