#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

/// The trace file: a FileHeader, then chunks. A chunk is a ChunkHeader and its payload: records of one thread, or a
/// definition as JSON text. Each chunk is appended by one write, so that a run that is killed leaves whole chunks and
/// at most one cut short. Numbers are stored in the order of the machine that wrote them, which the header shows. Every
/// node writes a file of its own; times are nanoseconds of that node's clock (see definition `clock`).
namespace tesela::trace {

inline constexpr std::array<char, 8> file_magic{'T', 'E', 'S', 'E', 'L', 'A', 'T', 'R'};
inline constexpr std::uint32_t schema_version = 2;
/// Files of versions from this on are read. Version 1 had the rank of a tile in 32 bits (see TaskRan).
inline constexpr std::uint32_t oldest_schema_version = 1;
inline constexpr std::uint32_t byte_order_mark = 0x01020304;
inline constexpr std::uint32_t chunk_magic = 0x4b4e4843;  // "CHNK"

/// No chunk is larger, so that a reader never trusts a length that a damaged file names.
inline constexpr std::uint32_t max_chunk_bytes = 1U << 24U;

/// The time of something that was not observed.
inline constexpr std::int64_t unknown_time = -1;

struct FileHeader {
    std::array<char, 8> magic = file_magic;
    std::uint32_t version = schema_version;
    std::uint32_t byte_order = byte_order_mark;
    std::uint32_t node = 0;
    std::uint32_t nodes = 1;
    /// The same number in the files of all nodes of one run.
    std::uint64_t run = 0;
    /// The node's clock and the time of day (nanoseconds since 1970) when the file was opened.
    std::int64_t opened = 0;
    std::int64_t time_of_day = 0;
    std::uint64_t reserved = 0;
    std::uint64_t checksum = 0;  ///< of the bytes before it
};

enum class ChunkKind : std::uint16_t { records = 1, definition = 2 };

struct ChunkHeader {
    std::uint32_t magic = chunk_magic;
    ChunkKind kind = ChunkKind::records;
    std::uint16_t thread = 0;
    std::uint32_t bytes = 0;
    std::uint32_t sequence = 0;
    std::uint64_t checksum = 0;  ///< of the payload, seeded with what stands above
};

enum class RecordKind : std::uint8_t {
    task_created = 1,
    fetch_created = 2,  ///< a TaskCreated for a value that is copied out of the engine
    accesses = 3,
    ran = 4,
    running = 5,
    send = 6,
    receive = 7,
    memory = 8,
    wait = 9,
    event = 10,
    counters = 11,
    modelled = 12
};

/// Tasks are numbered alike on every node: the stream in the upper 16 bits, the position in it below.
[[nodiscard]] constexpr std::uint64_t task_id(std::uint64_t stream, std::uint64_t position) {
    return stream << 48U | position;
}
[[nodiscard]] constexpr std::uint32_t stream_of(std::uint64_t task) { return static_cast<std::uint32_t>(task >> 48U); }

/// How a task uses a datum; the same numbers as tesela::AccessMode.
enum class Use : std::uint8_t { read, write, read_write, commute, reduce, disjoint };

/// A datum (a tile or token, numbered alike on every node, below 2^48) and how it is used, in one word.
[[nodiscard]] constexpr std::uint64_t pack_access(std::uint64_t datum, Use use) {
    return datum << 3U | static_cast<std::uint64_t>(use);
}
[[nodiscard]] constexpr std::uint64_t datum_of(std::uint64_t access) { return access >> 3U; }
[[nodiscard]] constexpr Use use_of(std::uint64_t access) { return static_cast<Use>(access & 7U); }

/// A message carries a value of a datum: the datum in the lower 48 bits, the number of the value above (it may wrap).
[[nodiscard]] constexpr std::uint64_t datum_of_message(std::uint64_t tag) { return tag & 0xffff'ffff'ffffU; }

/// Every record has this size and begins with its kind.
inline constexpr std::size_t record_bytes = 48;
using Record = std::array<std::uint64_t, record_bytes / 8>;

inline constexpr std::uint16_t no_matrix = 0xffff;

/// A task was submitted; it is recorded by the node that runs it. `matrix`, `i`, `j` name the first tile it writes.
struct TaskCreated {
    RecordKind kind = RecordKind::task_created;
    std::uint8_t access_count = 0;
    std::uint16_t kernel = 0;
    std::int32_t step = 0;
    std::int64_t time = 0;
    std::uint64_t id = 0;
    std::int32_t priority = 0;
    std::int32_t i = 0;
    std::int32_t j = 0;
    std::uint16_t phase = 0;
    std::uint16_t matrix = no_matrix;
    std::uint64_t first_access = 0;
};

/// Follows TaskCreated, as often as needed, when a task has more than one access.
struct TaskAccesses {
    RecordKind kind = RecordKind::accesses;
    std::uint8_t count = 0;
    std::uint16_t unused = 0;
    std::int32_t unused_too = 0;
    std::uint64_t id = 0;
    std::array<std::uint64_t, 4> access{};
};

/// A task became ready (all it waits for is there), started and ended. Flops and bytes are those of the ranks that the
/// tiles had; `rank` is that of the first written tile afterwards, -1 where it is dense, and `singles` how many of its
/// columns are in single precision. In version 1 both were the 32 bits of the rank, of which none needs more than half:
/// upper bits that repeat the sign of -1 are no columns.
struct TaskRan {
    RecordKind kind = RecordKind::ran;
    std::uint8_t unused = 0;
    std::uint16_t worker = 0;
    std::int16_t rank = -1;
    std::int16_t singles = 0;
    std::uint64_t id = 0;
    std::int64_t ready = unknown_time;
    std::int64_t start = 0;
    std::int64_t end = 0;
    float flops = 0;
    float bytes = 0;
};

/// A task that was running when buffers were written out: superseded by its TaskRan unless the run was killed.
struct TaskRunning {
    RecordKind kind = RecordKind::running;
    std::uint8_t unused = 0;
    std::uint16_t worker = 0;
    std::int32_t unused_too = 0;
    std::uint64_t id = 0;
    std::int64_t start = 0;
    std::int64_t seen = 0;
    std::array<std::uint64_t, 2> padding{};
};

/// A message to (send) or from (receive) a peer: when it was asked for, went to the network, and was complete.
struct Message {
    RecordKind kind = RecordKind::send;
    std::uint8_t unused = 0;
    std::uint16_t peer = 0;
    std::int32_t priority = 0;
    std::uint64_t tag = 0;
    std::int64_t posted = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::uint64_t bytes = 0;
};

/// Bytes taken (positive) or given back (negative) in one of a node's memories: 0 is main memory.
struct MemoryChange {
    RecordKind kind = RecordKind::memory;
    std::uint8_t unused = 0;
    std::uint16_t memory = 0;
    std::int32_t unused_too = 0;
    std::int64_t time = 0;
    std::int64_t bytes = 0;
    std::array<std::uint64_t, 3> padding{};
};

/// Why a thread that submits stood still.
enum class WaitReason : std::uint8_t { throttle, completion };

struct Wait {
    RecordKind kind = RecordKind::wait;
    WaitReason reason = WaitReason::completion;
    std::uint16_t stream = 0;
    std::int32_t unused = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::array<std::uint64_t, 3> padding{};
};

/// An event that an application registered; events with more than four fields take several records in a row.
struct AppEvent {
    RecordKind kind = RecordKind::event;
    std::uint8_t part = 0;
    std::uint16_t type = 0;
    std::int32_t unused = 0;
    std::int64_t time = 0;
    std::array<std::uint64_t, 4> values{};
};

/// What the hardware counters named in definition `counters` advanced by during a task.
struct Counters {
    RecordKind kind = RecordKind::counters;
    std::uint8_t count = 0;
    std::uint16_t worker = 0;
    std::int32_t unused = 0;
    std::uint64_t id = 0;
    std::array<std::int64_t, 4> values{};
};

/// Of a simulated task: the kind of work (definition `work`, which has its seconds on each group of the node's workers)
/// and what its time was multiplied by.
struct TaskModelled {
    RecordKind kind = RecordKind::modelled;
    std::uint8_t unused = 0;
    std::uint16_t unused_too = 0;
    std::uint32_t work = 0;
    std::uint64_t id = 0;
    double factor = 1;
    std::array<std::uint64_t, 3> padding{};
};

template <class T>
concept AnyRecord = sizeof(T) == record_bytes&& std::is_trivially_copyable_v<T>&& requires(T r) {
    r.kind;
};

static_assert(sizeof(FileHeader) == 64 && sizeof(ChunkHeader) == 24);
static_assert(AnyRecord<TaskCreated> && AnyRecord<TaskAccesses> && AnyRecord<TaskRan> && AnyRecord<TaskRunning>);
static_assert(AnyRecord<Message> && AnyRecord<MemoryChange> && AnyRecord<Wait> && AnyRecord<AppEvent>);
static_assert(AnyRecord<Counters> && AnyRecord<TaskModelled>);

template <AnyRecord T>
[[nodiscard]] Record to_record(const T& record) {
    return std::bit_cast<Record>(record);
}
template <AnyRecord T>
[[nodiscard]] T as(const Record& record) {
    return std::bit_cast<T>(record);
}
[[nodiscard]] inline RecordKind kind_of(const Record& record) { return std::bit_cast<TaskRan>(record).kind; }

/// A 64-bit checksum that finds damage, not malice.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed);
/// What the checksum of a chunk with this header and payload must be.
[[nodiscard]] std::uint64_t chunk_checksum(const ChunkHeader& header, std::span<const std::byte> payload);

}  // namespace tesela::trace
