#include "tesela/starpu/internal/tracing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/trace/app_events.hpp"

#include <nlohmann/json.hpp>

#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

namespace tesela::starpu {

namespace {

const char* kind_of_worker(int worker, const std::vector<int>& resource_workers) {
    if (std::ranges::count(resource_workers, worker) > 0) return "resource";
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

}  // namespace

Tracing::Tracing(const trace::Options& options, const net::Nodes& nodes, const TracedNode& node, Shared& shared)
    : nodes_(nodes),
      shared_(shared) {
    if (shared.tracing() != nullptr) throw Error("a trace is being written already; stop that first");
    const std::uint64_t run = nodes.broadcast(number_of_run(), 0);
    nodes.all_or_none([&] {
        if (options.modules.has(trace::Module::papi))
            counters_ = std::make_unique<trace::HardwareCounters>(options.counters);
        const trace::NodeOfRun me{static_cast<std::uint32_t>(nodes.me()), static_cast<std::uint32_t>(nodes.count()),
                                  run};
        collector_ = std::make_unique<trace::Collector>(options, me);
    });
    describe(node);
    measure_clock();
    trace::set_active(collector_.get());
    shared_.trace = this;
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
    shared_.trace = nullptr;
    trace::set_active(nullptr);
    while (shared_.trace_users.load() > 0) std::this_thread::yield();
    measure_clock();
    const std::unique_ptr<trace::Collector> ended = std::move(collector_);
    ended->close();
}

void Tracing::describe(const TracedNode& node) {
    collector_->define({{"type", "node"}, {"host", node.host}});
    for (unsigned w = 0; w < starpu_worker_get_count(); ++w) {
        std::array<char, 64> name{};
        starpu_worker_get_name(static_cast<int>(w), name.data(), name.size());
        const auto worker = static_cast<int>(w);
        nlohmann::json definition{{"type", "worker"},
                                  {"id", w},
                                  {"kind", kind_of_worker(worker, node.resource_workers)},
                                  {"name", name.data()}};
        if (starpu_worker_get_type(worker) != STARPU_CPU_WORKER) definition["card"] = starpu_worker_get_devid(worker);
        collector_->define(definition);
    }
    if (counters_) collector_->define({{"type", "counters"}, {"names", counters_->names()}});
}

void Tracing::measure_clock() {
    const net::Nodes::ClockOffset clock = nodes_.clock_offset(trace::Collector::now);
    collector_->define({{"type", "clock"}, {"at", clock.at}, {"offset", clock.offset}});
}

std::uint16_t Tracing::kernel_number(const Kernel& kernel) {
    const auto [entry, is_new] = kernels_.try_emplace(&kernel, 0);
    if (is_new) entry->second = collector_->number_of("kernel", kernel.name);
    return entry->second;
}

std::uint16_t Tracing::phase_number(const StarpuStream& stream, PhaseId phase) {
    const auto [entry, is_new] = phases_.try_emplace({stream.trace_number(), phase}, std::uint16_t{0});
    if (is_new) {
        if (streams_.insert(stream.trace_number()).second)
            collector_->define({{"type", "stream"}, {"id", stream.trace_number()}, {"name", stream.options().name}});
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
                            {"cols", tiles.cols},
                            {"tile", {matrix.tiling().rows(0), matrix.tiling().cols(0)}},
                            {"size", {matrix.tiling().size().i, matrix.tiling().size().j}}});
    }
    return entry->second;
}

TracedTask Tracing::created(const StarpuStream& stream, const Task& task, std::uint64_t position, TaskPurpose purpose) {
    if (!wants(trace::Module::tasks)) return {};
    static_assert(Task::max_accesses <= 9);
    const auto used = task.used();
    TracedTask traced{.id = trace::task_id(stream.trace_number(), position)};
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

void Tracing::will_travel(const TileRef& tile) {
    const std::lock_guard lock(names_mutex_);
    (void)matrix_number(tile);
}

void Tracing::message_ended(const TracedMessage& message) {
    collector_->put(trace::Message{.kind = message.kind,
                                   .peer = message.peer,
                                   .priority = message.priority,
                                   .tag = message.tag,
                                   .posted = message.posted,
                                   .start = message.started == 0 ? message.posted : message.started,
                                   .end = trace::Collector::now(),
                                   .bytes = message.bytes});
}

void Tracing::memory_changed(unsigned memory, std::int64_t bytes) {
    collector_->put(trace::MemoryChange{
        .memory = static_cast<std::uint16_t>(memory), .time = trace::Collector::now(), .bytes = bytes});
}

TracingInUse::TracingInUse(Shared& shared) : shared_(shared) {
    // Counted before the pointer is read, so that stop() either sees the count or is not seen by this hook.
    shared.trace_users.fetch_add(1);
    tracing_ = shared.trace.load();
}
TracingInUse::~TracingInUse() { shared_.trace_users.fetch_sub(1); }

void TracedRun::begin() {
    Tracing* trace = shared_.tracing();
    record_.id = task_.id;
    record_.ready = task_.ready;
    record_.worker = static_cast<std::uint16_t>(starpu_worker_get_id());
    if (trace->counters() != nullptr) before_ = trace->counters()->read();
    record_.start = trace::Collector::now();
    trace->collector().started(record_.worker, task_.id, record_.start);
}

void TracedRun::end() {
    Tracing* trace = shared_.tracing();
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
    if (task_.written >= tiles.size()) return;
    record_.rank = static_cast<std::int16_t>(tiles[task_.written].shape.rank);
    record_.singles = static_cast<std::int16_t>(tiles[task_.written].shape.singles);
}

TracedWait::TracedWait(const StarpuStream& stream, trace::WaitReason reason)
    : tracing_(stream.shared.tracing()),
      record_{.reason = reason, .stream = stream.trace_number()} {
    if (tracing_ != nullptr && !tracing_->wants(trace::Module::tasks)) tracing_ = nullptr;
    if (tracing_ != nullptr) record_.start = trace::Collector::now();
}

TracedWait::~TracedWait() {
    if (tracing_ == nullptr) return;
    record_.end = trace::Collector::now();
    tracing_->collector().put(record_);
}

void note_ready(void* traced_task) { static_cast<TracedTask*>(traced_task)->ready = trace::Collector::now(); }

void note_memory(Shared& shared, unsigned memory, std::int64_t bytes) {
    if (shared.tracing() == nullptr) return;
    const TracingInUse use(shared);
    if (use && use->wants(trace::Module::memory)) use->memory_changed(memory, bytes);
}

}  // namespace tesela::starpu
