#include "tesela/starpu/internal/execution.hpp"

#include "tesela/base/error.hpp"
#include "tesela/kernels/tile_values.hpp"
#include "tesela/starpu/internal/attachment.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tesela::starpu {
namespace {

FailureHook failure_hook;

/// What the calls of a kernel have amounted to. Tasks that end at the same time add to it.
struct Tally {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> nanoseconds{0};
    std::atomic<double> flops{0};
    std::atomic<double> bytes{0};
};

/// What travels with a StarPU task.
struct TaskRecord {
    const Kernel* kernel;
    Tally* tally;
    StarpuStream* stream;
    Scheduled scheduled;
    std::shared_ptr<Fetched> fetched;
    AfterFailure after_failure = AfterFailure::skip;
    TracedTask traced{};
    alignas(16) std::array<std::byte, max_argument_bytes> arguments;
};

/// The tiles of a task as its kernel sees them.
class UsedTiles {
public:
    UsedTiles(const starpu_task& task, void* const* buffers)
        : task_(task),
          buffers_(buffers),
          count_(static_cast<std::size_t>(STARPU_TASK_GET_NBUFFERS(&task))) {}

    /// Those that have no memory get some now: what a task writes for the first time, and what a failed stream never
    /// wrote. False if there is none.
    bool find() {
        for (std::size_t i = 0; i < count_; ++i) {
            if (!give_memory(interface(i), mode(i) == STARPU_W ? Contents::any : Contents::zeros)) return false;
            tiles_[i] = interface(i).tile();
            if (!interface(i).compressible || (mode(i) & STARPU_W) == 0) continue;
            rooms_[i] = InterfaceRoom(interface(i));
            tiles_[i].room = &rooms_[i];
        }
        return true;
    }
    /// As they are after the kernel, which may have changed ranks.
    void find_again() {
        for (std::size_t i = 0; i < count_; ++i) tiles_[i] = interface(i).tile();
    }
    [[nodiscard]] std::span<const Tile> get() const { return {tiles_.data(), count_}; }

private:
    [[nodiscard]] TileInterface& interface(std::size_t i) const { return *static_cast<TileInterface*>(buffers_[i]); }
    [[nodiscard]] unsigned mode(std::size_t i) const {
        return static_cast<unsigned>(STARPU_TASK_GET_MODE(&task_, i)) & static_cast<unsigned>(STARPU_RW);
    }

    const starpu_task& task_;
    void* const* buffers_;
    std::size_t count_;
    std::array<Tile, Task::max_accesses> tiles_{};
    std::array<InterfaceRoom, Task::max_accesses> rooms_{};
};

/// Calls the kernel, and counts the call and the time that it took.
KernelResult call(const TaskRecord& record, UsedTiles& used) {
    const auto start = std::chrono::steady_clock::now();
    const KernelResult result = record.kernel->cpu({used.get(), record.arguments.data()});
    const auto taken = std::chrono::steady_clock::now() - start;
    used.find_again();
    const std::span<const Tile> tiles = used.get();
    std::array<TileShape, Task::max_accesses> shapes;
    std::ranges::transform(tiles, shapes.begin(), [](const Tile& tile) { return tile.shape; });
    KernelCost cost;
    if (record.kernel->cost != nullptr)
        cost = record.kernel->cost({shapes.data(), tiles.size()}, record.arguments.data());
    constexpr auto relaxed = std::memory_order_relaxed;
    record.tally->calls.fetch_add(1, relaxed);
    record.tally->nanoseconds.fetch_add(
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count()), relaxed);
    record.tally->flops.fetch_add(cost.flops, relaxed);
    record.tally->bytes.fetch_add(cost.bytes, relaxed);
    return result;
}

/// Runs on a worker: looks at the stream's status, calls the kernel, reports its failure.
void execute(void* buffers[], void* argument) {
    auto& record = *static_cast<TaskRecord*>(argument);
    TracedRun traced(record.traced);
    record.stream->scheduler().started(starpu_worker_get_id());
    if (record.after_failure == AfterFailure::skip && record.stream->failure.raised()) return;
    UsedTiles tiles(*starpu_task_get_current(), buffers);
    if (!tiles.find()) {
        raise_failure(*record.stream, {Failure::out_of_memory, record.stream->me.number()});
        if (record.fetched) record.fetched->arrive(false);
        return;
    }
    KernelResult result = call(record, tiles);
    traced.worked(*record.kernel, tiles.get(), record.arguments.data());
    if (result.failure == Failure::out_of_memory) result.index = record.stream->me.number();
    if (result.failure != Failure::none) raise_failure(*record.stream, {result.failure, result.index, result.reason});
}

void task_ended(void* argument) {
    auto* record = static_cast<TaskRecord*>(argument);
    Progress& progress = record->stream->progress;
    record->stream->scheduler().ended(record->scheduled);
    delete record;
    progress.finished();
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
    ElementType type;
};
KernelResult run_copy_out(const KernelCall& call) noexcept {
    const auto& args = call.args<CopyOutArguments>();
    copy_values(call.tiles[0], args.type, args.into->bytes().data());
    args.into->arrive(true);
    return {};
}
KernelCost cost_copy_out(std::span<const TileShape> shapes, const void* arguments) noexcept {
    const auto& args = *static_cast<const CopyOutArguments*>(arguments);
    return {0, static_cast<double>(shapes[0].rows * shapes[0].cols) * static_cast<double>(element_bytes(args.type))};
}
const Kernel copy_out{"copy_out", cost_copy_out, run_copy_out};

/// Codelets have static lifetime, since StarPU may look at one after its last task.
class Codelets {
public:
    /// An engine starts with this scheduler.
    void serve(const Scheduler& scheduler) {
        const std::lock_guard lock(mutex_);
        can_execute_ = scheduler.can_execute();
        for (starpu_codelet& codelet : codelets_) codelet.can_execute = can_execute_;
    }

    /// What StarPU knows of a kernel, and what is counted of it.
    struct Entry {
        starpu_codelet* codelet = nullptr;
        Tally* tally = nullptr;
    };
    Entry of(const Kernel& kernel) {
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
        return index_.emplace(&kernel, Entry{&codelet, &tallies_.emplace_back()}).first->second;
    }

    [[nodiscard]] std::vector<KernelUse> uses() {
        const std::lock_guard lock(mutex_);
        std::map<std::string, KernelUse> by_name;  // several kernels may have one
        for (const auto& [kernel, entry] : index_) {
            KernelUse& use = by_name[kernel->name];
            use.calls += static_cast<Index>(entry.tally->calls);
            use.seconds += 1e-9 * static_cast<double>(entry.tally->nanoseconds);
            use.flops += entry.tally->flops;
            use.bytes += entry.tally->bytes;
        }
        std::vector<KernelUse> result;
        for (auto& [name, use] : by_name) {
            use.kernel = name;
            result.push_back(std::move(use));
        }
        return result;
    }

private:
    std::mutex mutex_;
    std::deque<starpu_codelet> codelets_;
    std::deque<Tally> tallies_;
    int (*can_execute_)(unsigned, starpu_task*, unsigned) = nullptr;
    std::unordered_map<const Kernel*, Entry> index_;
};

Codelets& codelets() {
    static Codelets all;
    return all;
}

TaskRecord* record_of(const Job& job, Tally* tally) {
    const Task& task = job.task;
    Gate* gate = task.resource == nullptr ? nullptr : &job.stream.scheduler().gate(*task.resource);
    return new TaskRecord{.kernel = task.kernel,
                          .tally = tally,
                          .stream = &job.stream,
                          .scheduled = {job.stream.queue.get(), gate, task.urgency},
                          .fetched = job.fetched,
                          .after_failure = job.after_failure,
                          .traced = job.traced,
                          .arguments = task.arguments};
}

}  // namespace

void serve(const Scheduler& scheduler) { codelets().serve(scheduler); }

std::vector<KernelUse> kernel_uses() { return codelets().uses(); }

void set_failure_hook(FailureHook hook) { failure_hook = std::move(hook); }

void raise_failure(StarpuStream& stream, const Status& status) {
    stream.failure.raise(status);
    if (failure_hook) failure_hook(stream);
}

Task copy_out_task(TileRef tile, Fetched& into) {
    Task task = Task::unchecked(copy_out, {{tile, AccessMode::read}}, CopyOutArguments{&into, tile.matrix->type()});
    task.priority = std::numeric_limits<std::int32_t>::max();
    return task;
}

void run(const Job& job) {
    const Task& task = job.task;
    const Codelets::Entry known = codelets().of(*task.kernel);
    TaskRecord* record = record_of(job, known.tally);
    starpu_task* submitted = starpu_task_create();
    submitted->cl = known.codelet;
    submitted->cl_arg = record;
    submitted->sched_data = &record->scheduled;
    submitted->callback_func = task_ended;
    submitted->callback_arg = record;
    submitted->priority = task.priority;
    if (record->traced.traced()) {
        submitted->prologue_callback_func = note_ready;
        submitted->prologue_callback_arg = &record->traced;
    }
    submitted->nbuffers = task.access_count;
    for (std::size_t i = 0; i < task.used().size(); ++i) {
        const Access& access = task.accesses[i];
        submitted->handles[i] = static_cast<StarpuAttachment&>(*access.tile.matrix).handle(access.tile.index);
        submitted->modes[i] = starpu_mode(access.mode);
    }
    job.stream.progress.started();
    const int code = starpu_task_submit(submitted);
    if (code == 0) return;
    job.stream.progress.finished();
    delete record;
    submitted->destroy = 0;
    starpu_task_destroy(submitted);
    throw Error("no worker of this node can run {}: {}", task.kernel->name, std::strerror(-code));
}

}  // namespace tesela::starpu
