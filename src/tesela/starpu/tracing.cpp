#include "tesela/starpu/internal/tracing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/trace/app_events.hpp"

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

namespace tesela::starpu {

std::atomic<Tracing*> active_tracing{nullptr};
std::atomic<MessageHook> message_hook{nullptr};

namespace {

/// Hooks that are running although nothing is pending (see TracingInUse).
std::atomic<int> users{0};

/// StarPU-MPI sends an envelope before the data: its tags, its size and where the tag of the data stands in it.
constexpr int envelope_tag = 42;
constexpr int data_tag = 43;
constexpr int synchronous_data_tag = 44;
constexpr std::uint64_t envelope_bytes = 32;
constexpr std::size_t tag_in_envelope = 16;

std::uint64_t tag_of_envelope(const void* envelope) {
    std::uint64_t tag = 0;
    std::memcpy(&tag, static_cast<const char*>(envelope) + tag_in_envelope, sizeof tag);
    return tag;
}

void forward_message(const StartedMessage& message) {
    const TracingInUse use;
    if (use) use->message_started(message);
}

const char* kind_of_worker(int worker) {
    switch (starpu_worker_get_type(worker)) {
        case STARPU_CUDA_WORKER: return "cuda";
        case STARPU_OPENCL_WORKER: return "opencl";
        default: return "cpu";
    }
}

std::uint64_t number_of_run() {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return static_cast<std::uint64_t>(now) * 1000003U + static_cast<std::uint64_t>(getpid());
}

/// Does what may fail on one node; all nodes throw if it does on any.
void all_or_none(const Parallel& parallel, MPI_Comm comm, const std::function<void()>& work) {
    std::string reason;
    try {
        work();
    } catch (const Error& error) {
        reason = error.what();
    }
    int good = reason.empty() ? 1 : 0;
    if (parallel.active()) MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm);
    if (!reason.empty()) throw Error(reason);
    if (good == 0) throw Error("another node cannot write its part of the trace");
}

}  // namespace

Tracing::Tracing(const trace::Options& options, const Parallel& parallel, const std::string& host)
    : parallel_(parallel) {
    if (tracing() != nullptr) throw Error("a trace is being written already; stop that first");
    comm_ = parallel.duplicate();
    std::uint64_t run = number_of_run();
    if (parallel.active()) MPI_Bcast(&run, 1, MPI_UINT64_T, 0, comm_);
    all_or_none(parallel, comm_, [&] {
        if (options.modules.has(trace::Module::papi))
            counters_ = std::make_unique<trace::HardwareCounters>(options.counters);
        const trace::NodeOfRun node{static_cast<std::uint32_t>(parallel.node()),
                                    static_cast<std::uint32_t>(parallel.nodes()), run};
        collector_ = std::make_unique<trace::Collector>(options, node);
    });
    describe(host);
    measure_clock();
    trace::set_active(collector_.get());
    active_tracing = this;
    if (collector_->wants(trace::Module::comms)) message_hook = forward_message;
}

Tracing::~Tracing() {
    if (collector_ == nullptr) return;
    try {
        stop();
    } catch (const std::exception& error) {
        fmt::print(stderr, "tesela: {}\n", error.what());
    }
}

void Tracing::stop() {
    message_hook = nullptr;
    active_tracing = nullptr;
    trace::set_active(nullptr);
    while (users.load() > 0) std::this_thread::yield();
    measure_clock();
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    const std::unique_ptr<trace::Collector> ended = std::move(collector_);
    ended->close();
}

void Tracing::describe(const std::string& host) {
    collector_->define({{"type", "node"}, {"host", host}});
    for (unsigned w = 0; w < starpu_worker_get_count(); ++w) {
        std::array<char, 64> name{};
        starpu_worker_get_name(static_cast<int>(w), name.data(), name.size());
        collector_->define(
            {{"type", "worker"}, {"id", w}, {"kind", kind_of_worker(static_cast<int>(w))}, {"name", name.data()}});
    }
    if (counters_) collector_->define({{"type", "counters"}, {"names", counters_->names()}});
}

/// The offset of this node's clock to that of node 0, from the fastest of some exchanges: half of it each way.
void Tracing::measure_clock() {
    std::array<std::int64_t, 2> sample{trace::Collector::now(), 0};  // own clock, offset to node 0
    constexpr int rounds = 20;
    if (parallel_.active() && parallel_.node() == 0) {
        for (int node = 1; node < parallel_.nodes(); ++node) {
            std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
            std::array<std::int64_t, 2> best{};
            for (int round = 0; round < rounds; ++round) {
                std::int64_t theirs = 0;
                const std::int64_t before = trace::Collector::now();
                MPI_Send(&before, 1, MPI_INT64_T, node, 0, comm_);
                MPI_Recv(&theirs, 1, MPI_INT64_T, node, 0, comm_, MPI_STATUS_IGNORE);
                const std::int64_t after = trace::Collector::now();
                if (after - before >= fastest) continue;
                fastest = after - before;
                best = {theirs, before + fastest / 2 - theirs};
            }
            MPI_Send(best.data(), 2, MPI_INT64_T, node, 1, comm_);
        }
    } else if (parallel_.active()) {
        for (int round = 0; round < rounds; ++round) {
            std::int64_t theirs = 0;
            MPI_Recv(&theirs, 1, MPI_INT64_T, 0, 0, comm_, MPI_STATUS_IGNORE);
            const std::int64_t mine = trace::Collector::now();
            MPI_Send(&mine, 1, MPI_INT64_T, 0, 0, comm_);
        }
        MPI_Recv(sample.data(), 2, MPI_INT64_T, 0, 1, comm_, MPI_STATUS_IGNORE);
    }
    collector_->define({{"type", "clock"}, {"at", sample[0]}, {"offset", sample[1]}});
}

std::uint16_t Tracing::kernel_number(const Kernel& kernel) {
    const auto [entry, is_new] = kernels_.try_emplace(&kernel, 0);
    if (is_new) entry->second = collector_->number_of("kernel", kernel.name);
    return entry->second;
}

std::uint16_t Tracing::phase_number(const StarpuStream& stream, PhaseId phase) {
    const auto [entry, is_new] = phases_.try_emplace({stream.number, phase}, std::uint16_t{0});
    if (is_new) {
        if (phases_.size() == 1 || phase == 0)
            collector_->define({{"type", "stream"}, {"id", stream.number}, {"name", stream.options().name}});
        entry->second = collector_->number_of("phase", stream.phases[static_cast<std::size_t>(phase)]);
    }
    return entry->second;
}

std::uint16_t Tracing::matrix_number(const TileRef& tile) {
    const auto& matrix = static_cast<const StarpuAttachment&>(*tile.matrix);
    const std::uint64_t first = matrix.datum(tile.index) - matrix.position(tile.index);
    const auto [entry, is_new] = matrices_.try_emplace(first, static_cast<std::uint16_t>(matrices_.size()));
    if (is_new) {
        const GridSize tiles = matrix.tiling().grid();
        collector_->define({{"type", "matrix"},
                            {"id", entry->second},
                            {"name", matrix.name()},
                            {"first", first},
                            {"rows", tiles.rows},
                            {"cols", tiles.cols}});
    }
    return entry->second;
}

TracedTask Tracing::created(const StarpuStream& stream, const Task& task, std::uint64_t position, TaskPurpose purpose) {
    if (!wants(trace::Module::tasks)) return {};
    static_assert(Task::max_accesses <= 9);
    const auto used = task.used();
    TracedTask traced{.id = trace::task_id(stream.number, position)};
    std::array<trace::Record, 3> records;
    std::size_t count = 1;
    trace::TaskAccesses more{.id = traced.id};
    trace::TaskCreated record{
        .kind = purpose == TaskPurpose::task ? trace::RecordKind::task_created : trace::RecordKind::fetch_created,
        .access_count = static_cast<std::uint8_t>(used.size()),
        .step = task.step,
        .id = traced.id,
        .priority = task.priority};
    for (std::size_t k = 0; k < used.size(); ++k) {
        const TileRef& tile = used[k].tile;
        const std::uint64_t access =
            trace::pack_access(static_cast<const StarpuAttachment&>(*tile.matrix).datum(tile.index),
                               static_cast<trace::Use>(used[k].mode));
        if (k == 0) {
            record.first_access = access;
            continue;
        }
        more.access[more.count++] = access;
        if (more.count == more.access.size() || k + 1 == used.size()) {
            records[count++] = to_record(more);
            more.count = 0;
        }
    }
    while (traced.written < used.size() && !writes(used[traced.written].mode)) ++traced.written;
    {
        const std::lock_guard lock(names_mutex_);
        record.kernel = kernel_number(*task.kernel);
        record.phase = phase_number(stream, task.phase);
        const std::size_t shown = traced.written < used.size() ? traced.written : 0;
        if (!used.empty()) {
            record.matrix = matrix_number(used[shown].tile);
            record.i = static_cast<std::int32_t>(used[shown].tile.index.i);
            record.j = static_cast<std::int32_t>(used[shown].tile.index.j);
        }
    }
    record.time = trace::Collector::now();
    records[0] = to_record(record);
    collector_->put(std::span{records.data(), count});
    return traced;
}

/// The envelope names the tag, and the data follows it at once, from the same thread; a receive of data is posted when
/// its envelope has arrived in the buffer of its communicator.
void Tracing::message_started(const StartedMessage& message) {
    const bool sends = message.direction == StartedMessage::Direction::send;
    const std::lock_guard lock(messages_mutex_);
    if (message.tag == envelope_tag && message.bytes == envelope_bytes) {
        if (sends)
            sent_tag_ = tag_of_envelope(message.buffer);
        else
            envelopes_[message.comm] = message.buffer;
        return;
    }
    if (message.tag != data_tag && message.tag != synchronous_data_tag) return;
    const auto envelope = envelopes_.find(message.comm);
    if (!sends && envelope == envelopes_.end()) return;
    const std::uint64_t tag = sends ? sent_tag_ : tag_of_envelope(envelope->second);
    // What is never asked for again must not pile up.
    constexpr std::size_t most = 1U << 16U;
    if (starts_.size() > most) starts_.clear();
    starts_[{sends ? trace::RecordKind::send : trace::RecordKind::receive, message.peer, tag}] = {
        trace::Collector::now(), message.bytes};
}

void Tracing::message_ended(const TracedMessage& message) {
    trace::Message record{.kind = message.kind,
                          .peer = message.peer,
                          .priority = message.priority,
                          .tag = message.tag,
                          .posted = message.posted,
                          .start = message.posted,
                          .end = trace::Collector::now(),
                          .bytes = message.bytes};
    {
        const std::lock_guard lock(messages_mutex_);
        const auto start = starts_.find({message.kind, int{message.peer}, message.tag});
        if (start != starts_.end()) {
            record.start = start->second.time;
            record.bytes = start->second.bytes;
            starts_.erase(start);
        }
    }
    collector_->put(record);
}

void Tracing::memory_changed(unsigned memory, std::int64_t bytes) {
    collector_->put(trace::MemoryChange{
        .memory = static_cast<std::uint16_t>(memory), .time = trace::Collector::now(), .bytes = bytes});
}

TracingInUse::TracingInUse() {
    // Counted before the pointer is read, so that stop() either sees the count or is not seen by this hook.
    users.fetch_add(1);
    tracing_ = active_tracing.load();
}
TracingInUse::~TracingInUse() { users.fetch_sub(1); }

void TracedRun::begin() {
    Tracing* trace = tracing();
    record_.id = task_.id;
    record_.ready = task_.ready;
    record_.worker = static_cast<std::uint16_t>(starpu_worker_get_id());
    if (trace->counters() != nullptr) before_ = trace->counters()->read();
    record_.start = trace::Collector::now();
    trace->collector().started(record_.worker, task_.id, record_.start);
}

void TracedRun::end() {
    Tracing* trace = tracing();
    if (record_.end == 0) record_.end = trace::Collector::now();
    if (trace->counters() != nullptr) {
        const trace::HardwareCounters::Values after = trace->counters()->read();
        trace::Counters counted{.count = static_cast<std::uint8_t>(trace->counters()->names().size()),
                                .worker = record_.worker,
                                .id = task_.id};
        for (std::size_t k = 0; k < counted.values.size(); ++k) counted.values[k] = after[k] - before_[k];
        trace->collector().put(counted);
    }
    trace->collector().put(record_);
    trace->collector().ended(record_.worker);
}

void TracedRun::count(const Kernel& kernel, std::span<const Tile> tiles, const void* arguments) {
    record_.end = trace::Collector::now();
    std::array<TileShape, Task::max_accesses> shapes;
    for (std::size_t k = 0; k < tiles.size(); ++k) shapes[k] = tiles[k].shape;
    const KernelCost cost = kernel.cost({shapes.data(), tiles.size()}, arguments);
    record_.flops = static_cast<float>(cost.flops);
    record_.bytes = static_cast<float>(cost.bytes);
    if (task_.written < tiles.size()) record_.rank = static_cast<std::int32_t>(tiles[task_.written].shape.rank);
}

TracedWait::TracedWait(const StarpuStream& stream, trace::WaitReason reason)
    : tracing_(tracing()),
      record_{.reason = reason, .stream = stream.number} {
    if (tracing_ != nullptr && !tracing_->wants(trace::Module::tasks)) tracing_ = nullptr;
    if (tracing_ != nullptr) record_.start = trace::Collector::now();
}

TracedWait::~TracedWait() {
    if (tracing_ == nullptr) return;
    record_.end = trace::Collector::now();
    tracing_->collector().put(record_);
}

void note_ready(void* traced_task) { static_cast<TracedTask*>(traced_task)->ready = trace::Collector::now(); }

void note_memory(unsigned memory, std::int64_t bytes) {
    if (tracing() == nullptr) return;
    const TracingInUse use;
    if (use && use->wants(trace::Module::memory)) use->memory_changed(memory, bytes);
}

}  // namespace tesela::starpu
