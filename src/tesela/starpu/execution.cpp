#include "tesela/starpu/internal/execution.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"
#include "tesela/flow/running_kernel.hpp"
#include "tesela/kernels/tile_values.hpp"
#include "tesela/starpu/internal/agreement.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/kernel_tally.hpp"

#include <starpu.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace tesela::starpu {
namespace {

/// How a task means its tiles, and whether its kernel is watched.
struct LookedAt {
    std::array<TileView, Task::max_accesses> views{};
    TileChecks checks = TileChecks::none;
};

/// What travels with a StarPU task.
struct TaskRecord {
    const Kernel* kernel;
    KernelTally* tally;
    StarpuStream* stream;
    Scheduled scheduled;
    std::shared_ptr<Fetched> fetched;
    AfterFailure after_failure = AfterFailure::skip;
    TracedTask traced{};
    LookedAt as{};
    /// The tile that it writes, if it writes one (see TileNames).
    std::optional<std::uint64_t> written{};
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
    bool find(const LookedAt& as) {
        for (std::size_t i = 0; i < count_; ++i) {
            if (!give_memory(interface(i), mode(i) == STARPU_W ? Contents::any : Contents::zeros)) return false;
            if (mode(i) == STARPU_W) interface(i).uncomputed_in = 0;
            tiles_[i] = interface(i).tile();
            tiles_[i].view = as.views[i];
            tiles_[i].checks = as.checks;
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
    /// What was to be written has no value.
    void note_uncomputed(std::uint64_t era) {
        for (std::size_t i = 0; i < count_; ++i)
            if ((mode(i) & STARPU_W) != 0) interface(i).uncomputed_in = era;
    }
    /// Whether a tile that is read has none.
    [[nodiscard]] bool uncomputed(std::size_t i, std::uint64_t era) const { return interface(i).uncomputed_in == era; }

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

KernelCost cost_of(const TaskRecord& record, std::span<const TileShape> shapes) {
    return record.kernel->cost != nullptr ? record.kernel->cost(shapes, record.arguments.data()) : KernelCost{};
}

std::string describe_record(const void* what) {
    const auto& record = *static_cast<const TaskRecord*>(what);
    const std::string where = record.written ? ", writing " + record.stream->names->tile(*record.written) : "";
    return fmt::format("node {}: the kernel {}{}", record.stream->me.number(), record.kernel->name, where);
}

/// Calls the kernel, and counts the call and the time that it took.
KernelResult call(const TaskRecord& record, UsedTiles& used) {
    const RunningKernel running(describe_record, &record);
    const auto start = std::chrono::steady_clock::now();
    const KernelResult result = record.kernel->cpu({used.get(), record.arguments.data()});
    const auto taken = std::chrono::steady_clock::now() - start;
    used.find_again();
    const std::span<const Tile> tiles = used.get();
    std::array<TileShape, Task::max_accesses> all;
    std::size_t k = 0;
    for (const Tile& tile : tiles) all[k] = tile.shape.seen(record.as.views[k].op), ++k;
    const std::span<const TileShape> shapes(all.data(), tiles.size());
    record.tally->add(cost_of(record, shapes), KernelTally::form_of(shapes), taken);
    return result;
}

/// How long a task that is ready will take on a core, in microseconds: what dm, dmda and their kin ask before they give
/// it to a worker. By then all that it uses is written, so that ranks are known.
///
/// None of StarPU's own models, which it fits to what it measures, does. One by history would take a product of low
/// rank for the dense one of the same tiles, which takes a hundred times as long. Regressions on operations (a·x^b) do
/// not count before there are ten calls whose sizes differ by a tenth, which a matrix of equal tiles never has, and
/// have one rate for both forms, which differ in that by a factor of ten. All of them are read from files of earlier
/// runs and written to ~/.starpu. The rates here are those of this run's calls.
double expected_microseconds(starpu_task* task, starpu_perfmodel_arch*, unsigned) {
    const auto& record = *static_cast<const TaskRecord*>(task->cl_arg);
    std::array<TileShape, Task::max_accesses> all;
    const auto count = static_cast<std::size_t>(STARPU_TASK_GET_NBUFFERS(task));
    for (std::size_t i = 0; i < count; ++i)
        all[i] = in_main_memory(STARPU_TASK_GET_HANDLE(task, i)).shape().seen(record.as.views[i].op);
    const std::span<const TileShape> shapes(all.data(), count);
    return 1e6 * record.tally->expected_seconds(cost_of(record, shapes), KernelTally::form_of(shapes));
}

/// Runs on a worker: looks at the stream's status, calls the kernel, reports its failure.
void execute(void* buffers[], void* argument) {
    auto& record = *static_cast<TaskRecord*>(argument);
    TracedRun traced(record.traced, record.stream->shared);
    record.stream->scheduler().started(starpu_worker_get_id());
    UsedTiles tiles(*starpu_task_get_current(), buffers);
    const std::uint64_t era = record.stream->era();
    if (record.after_failure == AfterFailure::skip && record.stream->failure.raised())
        return tiles.note_uncomputed(era);
    if (record.fetched && tiles.uncomputed(0, era)) return record.fetched->arrive(Arrival::failure);
    if (!tiles.find(record.as)) {
        raise_failure(*record.stream, {Failure::out_of_memory, record.stream->me.number()});
        tiles.note_uncomputed(era);
        if (record.fetched) record.fetched->arrive(Arrival::failure);
        return;
    }
    KernelResult result = call(record, tiles);
    traced.worked(*record.kernel, tiles.get(), record.arguments.data());
    if (result.failure == Failure::out_of_memory) result.index = record.stream->me.number();
    if (result.failure == Failure::none) return;
    tiles.note_uncomputed(era);
    raise_failure(*record.stream, status_of(*record.kernel, result));
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
    args.into->arrive(Arrival::value);
    return {};
}
KernelCost cost_copy_out(std::span<const TileShape> shapes, const void* arguments) noexcept {
    const auto& args = *static_cast<const CopyOutArguments*>(arguments);
    return {0, static_cast<double>(shapes[0].rows * shapes[0].cols) * static_cast<double>(element_bytes(args.type))};
}
const Kernel copy_out{"copy_out", cost_copy_out, run_copy_out};

/// What StarPU knows of kernels, and what is counted of them in this process. Codelets and models have static lifetime,
/// since StarPU may look at one after its last task.
class Codelets {
public:
    /// An engine starts with this scheduler.
    void serve(const Scheduler& scheduler) {
        const std::lock_guard lock(mutex_);
        can_execute_ = scheduler.can_execute();
        expectations_ = scheduler.expectations();
        for (Described& described : all_) prepare(described);
    }

    /// What StarPU knows of a kernel, and what is counted of it.
    struct Entry {
        starpu_codelet* codelet = nullptr;
        KernelTally* tally = nullptr;
    };
    Entry of(const Kernel& kernel) {
        const std::lock_guard lock(mutex_);
        const auto found = index_.find(&kernel);
        if (found != index_.end()) return found->second;
        Described& described = all_.emplace_back();
        starpu_codelet& codelet = described.codelet;
        starpu_codelet_init(&codelet);
        codelet.cpu_funcs[0] = execute;
        codelet.cpu_funcs_name[0] = kernel.name;
        codelet.where = STARPU_CPU;
        codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
        codelet.name = kernel.name;
        prepare(described);
        return index_.emplace(&kernel, Entry{&codelet, &tallies_.emplace_back()}).first->second;
    }

    [[nodiscard]] std::vector<KernelUse> uses() {
        const std::lock_guard lock(mutex_);
        std::map<std::string, KernelUse> by_name;  // several kernels may have one
        for (const auto& [kernel, entry] : index_) {
            KernelUse& use = by_name[kernel->name];
            entry.tally->add_to(use);
        }
        std::vector<KernelUse> result;
        for (auto& [name, use] : by_name) {
            use.kernel = name;
            result.push_back(std::move(use));
        }
        return result;
    }

private:
    struct Described {
        starpu_codelet codelet;
        starpu_perfmodel model;
    };
    /// For the scheduler of now: what StarPU noted of a model while another engine ran is gone with that.
    void prepare(Described& described) {
        starpu_codelet& codelet = described.codelet;
        codelet.can_execute = can_execute_;
        codelet.model = expectations_ == Scheduler::Expectations::durations ? &described.model : nullptr;
        described.model = {};
        described.model.type = STARPU_PER_ARCH;
        described.model.arch_cost_function = expected_microseconds;
        described.model.symbol = codelet.name;
    }

    std::mutex mutex_;
    std::deque<Described> all_;
    Scheduler::Expectations expectations_ = Scheduler::Expectations::none;
    std::deque<KernelTally> tallies_;
    int (*can_execute_)(unsigned, starpu_task*, unsigned) = nullptr;
    std::unordered_map<const Kernel*, Entry> index_;
};

Codelets& codelets() {
    static Codelets all;
    return all;
}

Lane lane_of(const Task& task) {
    if (task.resource != nullptr) return Lane::resource;
    return task.urgency == Urgency::critical ? Lane::critical : Lane::ordinary;
}

LookedAt looked_at(const Job& job) {
    LookedAt as{.checks = job.stream.checks};
    for (std::size_t k = 0; k < job.task.used().size(); ++k) as.views[k] = job.task.accesses[k].view;
    return as;
}

TaskRecord* record_of(const Job& job, KernelTally* tally) {
    const Task& task = job.task;
    Scheduler& scheduler = job.stream.scheduler();
    Gate* gate = task.resource == nullptr ? nullptr : &scheduler.gate(*task.resource);
    const Scheduled scheduled{job.stream.queue.get(), gate, lane_of(task)};
    scheduler.expect(scheduled);
    std::optional<std::uint64_t> written;
    if (const Access* placing = placing_access(task.used()))
        written = attachment_of(placing->tile).datum(placing->tile.index);
    return new TaskRecord{.kernel = task.kernel,
                          .tally = tally,
                          .stream = &job.stream,
                          .scheduled = scheduled,
                          .fetched = job.fetched,
                          .after_failure = job.after_failure,
                          .traced = job.traced,
                          .as = looked_at(job),
                          .written = written,
                          .arguments = task.arguments};
}

}  // namespace

void serve(const Scheduler& scheduler) { codelets().serve(scheduler); }

std::vector<KernelUse> kernel_uses() { return codelets().uses(); }

void raise_failure(StarpuStream& stream, const Status& status) {
    stream.failure.raise(status);
    if (stream.agreement != nullptr) stream.agreement->tell_failure(stream);
}

Task copy_out_task(TileRef tile, Fetched& into) {
    Task task = Task::unchecked(copy_out, {{tile, AccessMode::read}}, CopyOutArguments{&into, tile.matrix->type()});
    task.priority = std::numeric_limits<std::int32_t>::max();
    return task;
}

namespace {

/// A task of StarPU's that is not submitted; it has the record.
starpu_task* task_of(const Task& task, starpu_codelet* codelet, TaskRecord* record) {
    starpu_task* made = starpu_task_create();
    made->cl = codelet;
    made->cl_arg = record;
    made->sched_data = &record->scheduled;
    made->callback_func = task_ended;
    made->callback_arg = record;
    made->priority = task.priority;
    if (record->traced.traced()) {
        made->prologue_callback_func = note_ready;
        made->prologue_callback_arg = &record->traced;
    }
    made->nbuffers = task.access_count;
    for (std::size_t i = 0; i < task.used().size(); ++i) {
        const Access& access = task.accesses[i];
        made->handles[i] = static_cast<StarpuAttachment&>(*access.tile.matrix).handle(access.tile.index);
        made->modes[i] = starpu_mode(access.mode);
    }
    return made;
}

void destroy(starpu_task* task, const TaskRecord* record) {
    delete record;
    task->destroy = 0;
    starpu_task_destroy(task);
}

}  // namespace

void run(const Job& job) {
    const Codelets::Entry known = codelets().of(*job.task.kernel);
    TaskRecord* record = record_of(job, known.tally);
    starpu_task* submitted = task_of(job.task, known.codelet, record);
    job.stream.progress.started();
    const int code = starpu_task_submit(submitted);
    if (code == 0) return;
    job.stream.progress.finished();
    destroy(submitted, record);
    throw Error("no worker of this node can run {}: {}", job.task.kernel->name, std::strerror(-code));
}

double expected_seconds(const Task& task) {
    const Codelets::Entry known = codelets().of(*task.kernel);
    auto* record = new TaskRecord{
        .kernel = task.kernel, .tally = known.tally, .stream = nullptr, .scheduled = {}, .arguments = task.arguments};
    starpu_task* asked = task_of(task, known.codelet, record);
    starpu_perfmodel_arch* core = starpu_worker_get_perf_archtype(starpu_worker_get_by_type(STARPU_CPU_WORKER, 0), 0);
    const double microseconds = starpu_task_expected_length(asked, core, 0);
    destroy(asked, record);
    return 1e-6 * microseconds;
}

}  // namespace tesela::starpu
