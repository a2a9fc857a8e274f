#include "tesela/base/error.hpp"
#include "tesela/trace/modules.hpp"
#include "tesela/trace/trace.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace tesela::trace {
namespace {

/// Times, sizes and numbers beyond these are damage; within them sums cannot overflow.
constexpr std::int64_t longest_time = std::int64_t{1} << 60U;  // 36 years in nanoseconds
constexpr std::size_t most_groups = 64;                        // of workers on a node
constexpr std::uint32_t most_cards = 1U << 12U;                // of a kind on a node
constexpr std::int64_t most_bytes = std::int64_t{1} << 50U;
constexpr std::uint32_t most_nodes = 1U << 16U;

/// A file in memory, for as long as it lives.
class MappedFile {
public:
    explicit MappedFile(const std::string& path) {
        const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) throw Error("cannot read trace file {}: {}", path, std::strerror(errno));
        struct stat status {};
        const bool known = fstat(descriptor, &status) == 0;
        if (known && S_ISREG(status.st_mode) && status.st_size > 0) {
            size_ = static_cast<std::size_t>(status.st_size);
            data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
        }
        const int reason = errno;
        ::close(descriptor);
        if (!known || !S_ISREG(status.st_mode)) throw Error("{} is not a file", path);
        if (size_ > 0 && data_ == MAP_FAILED) throw Error("cannot read trace file {}: {}", path, std::strerror(reason));
    }
    ~MappedFile() {
        if (size_ > 0) munmap(data_, size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }

private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A whole number of a definition, at most `limit`.
std::uint64_t number(const nlohmann::json& definition, const char* key, std::uint64_t limit) {
    const nlohmann::json& value = definition.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > limit)
        throw std::out_of_range(fmt::format("{} is not a whole number up to {}", key, limit));
    return value.get<std::uint64_t>();
}

std::uint16_t id_of(const nlohmann::json& definition) {
    return static_cast<std::uint16_t>(number(definition, "id", std::numeric_limits<std::uint16_t>::max()));
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

FileHeader read_header(std::span<const std::byte> content, const std::string& path) {
    if (content.empty()) throw Error("{} is empty: it is not a trace", path);
    if (content.size() < file_magic.size() || std::memcmp(content.data(), file_magic.data(), file_magic.size()) != 0)
        throw Error("{} is not a trace of Tesela: it does not begin with TESELATR", path);
    if (content.size() < sizeof(FileHeader))
        throw Error("{} ends within its header: nothing can be read from it", path);
    const auto header = load<FileHeader>(content, 0);
    if (header.byte_order != byte_order_mark)
        throw Error("{} was written on a machine with another byte order, or is damaged in its header", path);
    if (header.version < oldest_schema_version || header.version > schema_version)
        throw Error("{} has version {} of the trace schema; this program reads versions {} to {}", path, header.version,
                    oldest_schema_version, schema_version);
    if (header.checksum != checksum(content.first(offsetof(FileHeader, checksum)), 0) || header.nodes < 1 ||
        header.nodes > most_nodes || header.node >= header.nodes || header.opened < 0 || header.opened > longest_time)
        throw Error("{} is damaged in its header", path);
    return header;
}

/// What is the same for all files of a run while they are read.
struct Merged {
    Trace trace;
    std::map<std::string, Code> kernels;
    std::map<std::string, Code> phases;
    std::map<std::uint64_t, Code> matrices;  // by first datum
    std::map<std::string, std::size_t> events;
};

Code code_for(std::map<std::string, Code>& index, std::vector<std::string>& names, const std::string& name) {
    const auto [entry, is_new] = index.try_emplace(name, static_cast<Code>(names.size()));
    if (is_new) names.push_back(name);
    return entry->second;
}

/// Reads one node's file into the tables; times are still those of its own clock.
class FileReader {
public:
    FileReader(std::span<const std::byte> content, const std::string& path, Merged& into)
        : content_(content),
          path_(path),
          into_(into),
          header_(read_header(content, path)),
          node_(static_cast<std::int32_t>(header_.node)) {}

    [[nodiscard]] const FileHeader& header() const { return header_; }

    void read() {
        into_.trace.nodes.resize(std::max<std::size_t>(into_.trace.nodes.size(), header_.node + std::size_t{1}));
        first_ = {into_.trace.tasks.size(), into_.trace.messages.size(), into_.trace.memory.size(),
                  into_.trace.waits.size()};
        std::size_t at = sizeof(FileHeader);
        std::uint32_t sequence = 0;
        while (at < content_.size()) {
            const std::size_t next = read_chunk(at, sequence++);
            if (next == 0) break;
            at = next;
        }
        if (!node().complete)
            into_.trace.warnings.push_back(
                fmt::format("{}: the run did not end properly; the trace is complete up to byte {}", path_, at));
        if (node().lost > 0)
            into_.trace.warnings.push_back(fmt::format("{}: {} records could not be written", path_, node().lost));
        finish_running();
        align();
    }

private:
    struct Firsts {
        std::size_t task = 0, message = 0, memory = 0, wait = 0;
    };
    struct ClockSample {
        double at = 0;
        double offset = 0;
    };

    [[noreturn]] void damaged(std::size_t at, const char* what) const {
        throw Error("{} is damaged at byte {}: {}", path_, at, what);
    }

    /// Where the next chunk begins; 0 when this one was cut short.
    std::size_t read_chunk(std::size_t at, std::uint32_t sequence) {
        if (content_.size() - at < sizeof(ChunkHeader)) return 0;
        const auto chunk = load<ChunkHeader>(content_, at);
        if (chunk.magic != chunk_magic) damaged(at, "no chunk begins here");
        if (chunk.sequence != sequence) damaged(at, "chunks are missing or out of order");
        if (chunk.bytes > max_chunk_bytes) damaged(at, "the chunk is too large");
        const std::size_t begin = at + sizeof chunk;
        if (content_.size() - begin < chunk.bytes) return 0;
        const auto payload = content_.subspan(begin, chunk.bytes);
        if (chunk.checksum != chunk_checksum(chunk, payload)) damaged(at, "the checksum does not fit the content");
        if (chunk.kind == ChunkKind::definition) {
            read_definition(payload, at);
        } else if (chunk.kind == ChunkKind::records) {
            if (payload.size() % record_bytes != 0) damaged(at, "a record is incomplete");
            for (std::size_t r = 0; r < payload.size(); r += record_bytes)
                read_record(load<Record>(payload, r), chunk.thread, at);
        } else {
            damaged(at, "the chunk is of an unknown kind");
        }
        return begin + chunk.bytes;
    }

    void read_definition(std::span<const std::byte> payload, std::size_t at) {
        const auto* text = reinterpret_cast<const char*>(payload.data());
        try {
            define(nlohmann::json::parse(text, text + payload.size()));
        } catch (const std::out_of_range& error) {
            damaged(at, error.what());
        } catch (const nlohmann::json::exception& error) {
            damaged(at, error.what());
        }
    }

    void define(const nlohmann::json& d) {
        Trace& trace = into_.trace;
        const std::string type = d.at("type");
        if (type == "kernel") {
            kernels_[id_of(d)] = code_for(into_.kernels, trace.kernels, d.at("name"));
        } else if (type == "phase") {
            phases_[id_of(d)] = code_for(into_.phases, trace.phases, d.at("name"));
        } else if (type == "stream") {
            const std::uint16_t id = id_of(d);
            if (trace.streams.size() <= id) trace.streams.resize(id + std::size_t{1});
            trace.streams[id] = d.at("name");
        } else if (type == "matrix") {
            define_matrix(d);
        } else if (type == "worker") {
            define_worker(d);
        } else if (type == "work") {
            define_work(d);
        } else if (type == "node") {
            node().host = d.at("host");
        } else if (type == "event") {
            define_event(d);
        } else if (type == "counters") {
            trace.counter_names = d.at("names").get<std::vector<std::string>>();
            trace.counter_names.resize(std::min<std::size_t>(trace.counter_names.size(), 4));
        } else if (type == "clock") {
            const double offset = d.at("offset");
            const double when = d.at("at");
            if (std::abs(offset) < static_cast<double>(longest_time) &&
                std::abs(when) < static_cast<double>(longest_time))
                clock_.push_back({when, offset});
        } else if (type == "end") {
            node().complete = true;
            node().lost = number(d, "lost", std::numeric_limits<std::uint64_t>::max());
        }
    }

    void define_worker(const nlohmann::json& d) {
        WorkerRow row{node_, id_of(d), d.at("kind"), d.at("name")};
        if (d.contains("group")) row.group = static_cast<std::int32_t>(number(d, "group", most_groups - 1));
        if (d.contains("card")) row.card = static_cast<std::int32_t>(number(d, "card", most_cards - 1));
        const double capacity = d.value("capacity", 1.0);
        if (capacity > 0 && capacity <= 1) row.capacity = capacity;
        workers_[id_of(d)] = static_cast<Code>(into_.trace.workers.size());
        into_.trace.workers.push_back(row);
    }

    void define_work(const nlohmann::json& d) {
        WorkRow row{.node = node_, .seconds = {}};
        for (const auto& seconds : d.at("seconds"))
            row.seconds.push_back(seconds.is_null() ? std::numeric_limits<double>::infinity() : seconds.get<double>());
        for (const double seconds : row.seconds)
            if (!(seconds >= 0)) throw std::out_of_range("a duration is negative");
        if (row.seconds.size() > most_groups) throw std::out_of_range("too many groups of workers");
        works_[static_cast<std::uint32_t>(number(d, "id", std::numeric_limits<std::uint32_t>::max()))] =
            static_cast<Code>(into_.trace.works.size());
        into_.trace.works.push_back(std::move(row));
    }

    void define_matrix(const nlohmann::json& d) {
        constexpr std::uint64_t most_tiles = std::uint64_t{1} << 31U;
        const std::uint64_t first = number(d, "first", std::uint64_t{1} << 48U);
        MatrixRow row{d.at("name"), first, static_cast<std::int64_t>(number(d, "rows", most_tiles)),
                      static_cast<std::int64_t>(number(d, "cols", most_tiles))};
        if (d.contains("tile")) row.tile = d.at("tile").get<std::array<std::int64_t, 2>>();
        if (d.contains("size")) row.size = d.at("size").get<std::array<std::int64_t, 2>>();
        if (row.tile_rows < 1 || row.tile_cols < 1) return;
        const auto [entry, is_new] = into_.matrices.try_emplace(first, static_cast<Code>(into_.trace.matrices.size()));
        if (is_new) into_.trace.matrices.push_back(row);
        matrices_[id_of(d)] = entry->second;
    }

    void define_event(const nlohmann::json& d) {
        EventTable table{.name = d.at("name")};
        for (const auto& field : d.at("fields"))
            table.fields.push_back(
                {field.at("name"), field.at("type") == "real" ? FieldType::real : FieldType::integer});
        if (table.fields.size() > max_event_fields) table.fields.resize(max_event_fields);
        const auto [entry, is_new] = into_.events.try_emplace(table.name, into_.trace.events.size());
        if (is_new) into_.trace.events.push_back(std::move(table));
        events_[id_of(d)] = entry->second;
    }

    void read_record(const Record& record, std::uint16_t thread, std::size_t at) {
        switch (kind_of(record)) {
            case RecordKind::task_created: created(as<TaskCreated>(record), TaskKind::task, at); return;
            case RecordKind::fetch_created: created(as<TaskCreated>(record), TaskKind::fetch, at); return;
            case RecordKind::accesses: accesses(as<TaskAccesses>(record), at); return;
            case RecordKind::ran: ran(as<TaskRan>(record), at); return;
            case RecordKind::running: running_.push_back(as<TaskRunning>(record)); return;
            case RecordKind::send: message(as<Message>(record), Direction::send, at); return;
            case RecordKind::receive: message(as<Message>(record), Direction::receive, at); return;
            case RecordKind::memory: memory(as<MemoryChange>(record), at); return;
            case RecordKind::wait: wait(as<Wait>(record), at); return;
            case RecordKind::modelled: modelled(as<TaskModelled>(record), at); return;
            case RecordKind::event: event(as<AppEvent>(record), thread, at); return;
            case RecordKind::counters: {
                const auto c = as<Counters>(record);
                into_.trace.counters.push_back({c.id, node_, c.values});
                return;
            }
        }
        damaged(at, "a record is of an unknown kind");
    }

    [[nodiscard]] Time checked(std::int64_t time, std::size_t at) const {
        if (time < 0 || time > longest_time) damaged(at, "a time is out of range");
        return time;
    }
    [[nodiscard]] Time checked_or_unknown(std::int64_t time, std::size_t at) const {
        return time == unknown_time ? unknown_time : checked(time, at);
    }
    template <class Map>
    [[nodiscard]] static Code find(const Map& map, std::uint16_t id) {
        const auto entry = map.find(id);
        return entry == map.end() ? Code{-1} : entry->second;
    }

    TaskRow& row(std::uint64_t id) {
        const auto [entry, is_new] = rows_.try_emplace(id, into_.trace.tasks.size());
        if (is_new) {
            into_.trace.tasks.push_back({});
            into_.trace.tasks.back().id = id;
            into_.trace.tasks.back().node = node_;
        }
        return into_.trace.tasks[entry->second];
    }

    void created(const TaskCreated& r, TaskKind kind, std::size_t at) {
        TaskRow& task = row(r.id);
        if (task.created != unknown_time) damaged(at, "a task was created twice");
        if (r.access_count > max_accesses) damaged(at, "a task has too many accesses");
        task.kind = kind;
        task.kernel = find(kernels_, r.kernel);
        task.phase = find(phases_, r.phase);
        task.matrix = find(matrices_, r.matrix);
        task.i = r.i;
        task.j = r.j;
        task.step = r.step;
        task.priority = r.priority;
        task.created = checked(r.time, at);
        task.access_count = r.access_count;
        task.first_access = into_.trace.accesses.size();
        into_.trace.accesses.resize(task.first_access + r.access_count, no_access);
        if (r.access_count > 0) into_.trace.accesses[task.first_access] = r.first_access;
    }

    void accesses(const TaskAccesses& r, std::size_t at) {
        const auto entry = rows_.find(r.id);
        if (entry == rows_.end()) damaged(at, "accesses of a task that was not created");
        const TaskRow& task = into_.trace.tasks[entry->second];
        std::size_t filled = 1;
        const auto all = std::span{into_.trace.accesses}.subspan(task.first_access, task.access_count);
        while (filled < all.size() && all[filled] != no_access) ++filled;
        if (r.count > r.access.size() || filled + r.count > all.size()) damaged(at, "a task has too many accesses");
        std::copy_n(r.access.begin(), r.count, all.begin() + static_cast<std::ptrdiff_t>(filled));
    }

    void ran(const TaskRan& r, std::size_t at) {
        TaskRow& task = row(r.id);
        task.worker = find(workers_, r.worker);
        task.rank = r.rank;
        task.singles = std::clamp<std::int32_t>(r.singles, 0, std::max<std::int32_t>(0, r.rank));
        task.ready = checked_or_unknown(r.ready, at);
        task.start = checked(r.start, at);
        task.end = checked(r.end, at);
        if (task.end < task.start) damaged(at, "a task ended before it started");
        const auto usable = [](float number) { return std::isfinite(number) && number >= 0 ? double{number} : 0.0; };
        task.flops = usable(r.flops);
        task.bytes = usable(r.bytes);
    }

    void modelled(const TaskModelled& r, std::size_t at) {
        const auto known = works_.find(r.work);
        if (known == works_.end()) damaged(at, "a kind of work was not defined");
        if (!std::isfinite(r.factor) || r.factor < 0) damaged(at, "the factor of a duration is out of range");
        TaskRow& task = row(r.id);
        task.work = known->second;
        task.factor = r.factor;
    }

    void message(const Message& r, Direction direction, std::size_t at) {
        if (r.bytes > static_cast<std::uint64_t>(most_bytes)) damaged(at, "a message is too large");
        const MessageRow m{.direction = direction,
                           .node = node_,
                           .peer = r.peer,
                           .tag = r.tag,
                           .priority = r.priority,
                           .bytes = r.bytes,
                           .posted = checked_or_unknown(r.posted, at),
                           .start = checked(r.start, at),
                           .end = checked(r.end, at)};
        into_.trace.messages.push_back(m);
    }

    void memory(const MemoryChange& r, std::size_t at) {
        if (r.bytes > most_bytes || r.bytes < -most_bytes) damaged(at, "an allocation is too large");
        into_.trace.memory.push_back({node_, r.memory, checked(r.time, at), r.bytes});
    }

    void wait(const Wait& r, std::size_t at) {
        into_.trace.waits.push_back({node_, r.stream, r.reason, checked(r.start, at), checked(r.end, at)});
    }

    /// Parts of one event follow each other in the buffer of a thread.
    void event(const AppEvent& r, std::uint16_t thread, std::size_t at) {
        const auto known = events_.find(r.type);
        if (known == events_.end()) damaged(at, "an event was not defined");
        EventTable& table = into_.trace.events[known->second];
        PendingEvent& pending = pending_[thread];
        if (r.part == 0) pending = {r.type, 0, {}};
        if (pending.type != r.type || pending.parts != r.part) damaged(at, "an event has lost a part");
        ++pending.parts;
        pending.values.insert(pending.values.end(), r.values.begin(), r.values.end());
        if (pending.values.size() < table.fields.size()) return;
        pending.values.resize(table.fields.size());
        table.node.push_back(node_);
        event_times_.emplace_back(known->second, table.time.size());
        table.time.push_back(checked(r.time, at));
        table.values.insert(table.values.end(), pending.values.begin(), pending.values.end());
        pending = {};
    }

    /// Tasks that were running when the run was killed get the worker and the start that were seen.
    void finish_running() {
        for (const TaskRunning& r : running_) {
            const auto entry = rows_.find(r.id);
            if (entry == rows_.end()) continue;
            TaskRow& task = into_.trace.tasks[entry->second];
            if (task.start != unknown_time || r.start < 0 || r.start > longest_time) continue;
            task.worker = find(workers_, r.worker);
            task.start = r.start;
        }
    }

    /// The offset to the clock of node 0 is interpolated between the first and the last time it was measured.
    [[nodiscard]] Time on_common_clock(Time time) const {
        if (time == unknown_time || clock_.empty()) return time;
        const ClockSample& a = clock_.front();
        const ClockSample& b = clock_.back();
        double offset = a.offset;
        if (b.at > a.at) {
            const double share = std::clamp((static_cast<double>(time) - a.at) / (b.at - a.at), 0.0, 1.0);
            offset += share * (b.offset - a.offset);
        }
        return time + static_cast<Time>(std::llround(offset));
    }

    void align() {
        Trace& trace = into_.trace;
        const auto shift = [this](Time& time) { time = on_common_clock(time); };
        for (std::size_t k = first_.task; k < trace.tasks.size(); ++k) {
            TaskRow& task = trace.tasks[k];
            for (Time* time : {&task.created, &task.ready, &task.start, &task.end}) shift(*time);
        }
        for (std::size_t k = first_.message; k < trace.messages.size(); ++k)
            for (Time* time : {&trace.messages[k].posted, &trace.messages[k].start, &trace.messages[k].end})
                shift(*time);
        for (std::size_t k = first_.memory; k < trace.memory.size(); ++k) shift(trace.memory[k].time);
        for (std::size_t k = first_.wait; k < trace.waits.size(); ++k)
            for (Time* time : {&trace.waits[k].start, &trace.waits[k].end}) shift(*time);
        for (const auto& [table, position] : event_times_) shift(trace.events[table].time[position]);
    }

    [[nodiscard]] NodeRow& node() { return into_.trace.nodes[header_.node]; }

    struct PendingEvent {
        std::uint16_t type = 0;
        std::uint8_t parts = 0;
        std::vector<std::uint64_t> values;
    };
    static constexpr std::uint8_t max_accesses = 64;
    static constexpr std::uint64_t no_access = ~std::uint64_t{0};

    std::span<const std::byte> content_;
    const std::string& path_;
    Merged& into_;
    FileHeader header_;
    std::int32_t node_;
    Firsts first_;
    std::map<std::uint16_t, Code> kernels_, phases_, matrices_, workers_;
    std::map<std::uint32_t, Code> works_;
    std::map<std::uint16_t, std::size_t> events_;
    std::map<std::uint16_t, PendingEvent> pending_;
    std::vector<std::pair<std::size_t, std::size_t>> event_times_;
    std::vector<ClockSample> clock_;
    std::vector<TaskRunning> running_;
    std::unordered_map<std::uint64_t, std::size_t> rows_;

public:
    [[nodiscard]] Time opened() const { return on_common_clock(header_.opened); }
};

/// Which tile a message carries: one of the last matrix that begins at or before its datum.
void locate(const Merged& merged, MessageRow& m) {
    const std::uint64_t datum = datum_of_message(m.tag);
    auto entry = merged.matrices.upper_bound(datum);
    if (entry == merged.matrices.begin()) return;
    --entry;
    const MatrixRow& matrix = merged.trace.matrices[static_cast<std::size_t>(entry->second)];
    const auto position = static_cast<std::int64_t>(datum - matrix.first_datum);
    if (position / matrix.tile_cols >= matrix.tile_rows) return;
    m.matrix = entry->second;
    m.i = position / matrix.tile_cols;
    m.j = position % matrix.tile_cols;
}

/// Sorts the tables and counts time from the beginning of the run.
void finish(Merged& merged, Time begin) {
    Trace& trace = merged.trace;
    const auto shift = [begin](Time& time) {
        if (time != unknown_time) time = std::max<Time>(0, time - begin);
    };
    for (TaskRow& task : trace.tasks)
        for (Time* time : {&task.created, &task.ready, &task.start, &task.end}) shift(*time);
    for (MessageRow& m : trace.messages) locate(merged, m);
    for (MessageRow& m : trace.messages)
        for (Time* time : {&m.posted, &m.start, &m.end}) shift(*time);
    for (MemoryRow& m : trace.memory) shift(m.time);
    for (WaitRow& w : trace.waits)
        for (Time* time : {&w.start, &w.end}) shift(*time);
    for (EventTable& table : trace.events)
        for (Time& time : table.time) shift(time);
    std::sort(trace.tasks.begin(), trace.tasks.end(), [](const TaskRow& a, const TaskRow& b) {
        return std::pair{a.id, a.node} < std::pair{b.id, b.node};
    });
    std::stable_sort(trace.memory.begin(), trace.memory.end(),
                     [](const MemoryRow& a, const MemoryRow& b) { return a.time < b.time; });
    std::stable_sort(trace.messages.begin(), trace.messages.end(),
                     [](const MessageRow& a, const MessageRow& b) { return a.start < b.start; });
    for (const TaskRow& task : trace.tasks) {
        Time& end = trace.nodes[static_cast<std::size_t>(task.node)].end;
        end = std::max({end, task.end, task.start});
    }
}

}  // namespace

Trace parse_trace(std::span<const std::byte> content, const std::string& path) {
    Merged merged;
    FileReader reader(content, path, merged);
    reader.read();
    finish(merged, reader.opened());
    return std::move(merged.trace);
}

Trace read_trace(const std::string& path) {
    Merged merged;
    Time begin = 0;
    const MappedFile first(path);
    FileReader reader(first.bytes(), path, merged);
    const FileHeader header = reader.header();
    if (header.node != 0)
        throw Error("{} is the trace of node {} of {}; name the file of node 0 to read all of them", path, header.node,
                    header.nodes);
    reader.read();
    begin = reader.opened();
    for (std::uint32_t node = 1; node < header.nodes; ++node) {
        const std::string other = node_path(path, node);
        if (access(other.c_str(), F_OK) != 0) {
            merged.trace.nodes.resize(node + std::size_t{1});
            merged.trace.warnings.push_back(fmt::format("{}: the trace of node {} is missing", other, node));
            continue;
        }
        const MappedFile file(other);
        FileReader next(file.bytes(), other, merged);
        if (next.header().run != header.run || next.header().node != node)
            throw Error("{} belongs to another run than {}", other, path);
        next.read();
        begin = std::min(begin, next.opened());
    }
    finish(merged, begin);
    return std::move(merged.trace);
}

}  // namespace tesela::trace
