#include "tesela/starpu/engine.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/courier.hpp"
#include "tesela/starpu/internal/exchange.hpp"
#include "tesela/starpu/internal/runtime.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/starpu/internal/tile_interface.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <starpu.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tesela {
namespace starpu {
namespace {

/// Whether a task that copies a value out runs although its stream has failed: somebody waits for it.
enum class AfterFailure : std::uint8_t { skip, run };

/// What travels with a StarPU task.
struct TaskRecord {
    const Kernel* kernel;
    StarpuStream* stream;
    Scheduled scheduled;
    Progress* progress;
    std::shared_ptr<Fetched> fetched;
    AfterFailure after_failure = AfterFailure::skip;
    TracedTask traced{};
    alignas(16) std::array<std::byte, Task::max_argument_bytes> arguments;
};

/// Runs on a worker: looks at the stream's status, calls the kernel, reports its failure.
void execute(void* buffers[], void* argument) {
    auto& record = *static_cast<TaskRecord*>(argument);
    TracedRun traced(record.traced);
    record.stream->scheduler().started(starpu_worker_get_id());
    if (record.after_failure == AfterFailure::skip && record.stream->failure.raised()) return;
    std::array<Tile, Task::max_accesses> tiles;
    const auto count = static_cast<std::size_t>(STARPU_TASK_GET_NBUFFERS(starpu_task_get_current()));
    for (std::size_t i = 0; i < count; ++i) tiles[i] = static_cast<const TileInterface*>(buffers[i])->tile();
    const KernelResult result = record.kernel->cpu({{tiles.data(), count}, record.arguments.data()});
    traced.worked(*record.kernel, {tiles.data(), count}, record.arguments.data());
    if (result.failure != Failure::none) record.stream->failure.raise({result.failure, result.index});
}

void task_ended(void* argument) {
    auto* record = static_cast<TaskRecord*>(argument);
    Progress& progress = *record->progress;
    record->stream->scheduler().ended(record->scheduled);
    delete record;
    progress.finished();
}

void message_ended(void* argument) { static_cast<Progress*>(argument)->finished(); }

void traced_message_ended(void* argument) {
    const std::unique_ptr<TracedMessage> message(static_cast<TracedMessage*>(argument));
    tracing()->message_ended(*message);
    message->progress->finished();
}

/// What StarPU-MPI calls when a message is complete.
struct Completion {
    void (*function)(void*);
    void* argument;
};
Completion completion(TracedMessage message) {
    Tracing* trace = tracing();
    if (trace == nullptr || !trace->wants(trace::Module::comms)) return {message_ended, message.progress};
    message.posted = trace::Collector::now();
    return {traced_message_ended, new TracedMessage(message)};
}

starpu_data_access_mode starpu_mode(AccessMode mode) {
    switch (mode) {
        case AccessMode::read:
        // Others may write their parts meanwhile; `open` and `close` write the whole before and after.
        case AccessMode::disjoint: return STARPU_R;
        case AccessMode::write: return STARPU_W;
        case AccessMode::commute: return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
        case AccessMode::read_write:
        case AccessMode::reduce: break;
    }
    return STARPU_RW;
}

/// Copies a tile into the memory of a Fetched.
struct CopyOutArguments {
    Fetched* into;
    std::size_t element_bytes;
};
KernelResult run_copy_out(const KernelCall& call) noexcept {
    const auto& args = call.args<CopyOutArguments>();
    const Tile& tile = call.tiles[0];
    const std::size_t column = static_cast<std::size_t>(tile.rows()) * args.element_bytes;
    for (Index j = 0; j < tile.cols() && column > 0; ++j)
        std::memcpy(
            args.into->bytes().data() + static_cast<std::size_t>(j) * column,
            static_cast<const std::byte*>(tile.data) + static_cast<std::size_t>(j * tile.ld) * args.element_bytes,
            column);
    args.into->arrive(true);
    return {};
}
KernelCost cost_copy_out(std::span<const TileShape> shapes, const void* arguments) noexcept {
    const auto& args = *static_cast<const CopyOutArguments*>(arguments);
    return {0, static_cast<double>(shapes[0].rows * shapes[0].cols) * static_cast<double>(args.element_bytes)};
}
const Kernel copy_out{"copy_out", cost_copy_out, run_copy_out};

StarpuAttachment& attachment_of(const TileRef& tile) { return *static_cast<StarpuAttachment*>(tile.matrix); }
StarpuStream& stream_of(StreamState& stream) { return static_cast<StarpuStream&>(stream); }

/// Codelets have static lifetime, since StarPU may look at one after its last task.
class Codelets {
public:
    /// An engine starts with this scheduler.
    void serve(const Scheduler& scheduler) {
        const std::lock_guard lock(mutex_);
        can_execute_ = scheduler.can_execute();
        for (starpu_codelet& codelet : codelets_) codelet.can_execute = can_execute_;
    }

    starpu_codelet* of(const Kernel& kernel) {
        const std::lock_guard lock(mutex_);
        const auto found = index_.find(&kernel);
        if (found != index_.end()) return found->second;
        starpu_codelet& codelet = codelets_.emplace_back();
        starpu_codelet_init(&codelet);
        codelet.cpu_funcs[0] = execute;
        codelet.cpu_funcs_name[0] = kernel.name;
        codelet.where = STARPU_CPU;
        codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
        codelet.name = kernel.name;
        codelet.can_execute = can_execute_;
        index_.emplace(&kernel, &codelet);
        return &codelet;
    }

private:
    std::mutex mutex_;
    std::deque<starpu_codelet> codelets_;
    int (*can_execute_)(unsigned, starpu_task*, unsigned) = nullptr;
    std::unordered_map<const Kernel*, starpu_codelet*> index_;
};

Codelets& codelets() {
    static Codelets all;
    return all;
}

}  // namespace

}  // namespace starpu

using namespace starpu;

class StarpuEngine::Implementation {
public:
    explicit Implementation(const StarpuOptions& options);

    Runtime runtime;
    std::mutex mutex;
    std::deque<Progress> progress;
    std::int64_t streams_opened = 0;
    /// Memory of each node at the start, and what attached matrices take of it: the same on every node, so that all
    /// refuse a matrix alike.
    std::vector<double> memory;
    std::vector<double> reserved;
    Index total_workers = 0;

    [[nodiscard]] Index me() const { return runtime.parallel.node(); }
    void reserve(StarpuAttachment& matrix);
    void bring(StarpuStream& stream, const Access& access, Index to, std::int32_t priority);
    void written(StarpuStream& stream, const Access& access, const Task& task);
    void send(StarpuStream& stream, TileRef tile, Index to, std::int32_t priority);
    void receive(StarpuStream& stream, TileRef tile, Index from);
    void run(StarpuStream& stream, const Task& task, TaskRecord* record);
    [[nodiscard]] TaskRecord* record_of(StarpuStream& stream, const Task& task, AfterFailure after_failure);
    Courier& courier();

    std::unique_ptr<Courier> courier_when_needed;
    /// Ends before the runtime does.
    std::unique_ptr<Tracing> trace;
};

StarpuEngine::Implementation::Implementation(const StarpuOptions& options)
    : runtime(options),
      memory(runtime.parallel.gather(runtime.description.memory_bytes)),
      reserved(memory.size(), 0) {
    codelets().serve(*runtime.scheduler);
    tile_pool().set_keep_limit(static_cast<std::size_t>(runtime.description.memory_bytes / 4));
    for (const double workers : runtime.parallel.gather(static_cast<double>(runtime.workers.count())))
        total_workers += static_cast<Index>(workers);
}

void StarpuEngine::Implementation::reserve(StarpuAttachment& matrix) {
    const std::lock_guard lock(mutex);
    std::vector<double> bytes = matrix.bytes_per_node(static_cast<Index>(memory.size()));
    for (std::size_t node = 0; node < memory.size(); ++node) {
        const double free = memory[node] - reserved[node];
        if (bytes[node] > free)
            throw Error(
                "matrix {} does not fit: node {} needs {} for its tiles and has {} available. Use more nodes, or "
                "a smaller matrix.",
                matrix.name(), node, format_bytes(bytes[node]), format_bytes(std::max(0.0, free)));
    }
    for (std::size_t node = 0; node < memory.size(); ++node) reserved[node] += bytes[node];
    matrix.reserved_bytes = std::move(bytes);
    matrix.release = [this](const std::vector<double>& freed) {
        const std::lock_guard relock(mutex);
        for (std::size_t node = 0; node < reserved.size(); ++node) reserved[node] -= freed[node];
    };
}

void StarpuEngine::Implementation::send(StarpuStream& stream, TileRef tile, Index to, std::int32_t priority) {
    StarpuAttachment& matrix = attachment_of(tile);
    stream.progress.started();
    const Completion ended = completion({.kind = trace::RecordKind::send,
                                         .progress = &stream.progress,
                                         .tag = static_cast<std::uint64_t>(matrix.tag(tile.index)),
                                         .bytes = matrix.bytes(tile.index),
                                         .priority = priority,
                                         .peer = static_cast<std::uint16_t>(to)});
    starpu_mpi_isend_detached_prio(matrix.handle(tile.index), static_cast<int>(to), matrix.tag(tile.index), priority,
                                   MPI_COMM_WORLD, ended.function, ended.argument);
}

void StarpuEngine::Implementation::receive(StarpuStream& stream, TileRef tile, Index from) {
    StarpuAttachment& matrix = attachment_of(tile);
    stream.progress.started();
    const Completion ended = completion({.kind = trace::RecordKind::receive,
                                         .progress = &stream.progress,
                                         .tag = static_cast<std::uint64_t>(matrix.tag(tile.index)),
                                         .bytes = matrix.bytes(tile.index),
                                         .peer = static_cast<std::uint16_t>(from)});
    starpu_mpi_irecv_detached(matrix.handle(tile.index), static_cast<int>(from), matrix.tag(tile.index), MPI_COMM_WORLD,
                              ended.function, ended.argument);
}

/// Makes a node have the current value of a tile: a copy is sent once and kept until it is written, moved or retired.
void StarpuEngine::Implementation::bring(StarpuStream& stream, const Access& access, Index to, std::int32_t priority) {
    const TileRef tile = access.tile;
    const Index owner = tile.owner().number();
    if (owner == to) return;
    StarpuAttachment& matrix = attachment_of(tile);
    if (owner == me() && !matrix.sent_to(tile.index, to)) {
        send(stream, tile, to, priority);
        matrix.set_sent(tile.index, to);
    }
    if (to == me() && !matrix.has_copy(tile.index)) {
        receive(stream, tile, owner);
        matrix.set_copy(tile.index);
    }
}

/// After a task wrote a tile: copies elsewhere are out of date, and the owner gets the value back if it ran elsewhere.
void StarpuEngine::Implementation::written(StarpuStream& stream, const Access& access, const Task& task) {
    const TileRef tile = access.tile;
    const Index owner = tile.owner().number();
    StarpuAttachment& matrix = attachment_of(tile);
    if (owner == me())
        matrix.clear_sent(tile.index);
    else if (task.node != me() && matrix.has_copy(tile.index))
        matrix.drop_copy(tile.index);
    if (task.node == owner) return;
    if (task.node == me()) {
        matrix.set_copy(tile.index);
        send(stream, tile, owner, task.priority);
    }
    if (owner == me()) {
        receive(stream, tile, task.node);
        matrix.set_sent(tile.index, task.node);
    }
}

void StarpuEngine::Implementation::run(StarpuStream& stream, const Task& task, TaskRecord* record) {
    starpu_task* job = starpu_task_create();
    job->cl = codelets().of(*task.kernel);
    job->cl_arg = record;
    job->sched_data = &record->scheduled;
    job->callback_func = task_ended;
    job->callback_arg = record;
    job->priority = task.priority;
    if (record->traced.traced()) {
        job->prologue_callback_func = note_ready;
        job->prologue_callback_arg = &record->traced;
    }
    job->nbuffers = task.access_count;
    for (std::size_t i = 0; i < task.used().size(); ++i) {
        const Access& access = task.accesses[i];
        job->handles[i] = attachment_of(access.tile).handle(access.tile.index);
        job->modes[i] = starpu_mode(access.mode);
    }
    stream.progress.started();
    const int code = starpu_task_submit(job);
    if (code == 0) return;
    stream.progress.finished();
    delete record;
    job->destroy = 0;
    starpu_task_destroy(job);
    throw Error("no worker of this node can run {}: {}", task.kernel->name, std::strerror(-code));
}

TaskRecord* StarpuEngine::Implementation::record_of(StarpuStream& stream, const Task& task,
                                                    AfterFailure after_failure) {
    Gate* gate = task.resource == nullptr ? nullptr : &stream.scheduler().gate(*task.resource);
    return new TaskRecord{.kernel = task.kernel,
                          .stream = &stream,
                          .scheduled = {stream.queue.get(), gate, task.urgency},
                          .progress = &stream.progress,
                          .after_failure = after_failure,
                          .arguments = task.arguments};
}

Courier& StarpuEngine::Implementation::courier() {
    const std::lock_guard lock(mutex);
    if (!courier_when_needed) courier_when_needed = std::make_unique<Courier>();
    return *courier_when_needed;
}

StarpuEngine::StarpuEngine(const StarpuOptions& options) : implementation_(std::make_unique<Implementation>(options)) {}
StarpuEngine::~StarpuEngine() = default;

NodeId StarpuEngine::this_node() const { return NodeId{implementation_->me()}; }
Index StarpuEngine::node_count() const { return implementation_->runtime.parallel.nodes(); }
int StarpuEngine::worker_count() const { return implementation_->runtime.workers.count(); }
Index StarpuEngine::total_workers() const { return implementation_->total_workers; }
const NodeDescription& StarpuEngine::description() const { return implementation_->runtime.description; }

std::vector<std::string> StarpuEngine::start_lines() {
    return implementation_->runtime.parallel.gather(description().line(this_node(), node_count()));
}

std::unique_ptr<StreamState> StarpuEngine::open(const StreamOptions& options) {
    auto& self = *implementation_;
    constexpr std::int64_t tags_per_stream = std::int64_t{1} << 32U;
    std::unique_ptr<StarpuStream> stream;
    {
        const std::lock_guard lock(self.mutex);
        stream = std::make_unique<StarpuStream>(options, self.progress.emplace_back(),
                                                self.streams_opened * tags_per_stream);
        stream->number = static_cast<std::uint16_t>(self.streams_opened++);
    }
    stream->comm = self.runtime.parallel.duplicate();
    Scheduler& scheduler = *self.runtime.scheduler;
    stream->queue = {
        &scheduler.open(self.runtime.workers_of(options.workers), self.runtime.critical_workers_of(options.workers)),
        CloseQueue{&scheduler}};
    return stream;
}

std::unique_ptr<Attachment> StarpuEngine::attach(StreamState& stream, MatrixSpec spec) {
    if (spec.distribution.nodes() > node_count())
        throw Error("matrix {} is distributed over {} nodes; this run has {}", spec.name, spec.distribution.nodes(),
                    node_count());
    StarpuStream& mine = stream_of(stream);
    const bool callers_memory = static_cast<bool>(spec.memory);
    auto matrix = std::make_unique<StarpuAttachment>(std::move(spec), this_node(), mine.next_tag);
    if (!callers_memory) implementation_->reserve(*matrix);
    mine.next_tag += matrix->tiling().grid().count();
    return matrix;
}

void StarpuEngine::submit(StreamState& stream, const Task& task) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    const std::uint64_t position = mine.submitted++;
    if (node_count() > 1)
        for (const Access& access : task.used())
            if (reads(access.mode)) self.bring(mine, access, task.node, task.priority);
    if (task.node == self.me()) {
        const Index limit = mine.options().max_pending;
        if (mine.progress.pending() >= limit) {
            const TracedWait waiting(mine, trace::WaitReason::throttle);
            mine.progress.wait_until_at_most(limit * 3 / 4);
        }
        TaskRecord* record = self.record_of(mine, task, AfterFailure::skip);
        if (Tracing* trace = tracing()) record->traced = trace->created(mine, task, position, TaskPurpose::task);
        self.run(mine, task, record);
    }
    if (node_count() > 1)
        for (const Access& access : task.used())
            if (writes(access.mode)) self.written(mine, access, task);
}

void StarpuEngine::move(StreamState& stream, TileRef tile, NodeId to) {
    auto& self = *implementation_;
    StarpuAttachment& matrix = attachment_of(tile);
    if (tile.matrix->written(tile.index)) self.bring(stream_of(stream), {tile, AccessMode::read}, to.number(), 0);
    matrix.clear_sent(tile.index);
    matrix.next_version(tile.index);
    if (to == this_node()) return;
    if (tile.owner() == this_node() || matrix.has_copy(tile.index)) matrix.drop_copy(tile.index);
}

void StarpuEngine::exchange(StreamState& stream, const Exchange& exchange) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    const auto submit = [&self, &mine](const Task& task, const TracedTask& traced) {
        TaskRecord* record = self.record_of(mine, task, AfterFailure::run);
        record->traced = traced;
        self.run(mine, task, record);
    };
    const auto run = std::make_shared<ExchangeRun>(
        exchange, ExchangeRun::Surroundings{mine, node_count() > 1 ? &self.courier() : nullptr, this_node(), submit});
    auto& to = static_cast<StarpuAttachment&>(*exchange.to);
    const Overlay::TileRange tiles = exchange.overlay->target_tiles();
    for (Index i = tiles.first.i; i < tiles.last.i && node_count() > 1; ++i)
        for (Index j = tiles.first.j; j < tiles.last.j; ++j)
            if (exchange.overlay->touches({i, j})) to.outdate_copies({i, j});
    run->start();
}

void StarpuEngine::retire(StreamState&, TileRef tile) {
    if (node_count() == 1) return;
    attachment_of(tile).outdate_copies(tile.index);
}

void StarpuEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    const Access access{tile, AccessMode::read};
    for (Index node = 0; node < node_count(); ++node) self.bring(mine, access, node, std::numeric_limits<int>::max());
    const CopyOutArguments args{into.get(), element_bytes(tile.matrix->type())};
    Task task(copy_out, {access}, args);
    task.priority = std::numeric_limits<std::int32_t>::max();
    const std::uint64_t position = mine.submitted++;
    TaskRecord* record = self.record_of(mine, task, AfterFailure::run);
    record->fetched = std::move(into);
    if (Tracing* trace = tracing()) record->traced = trace->created(mine, task, position, TaskPurpose::fetch);
    self.run(mine, task, record);
}

Status StarpuEngine::wait(StreamState& stream) {
    StarpuStream& mine = stream_of(stream);
    const TracedWait waiting(mine, trace::WaitReason::completion);
    mine.progress.wait_until_at_most(0);
    return implementation_->runtime.parallel.agree(mine.comm, mine.failure.take());
}

void StarpuEngine::set_workers(StreamState& stream, WorkerSet workers) {
    auto& runtime = implementation_->runtime;
    runtime.scheduler->set_workers(*stream_of(stream).queue, runtime.workers_of(workers),
                                   runtime.critical_workers_of(workers));
}

void StarpuEngine::start_trace(const trace::Options& options) {
    auto& self = *implementation_;
    self.trace = std::make_unique<Tracing>(options, self.runtime.parallel, self.runtime.description.host);
}

void StarpuEngine::stop_trace() {
    {
        const std::lock_guard lock(implementation_->mutex);
        for (const Progress& progress : implementation_->progress)
            if (progress.pending() > 0) throw Error("wait for the work that is pending before the trace is stopped");
    }
    const std::unique_ptr<Tracing> trace = std::move(implementation_->trace);
    if (trace) trace->stop();
}

void StarpuEngine::pause() { starpu_pause(); }
void StarpuEngine::resume() { starpu_resume(); }

double StarpuEngine::max_over_nodes(double value) { return implementation_->runtime.parallel.max(value); }

StarpuEngine::MemoryUse StarpuEngine::memory_use() const {
    const TilePool::Use use = tile_pool().use();
    return {static_cast<double>(use.in_use), static_cast<double>(use.kept), static_cast<double>(use.peak)};
}

std::string NodeDescription::line(NodeId node, Index nodes) const {
    const std::string chosen =
        blas_core_replaced.empty() ? "" : fmt::format(" (chosen since OpenBLAS took {})", blas_core_replaced);
    std::string text = fmt::format(
        "node {} of {}: {}, {} core{}, {} worker{}, {} accelerators, StarPU {} ({}) for up to {} cores, BLAS kernels "
        "for "
        "{}{}, {} BLAS thread{}, scheduler {}, {} free",
        node.number(), nodes, host, cores, plural(cores), workers, plural(workers), accelerators, starpu, starpu_origin,
        starpu_cores, blas_core, chosen, blas_threads, plural(blas_threads), scheduler, format_bytes(memory_bytes));
    for (const std::string& warning : warnings) text += "\n  warning: " + warning;
    return text;
}

}  // namespace tesela
