#include "tesela/starpu/engine.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/courier.hpp"
#include "tesela/starpu/internal/exchange.hpp"
#include "tesela/starpu/internal/machine.hpp"
#include "tesela/starpu/internal/parallel.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/starpu/internal/tile_interface.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <starpu.h>
#include <starpu_expert.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tesela {
namespace starpu {
namespace {

void check(int code, const char* what) {
    if (code != 0) throw Error("StarPU: {} failed: {}", what, std::strerror(-code));
}

/// Whether a task that copies a value out runs although its stream has failed: somebody waits for it.
enum class AfterFailure : std::uint8_t { skip, run };

/// What travels with a StarPU task.
struct TaskRecord {
    const Kernel* kernel;
    StarpuStream* stream;
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

unsigned sleep_when_idle(void* microseconds) {
    const auto us = reinterpret_cast<std::intptr_t>(microseconds);
    const timespec moment{.tv_sec = 0, .tv_nsec = us * 1000};
    nanosleep(&moment, nullptr);
    return 1;
}

std::atomic<bool> engine_exists{false};

/// Codelets have static lifetime, since StarPU may look at one after its last task.
class Codelets {
public:
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
        index_.emplace(&kernel, &codelet);
        return &codelet;
    }

private:
    std::mutex mutex_;
    std::deque<starpu_codelet> codelets_;
    std::unordered_map<const Kernel*, starpu_codelet*> index_;
};

Codelets& codelets() {
    static Codelets all;
    return all;
}

/// The worker that takes critical tasks only, when there is one: the last.
struct Workers {
    int computing = 1;
    bool has_critical = false;
    [[nodiscard]] int all() const { return computing + (has_critical ? 1 : 0); }
};

}  // namespace

/// Starts StarPU on construction and stops it on destruction; knows the machine, the nodes and the memory they have.
class Runtime {
public:
    explicit Runtime(const StarpuOptions& options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    Runtime(Runtime&&) = delete;
    Runtime& operator=(Runtime&&) = delete;

    Parallel parallel;
    Workers workers;
    NodeDescription description;

private:
    void decide_workers(const StarpuOptions& options, const Cores& cores);
    void bind(const StarpuOptions& options, const Cores& cores, starpu_conf& conf) const;
    void describe(const Cores& cores);
};

Runtime::Runtime(const StarpuOptions& options) {
    if (engine_exists.exchange(true)) throw Error("there is a StarPU engine in this process already; use that one");
    try {
        const Cores cores = find_cores();
        decide_workers(options, cores);
        set_blas_threads(1);
        set_default("STARPU_SILENT", "1");
        starpu_conf conf;
        starpu_conf_init(&conf);
        conf.ncpus = workers.all();
        conf.reserve_ncpus = 0;
        conf.catch_signals = 0;
        const std::string scheduler = options.scheduler.empty() ? "prio" : options.scheduler;
        if (!options.scheduler.empty() || std::getenv("STARPU_SCHED") == nullptr)
            conf.sched_policy_name = scheduler.c_str();
        bind(options, cores, conf);
        const int code =
            parallel.active() ? starpu_mpi_init_conf(nullptr, nullptr, 0, MPI_COMM_WORLD, &conf) : starpu_init(&conf);
        if (code == -ENODEV) throw Error("StarPU found no worker to run on");
        check(code, "starting");
    } catch (...) {
        engine_exists = false;
        throw;
    }
    if (parallel.active()) register_tile_datatype();
    if (options.idle_microseconds > 0)
        starpu_idle_hook_register(
            sleep_when_idle,  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number, not an address
            reinterpret_cast<void*>(std::intptr_t{options.idle_microseconds}));
    describe(find_cores());
}

Runtime::~Runtime() {
    if (parallel.active()) {
        unregister_tile_datatype();
        starpu_mpi_shutdown();
    } else {
        starpu_shutdown();
    }
    engine_exists = false;
}

void Runtime::decide_workers(const StarpuOptions& options, const Cores& cores) {
    if (options.workers < 0) throw Error("{} workers cannot run; give at least 1, or 0 for all cores", options.workers);
    const int share = std::max(1, cores.usable / parallel.nodes_here());
    workers.has_critical = options.critical_worker == CriticalWorker::shared_core;
    workers.computing = options.workers > 0 ? options.workers : share;
    const int limit = STARPU_MAXCPUS - (workers.has_critical ? 1 : 0);
    if (workers.computing > limit) {
        description.warnings.push_back(fmt::format(
            "{} workers wanted, but this StarPU was built for at most {}: using {}. A StarPU configured with "
            "--enable-maxcpus uses more.",
            workers.computing, STARPU_MAXCPUS, limit));
        workers.computing = limit;
    }
}

/// StarPU binds workers to the first cores of the machine; with several nodes on one machine that would put all of them
/// on the same cores, and with an affinity mask on cores that are not ours.
void Runtime::bind(const StarpuOptions& options, const Cores& cores, starpu_conf& conf) const {
    if (cores.usable < cores.machine) set_default("STARPU_WORKERS_GETBIND", "1");
    const bool shared = parallel.nodes_here() > 1 && cores.usable == cores.machine;
    if (shared || workers.computing > cores.usable) {
        set_default("STARPU_WORKERS_NOBIND", "1");
        set_default("STARPU_MPI_NOBIND", "1");
    } else if (options.critical_worker == CriticalWorker::shared_core) {
        // The last worker shares the last core, where submission runs too when it finds no free one.
        conf.use_explicit_workers_bindid = 1;
        for (int w = 0; w < workers.all(); ++w)
            conf.workers_bindid[w] = static_cast<unsigned>(std::min(w, cores.usable - 1));
    }
}

void Runtime::describe(const Cores& cores) {
    const BlasDescription blas = describe_blas();
    description.host = host_name();
    description.cores = cores.usable;
    description.workers = workers.computing;
    description.accelerators = static_cast<int>(starpu_cuda_worker_get_count() + starpu_opencl_worker_get_count());
    description.nodes_here = parallel.nodes_here();
    description.blas_threads = blas.threads;
    description.blas = blas.configuration;
    description.scheduler = starpu_sched_ctx_get_sched_policy(0)->policy_name;
    description.memory_bytes = available_memory() / parallel.nodes_here();
    auto& warnings = description.warnings;
    if (workers.computing * parallel.nodes_here() > std::max(cores.usable, cores.machine))
        warnings.push_back(fmt::format("oversubscribed: {} nodes with {} workers each share {} cores",
                                       parallel.nodes_here(), workers.computing, cores.machine));
    else if (workers.computing > cores.usable)
        warnings.push_back(
            fmt::format("oversubscribed: {} workers on {} usable cores", workers.computing, cores.usable));
    if (blas.threading == BlasDescription::Threading::openmp || blas.threads != 1)
        warnings.push_back(
            fmt::format("the BLAS in use ({}) may start threads inside workers: install the pthread "
                        "flavour of OpenBLAS or set OMP_NUM_THREADS=1",
                        blas.configuration));
}

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
    void set_masks(StarpuStream& stream, const WorkerSet& workers) const;
    Courier& courier();

    std::unique_ptr<Courier> courier_when_needed;
    /// Ends before the runtime does.
    std::unique_ptr<Tracing> trace;
};

StarpuEngine::Implementation::Implementation(const StarpuOptions& options)
    : runtime(options),
      memory(runtime.parallel.gather(runtime.description.memory_bytes)),
      reserved(memory.size(), 0) {
    tile_pool().set_keep_limit(static_cast<std::size_t>(runtime.description.memory_bytes / 4));
    for (const double workers : runtime.parallel.gather(static_cast<double>(runtime.workers.computing)))
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
    if (!stream.masks.empty()) {
        auto& masks = stream.masks.back();
        auto& mask = task.urgency == Urgency::critical ? masks.critical : masks.ordinary;
        job->workerids = mask.data();
        job->workerids_len = static_cast<unsigned>(mask.size());
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

/// Who may run tasks: all workers but the critical one, or those named; critical tasks may use the critical one too.
void StarpuEngine::Implementation::set_masks(StarpuStream& stream, const WorkerSet& workers) const {
    if (workers.empty() && !runtime.workers.has_critical && stream.masks.empty()) return;
    const auto words = static_cast<std::size_t>((runtime.workers.all() + 31) / 32);
    StarpuStream::Masks masks{std::vector<std::uint32_t>(words, 0), {}};
    const auto set = [](std::vector<std::uint32_t>& mask, int w) {
        mask[static_cast<std::size_t>(w / 32)] |= std::uint32_t{1} << static_cast<unsigned>(w % 32);
    };
    if (workers.empty())
        for (int w = 0; w < runtime.workers.computing; ++w) set(masks.ordinary, w);
    for (const int w : workers) {
        if (w < 0 || w >= runtime.workers.computing)
            throw Error("worker {} does not exist: this node has {}", w, runtime.workers.computing);
        set(masks.ordinary, w);
    }
    masks.critical = masks.ordinary;
    if (runtime.workers.has_critical) set(masks.critical, runtime.workers.computing);
    stream.masks.push_back(std::move(masks));
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
int StarpuEngine::worker_count() const { return implementation_->runtime.workers.computing; }
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
    self.set_masks(*stream, options.workers);
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
        auto* record = new TaskRecord{task.kernel, &mine, &mine.progress, {}, AfterFailure::skip, {}, task.arguments};
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
        auto* record =
            new TaskRecord{task.kernel, &mine, &mine.progress, {}, AfterFailure::run, traced, task.arguments};
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
    auto* record =
        new TaskRecord{&copy_out, &mine, &mine.progress, std::move(into), AfterFailure::run, {}, task.arguments};
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
    implementation_->set_masks(stream_of(stream), workers);
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
    std::string text =
        fmt::format("node {} of {}: {}, {} cores, {} workers, {} accelerators, BLAS {} thread{}, scheduler {}, {} free",
                    node.number(), nodes, host, cores, workers, accelerators, blas_threads,
                    blas_threads == 1 ? "" : "s", scheduler, format_bytes(memory_bytes));
    for (const std::string& warning : warnings) text += "\n  warning: " + warning;
    return text;
}

}  // namespace tesela
