#include "tesela/starpu/engine.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/starpu/internal/agreement.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/exchange.hpp"
#include "tesela/starpu/internal/execution.hpp"
#include "tesela/starpu/internal/mail.hpp"
#include "tesela/starpu/internal/memory_budget.hpp"
#include "tesela/starpu/internal/runtime.hpp"
#include "tesela/starpu/internal/shared.hpp"
#include "tesela/starpu/internal/step_log.hpp"
#include "tesela/starpu/internal/stream_state.hpp"
#include "tesela/starpu/internal/tile_letters.hpp"
#include "tesela/starpu/internal/tracing.hpp"

#include <sched.h>
#include <starpu.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace tesela {

using namespace starpu;

namespace {

StarpuStream& stream_of(StreamState& stream) { return static_cast<StarpuStream&>(stream); }

}  // namespace

class StarpuEngine::Implementation {
public:
    explicit Implementation(const StarpuOptions& options);
    ~Implementation();
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;
    Implementation(Implementation&&) = delete;
    Implementation& operator=(Implementation&&) = delete;

    /// What callbacks of workers and tiles use goes after them.
    Shared shared;
    std::deque<Progress> progress;
    Runtime runtime;
    std::mutex mutex;
    std::vector<Progress*> free_progress;
    std::uint64_t streams_opened = 0;
    /// Of the memory that each node had at the start.
    MemoryBudget budget;
    /// Those that are open.
    std::vector<StarpuStream*> streams;
    Index total_workers = 0;
    TileChecks checks;

    [[nodiscard]] NodeId me() const { return NodeId{runtime.nodes.me()}; }
    [[nodiscard]] bool alone() const { return !runtime.nodes.active(); }
    [[nodiscard]] Progress& take_progress();
    void release(const StarpuAttachment& matrix);
    void drop_copies(StarpuStream& stream);
    void end_streams();
    [[nodiscard]] bool move_reservation(const TileRef& tile, NodeId to);
    void take_copies(StarpuStream& stream, Index bytes);
    void throttle(StarpuStream& stream) const;
    /// Counts a step of the stream, and gives its position. `what` it is: see StepLog::add.
    template <class... What>
    std::uint64_t step(StarpuStream& stream, const What&... what) const {
        if (!agreement) return stream.log.add_uncompared();
        const std::uint64_t position = stream.log.add(what...);
        agreement->step(stream, position);
        return position;
    }
    Status wait(StarpuStream& stream, Agreement::Then then);

    /// Null on a single node. The trace ends before them, and they before the runtime.
    std::unique_ptr<Agreement> agreement;
    std::unique_ptr<Mail> mail;
    std::unique_ptr<Tracing> trace;
};

namespace {

/// What follows from a step for one matrix (see Directory), as far as it concerns this node.
struct Effects {
    StarpuEngine::Implementation& engine;
    StarpuStream& stream;
    StarpuAttachment& matrix;
    std::uint64_t position = 0;
    std::int32_t priority = 0;

    [[nodiscard]] std::int32_t me() const { return static_cast<std::int32_t>(engine.me().number()); }
    [[nodiscard]] TravellingTile travelling(std::size_t datum) const {
        return {stream, {&matrix, matrix.tile_at(datum)}, position, priority};
    }
    void send(std::size_t datum, std::int32_t from, std::span<const std::int32_t> to) const {
        if (from == me())
            send_tile(travelling(datum), to);
        else if (std::find(to.begin(), to.end(), me()) != to.end())
            receive_tile(travelling(datum), from);
    }
    void take(std::size_t datum, std::int32_t node) const {
        if (node == me()) engine.take_copies(stream, static_cast<Index>(matrix.certain_bytes(matrix.tile_at(datum))));
    }
    void drop(std::size_t datum, std::int32_t node) const {
        if (node != me()) return;
        const TileIndex tile = matrix.tile_at(datum);
        // An owner that gives it away had it reserved.
        if (matrix.owner(tile) != engine.me())
            engine.budget.drop_copies(static_cast<Index>(matrix.certain_bytes(tile)));
        matrix.drop(tile, {stream.mail->promises(), position});
    }
};

}  // namespace

StarpuEngine::Implementation::Implementation(const StarpuOptions& options)
    : runtime(options),
      budget(runtime.nodes.gather(runtime.description.memory_bytes), me()),
      checks(options.checks) {
    serve(*runtime.scheduler);
    const double mine = budget.my_bytes();
    const auto limit = static_cast<std::size_t>(std::min(mine, 0x1p62));
    shared.me = me();
    shared.nodes = runtime.nodes.count();
    shared.memory.set_limits(limit, limit / 4);
    for (const double workers : runtime.nodes.gather(static_cast<double>(runtime.workers.count())))
        total_workers += static_cast<Index>(workers);
    if (alone()) return;
    agreement = std::make_unique<Agreement>(runtime.nodes, net::Transport::Options{.largest_tag = options.largest_tag});
    std::vector<MessageLimits> limits;
    for (const double theirs : budget.bytes_of_nodes())
        limits.push_back(MessageLimits::between(mine, theirs, runtime.nodes.count()));
    mail = std::make_unique<Mail>(agreement->transport(), std::move(limits), shared.memory);
    runtime.help_when_idle(&agreement->transport());
}

StarpuEngine::Implementation::~Implementation() {
    end_streams();
    runtime.help_when_idle(nullptr);
    trace.reset();
    mail.reset();
    agreement.reset();
    shared.handles.clear();
}

/// Those of streams that are gone are used again: a worker may still be in `finished` of one.
Progress& StarpuEngine::Implementation::take_progress() {
    if (free_progress.empty()) return progress.emplace_back();
    Progress* old = free_progress.back();
    free_progress.pop_back();
    return *old;
}

void StarpuEngine::Implementation::release(const StarpuAttachment& matrix) {
    budget.drop_copies(matrix.copied_bytes());
    budget.release(matrix.reserved_bytes);
}

/// A tile takes its reservation along; where the caller has memory for it none is needed. False, on all nodes alike, if
/// the other node has no room for it.
bool StarpuEngine::Implementation::move_reservation(const TileRef& tile, NodeId to) {
    StarpuAttachment& matrix = attachment_of(tile);
    const auto unless_home = [&](NodeId node) {
        return matrix.at_home(tile.index, node) ? std::nullopt : std::optional(node);
    };
    const std::size_t bytes = matrix.certain_bytes(tile.index);
    if (!budget.move(matrix.reserved_bytes,
                     {.bytes = static_cast<double>(bytes), .from = unless_home(tile.owner()), .to = unless_home(to)}))
        return false;
    if (to == me() && !matrix.written(tile.index) && bytes > 0) shared.memory.hold_back(bytes);
    return true;
}

/// This node holds more copies: its stream fails where they have no room.
void StarpuEngine::Implementation::take_copies(StarpuStream& stream, Index bytes) {
    if (!budget.take_copies(bytes) && !stream.failure.raised())
        raise_failure(stream, {Failure::out_of_memory, me().number()});
}

/// What outlives the engine: its work ends, and its matrices keep nothing of StarPU's.
void StarpuEngine::Implementation::end_streams() {
    for (StarpuStream* stream : streams) {
        stream->progress.wait_until_at_most(0);
        for (StarpuAttachment* matrix : std::vector(*stream->matrices)) {
            fmt::print(stderr, "tesela: matrix {} outlives its engine: what it holds is lost\n", matrix->name());
            matrix->end();
        }
        stream->mail.reset();
        stream->queue.reset();
    }
}

/// A node that had no memory threw copies away which the others take it to have: all nodes drop all of them.
void StarpuEngine::Implementation::drop_copies(StarpuStream& stream) {
    const std::uint64_t position = stream.log.count();
    for (StarpuAttachment* matrix : *stream.matrices)
        for (std::size_t datum = 0; datum < matrix->directory().size(); ++datum)
            matrix->directory().retire(datum, Effects{*this, stream, *matrix, position});
}

void StarpuEngine::Implementation::throttle(StarpuStream& stream) const {
    const Index limit = stream.options().max_pending;
    if (stream.progress.pending() < limit) return;
    const TracedWait waiting(stream, trace::WaitReason::throttle);
    stream.progress.wait_until_at_most(resume_level(limit), [&] {
        if (agreement) agreement->waits_long(stream);
    });
}

Status StarpuEngine::Implementation::wait(StarpuStream& stream, Agreement::Then then) {
    const TracedWait waiting(stream, trace::WaitReason::completion);
    if (agreement) {
        Status status = agreement->wait(stream, then, [&] { stream.progress.wait_until_at_most(0); });
        if (status.failure == Failure::out_of_memory && then == Agreement::Then::goes_on) drop_copies(stream);
        return status;
    }
    stream.progress.wait_until_at_most(0);
    return stream.failure.take();
}

namespace {

/// One, since StarPU is one; and what is to happen at exit cannot be taken back.
std::atomic<const StarpuEngine*> living = nullptr;

/// exit() leaves an engine with work behind, which goes on while what it uses is taken down. Several nodes end the job
/// by themselves.
void end_with_pending_work(int code, void*) {
    const StarpuEngine* const engine = living;
    const Index pending = engine == nullptr || engine->node_count() > 1 ? 0 : engine->pending();
    if (pending == 0) return;
    std::fflush(nullptr);
    fmt::print(stderr,
               "tesela: the program ends while {} of its tasks and messages {} pending: wait for the stream first\n",
               pending, pending == 1 ? "is" : "are");
    ::_exit(code == EXIT_SUCCESS ? EXIT_FAILURE : code);
}

}  // namespace

StarpuEngine::StarpuEngine(const StarpuOptions& options) : implementation_(std::make_unique<Implementation>(options)) {
    [[maybe_unused]] static const int registered = ::on_exit(end_with_pending_work, nullptr);
    living = this;
}
StarpuEngine::~StarpuEngine() { living = nullptr; }

Index StarpuEngine::pending() const {
    const std::lock_guard lock(implementation_->mutex);
    Index count = 0;
    for (const StarpuStream* stream : implementation_->streams) count += stream->progress.pending();
    return count;
}

NodeId StarpuEngine::this_node() const { return implementation_->me(); }
Index StarpuEngine::node_count() const { return implementation_->runtime.nodes.count(); }
int StarpuEngine::worker_count() const { return implementation_->runtime.workers.count(); }
Index StarpuEngine::total_workers() const { return implementation_->total_workers; }
std::vector<KernelUse> StarpuEngine::kernel_uses() const { return starpu::kernel_uses(); }

const NodeDescription& StarpuEngine::description() const { return implementation_->runtime.description; }

const net::Nodes& StarpuEngine::together() {
    if (implementation_->agreement) implementation_->agreement->meet();
    return implementation_->runtime.nodes;
}

std::vector<std::string> StarpuEngine::start_lines() { return gather(description().line(this_node(), node_count())); }

std::unique_ptr<StreamState> StarpuEngine::open(const StreamOptions& options) {
    auto& self = *implementation_;
    std::unique_ptr<StarpuStream> stream;
    Scheduler& scheduler = *self.runtime.scheduler;
    const LaneWorkers workers = self.runtime.workers_of(options.workers);
    std::unique_lock<std::mutex> opening;
    if (self.agreement) opening = self.agreement->opening();
    const int slot = self.agreement ? self.agreement->open(self.streams_opened, options.name) : 0;
    {
        const std::lock_guard lock(self.mutex);
        stream = std::make_unique<StarpuStream>(options, self.take_progress(), self.shared, self.streams_opened++);
        self.streams.push_back(stream.get());
    }
    stream->checks = self.checks;
    stream->queue = {&scheduler.open(workers), CloseQueue{&scheduler}};
    if (self.agreement) {
        stream->agreement = self.agreement.get();
        stream->mail = std::make_unique<StreamMail>(*self.mail, slot, stream->failure);
        self.agreement->know(*stream);
    }
    return stream;
}

Status StarpuEngine::close(StreamState& stream) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    Status status = self.wait(mine, Agreement::Then::ends);
    const std::lock_guard lock(self.mutex);
    std::erase(self.streams, &mine);
    self.free_progress.push_back(&mine.progress);
    return status;
}

std::unique_ptr<Attachment> StarpuEngine::attach(StreamState& stream, MatrixSpec spec) {
    if (spec.distribution.nodes() > node_count())
        throw Error("matrix {} is distributed over {} nodes; this run has {}", spec.name, spec.distribution.nodes(),
                    node_count());
    StarpuStream& mine = stream_of(stream);
    auto matrix = std::make_unique<StarpuAttachment>(std::move(spec), implementation_->shared, mine.next_datum);
    matrix->reserved_bytes.assign(static_cast<std::size_t>(node_count()), 0);
    if (!matrix->has_callers_memory()) {
        matrix->reserved_bytes = matrix->bytes_per_node(node_count());
        implementation_->budget.reserve(matrix->name(), matrix->reserved_bytes);
        if (matrix->allocation() == Allocation::at_once) matrix->prepare_memory(worker_count());
    }
    implementation_->shared.handles.wait_for_room(implementation_->shared.memory);
    matrix->goes = [this, matrices = mine.matrices, names = mine.names](StarpuAttachment& gone) {
        std::erase(*matrices, &gone);
        names->gone(gone);
        implementation_->release(gone);
    };
    mine.matrices->push_back(matrix.get());
    mine.names->add(*matrix);
    implementation_->step(mine, *matrix);
    mine.next_datum += matrix->tiling().grid().count();
    return matrix;
}

void StarpuEngine::submit(StreamState& stream, const Task& task) {
    require_cpu_entry(task);
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    const std::uint64_t number = mine.submitted++;
    const std::uint64_t position = self.step(mine, task);
    const auto run_here = [&] {
        if (task.node != self.me().number()) return;
        Job job{mine, task};
        if (Tracing* trace = self.shared.tracing()) job.traced = trace->created(mine, task, number, TaskPurpose::task);
        run(job);
    };
    self.throttle(mine);
    if (self.alone()) return run_here();
    struct Place {
        Directory& directory;
        std::size_t datum;
        Effects effects;
    };
    follow_task(
        task.used(), static_cast<std::int32_t>(task.node),
        [&](const Access& access) {
            StarpuAttachment& matrix = attachment_of(access.tile);
            return Place{matrix.directory(), matrix.position(access.tile.index),
                         Effects{self, mine, matrix, position, task.priority}};
        },
        run_here);
}

bool StarpuEngine::move(StreamState& stream, TileRef tile, NodeId to) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    StarpuAttachment& matrix = attachment_of(tile);
    const std::uint64_t position =
        self.step(mine, TileStep::move, tile, std::array{static_cast<std::int32_t>(to.number())});
    if (to == self.me() || tile.owner() == self.me()) self.throttle(mine);
    if (!self.move_reservation(tile, to)) {
        raise_failure(mine, {Failure::out_of_memory, to.number()});
        return false;
    }
    if (to == self.me() &&
        matrix.directory().holds(matrix.position(tile.index), static_cast<std::int32_t>(to.number())))
        self.budget.drop_copies(static_cast<Index>(matrix.certain_bytes(tile.index)));  // reserved from here on
    if (to == self.me()) self.take_copies(mine, 0);
    matrix.directory().move(matrix.position(tile.index), static_cast<std::int32_t>(to.number()),
                            Effects{self, mine, matrix, position});
    return true;
}

void StarpuEngine::share(StreamState& stream, TileRef tile, const Readers& readers, std::int32_t priority) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    StarpuAttachment& matrix = attachment_of(tile);
    std::vector<std::int32_t> named;
    for (const NodeId node : readers.nodes) named.push_back(static_cast<std::int32_t>(node.number()));
    const auto nodes = list_readers(std::move(named), readers.owners_of, [](const TileBlock& block, TileIndex of) {
        return static_cast<std::int32_t>(block.matrix->owner(of).number());
    });
    const std::uint64_t position = self.step(mine, TileStep::share, tile, nodes);
    self.throttle(mine);
    matrix.directory().share(matrix.position(tile.index), nodes, Effects{self, mine, matrix, position, priority});
}

void StarpuEngine::exchange(StreamState& stream, const Exchange& exchange) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    const std::uint64_t position = self.step(mine, exchange);
    self.throttle(mine);
    const auto run = std::make_shared<ExchangeRun>(exchange, mine, position);
    auto& to = static_cast<StarpuAttachment&>(*exchange.to);
    if (!self.alone())
        for_each_target(*exchange.overlay, [&](TileIndex tile) {
            to.directory().written(to.position(tile), Effects{self, mine, to, position});
        });
    run->start();
}

void StarpuEngine::retire(StreamState& stream, TileRef tile) {
    auto& self = *implementation_;
    if (self.alone()) return;
    StarpuStream& mine = stream_of(stream);
    StarpuAttachment& matrix = attachment_of(tile);
    const std::uint64_t position = self.step(mine, TileStep::retire, tile);
    matrix.directory().retire(matrix.position(tile.index), Effects{self, mine, matrix, position});
}

void StarpuEngine::discard(StreamState& stream, TileRef tile) {
    auto& self = *implementation_;
    if (self.alone()) return;
    StarpuStream& mine = stream_of(stream);
    StarpuAttachment& matrix = attachment_of(tile);
    const std::uint64_t position = self.step(mine, TileStep::discard, tile);
    matrix.directory().discard(matrix.position(tile.index), Effects{self, mine, matrix, position});
}

void StarpuEngine::fetch(StreamState& stream, TileRef tile, std::shared_ptr<Fetched> into) {
    auto& self = *implementation_;
    StarpuStream& mine = stream_of(stream);
    StarpuAttachment& matrix = attachment_of(tile);
    const std::uint64_t number = mine.submitted++;
    const std::uint64_t position = self.step(mine, TileStep::fetch, tile);
    self.throttle(mine);
    into->every_second = [&self, &mine] {
        if (self.agreement) self.agreement->waits_long(mine);
    };
    const auto copy_out = [&] {
        const Task task = copy_out_task(tile, *into);
        Job job{mine, task, AfterFailure::run};
        if (Tracing* trace = self.shared.tracing()) job.traced = trace->created(mine, task, number, TaskPurpose::fetch);
        job.fetched = std::move(into);
        run(job);
    };
    if (self.alone()) return copy_out();
    matrix.directory().visit(matrix.position(tile.index),
                             Effects{self, mine, matrix, position, std::numeric_limits<std::int32_t>::max()}, copy_out);
}

Status StarpuEngine::wait(StreamState& stream) {
    return implementation_->wait(stream_of(stream), Agreement::Then::goes_on);
}

void StarpuEngine::set_workers(StreamState& stream, WorkerSet workers) {
    auto& runtime = implementation_->runtime;
    runtime.scheduler->set_workers(*stream_of(stream).queue, runtime.workers_of(workers));
}

void StarpuEngine::start_trace(const trace::Options& options) {
    auto& self = *implementation_;
    self.trace = std::make_unique<Tracing>(
        options, together(), TracedNode{self.runtime.description.host, self.runtime.workers.resource}, self.shared);
}

void StarpuEngine::stop_trace() {
    {
        const std::lock_guard lock(implementation_->mutex);
        for (const Progress& progress : implementation_->progress)
            if (progress.pending() > 0) throw Error("wait for the work that is pending before the trace is stopped");
    }
    const std::unique_ptr<Tracing> trace = std::move(implementation_->trace);
    (void)together();
    if (trace) trace->stop();
}

std::vector<int> StarpuEngine::worker_cores() const {
    std::vector<int> cores(static_cast<std::size_t>(worker_count()), -1);
    const auto look = [](void* list) {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        auto& found = *static_cast<std::vector<int>*>(list);
        const auto worker = static_cast<std::size_t>(starpu_worker_get_id_check());
        if (worker >= found.size() || sched_getaffinity(0, sizeof(mask), &mask) != 0 || CPU_COUNT(&mask) != 1) return;
        int core = 0;
        while (!CPU_ISSET(static_cast<std::size_t>(core), &mask)) ++core;
        found[worker] = core;
    };
    starpu_execute_on_each_worker(look, &cores, STARPU_CPU);
    if (std::ranges::find(cores, -1) != cores.end()) cores.clear();
    return cores;
}

void StarpuEngine::pause() { starpu_pause(); }
void StarpuEngine::resume() { starpu_resume(); }

std::vector<std::string> StarpuEngine::gather(const std::string& text) { return together().gather(text); }

std::vector<StarpuEngine::Sent> StarpuEngine::sent() const {
    std::vector<Sent> all;
    if (implementation_->mail)
        for (const Mail::Sent& to : implementation_->mail->sent()) all.push_back({to.messages, to.bytes});
    return all;
}

StarpuEngine::MemoryUse StarpuEngine::memory_use() const {
    const TilePool::Use use = implementation_->shared.memory.use();
    return {.in_use = static_cast<double>(use.in_use),
            .kept = static_cast<double>(use.kept),
            .peak = static_cast<double>(use.peak),
            .held_back = static_cast<double>(use.held_back),
            .allocations = static_cast<Index>(use.allocations)};
}

}  // namespace tesela
