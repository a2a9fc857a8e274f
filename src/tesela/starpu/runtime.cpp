#include "tesela/starpu/internal/runtime.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/kernels/dense.hpp"
#include "tesela/kernels/vector_level.hpp"
#include "tesela/starpu/internal/starpu_home.hpp"
#include "tesela/starpu/internal/without_papi.hpp"

#include <starpu_expert.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace tesela::starpu {
namespace {

/// StarPU keeps all it has in variables of its own, once in a process.
std::atomic<bool> engine_exists{false};

/// StarPU 1.4 tells of a missing folder of models, which Debian has in a package of examples, even when it is to be
/// silent. It looks for its folders once: here, where nobody hears it.
void find_models_in_silence() {
    if (environment("STARPU_SILENT") == "0") return;
    std::FILE* nowhere = std::fopen("/dev/null", "w");
    if (nowhere == nullptr) return;
    const int heard = dup(STDERR_FILENO);
    if (heard >= 0) {
        dup2(fileno(nowhere), STDERR_FILENO);
        starpu_perfmodel_directory(nowhere);
        dup2(heard, STDERR_FILENO);
        close(heard);
    }
    std::fclose(nowhere);
}

/// StarPU's numbers of its workers of a kind.
std::vector<int> workers_of_type(starpu_worker_archtype type) {
    std::vector<int> ids(STARPU_NMAXWORKERS);
    ids.resize(starpu_worker_get_ids_by_type(type, ids.data(), STARPU_NMAXWORKERS));
    return ids;
}

Surroundings surroundings(const StarpuOptions& options, const Cores& cores, const net::Nodes& nodes) {
    // With masks of their own (mpirun --bind-to) nodes share no cores.
    Surroundings machine{.usable_cores = cores.usable,
                         .nodes_here = nodes.alike_here(cores.mask) ? nodes.count_here() : 1,
                         .most_cores = STARPU_MAXCPUS,
                         .environment = environment};
#ifdef STARPU_USE_CUDA
    if (options.accelerators == Accelerators::none) return machine;
    machine.gpus = visible_gpus();
    // Unless a batch system has divided them already.
    if (nodes.alike_here(environment("CUDA_VISIBLE_DEVICES").value_or("all"))) {
        machine.gpu_sharers = nodes.count_here();
        machine.gpu_sharer = nodes.number_here();
    }
#else
    (void)options;
#endif
    return machine;
}

/// StarPU 1.4 has workers for HIP too.
template <class Conf>
void leave_out_hip(Conf& conf) {
    if constexpr (requires { conf.nhip; }) conf.nhip = 0;
}

}  // namespace

/// A worker without work looks after the messages: what it waits for is one of them. Those for limited resources are
/// more than the cores: each looks for work now and then only.
unsigned Runtime::sleep_when_idle(void* runtime) {
    constexpr long resource_worker_microseconds = 1000;
    IdleWorkers& idle = static_cast<Runtime*>(runtime)->idle_;
    long us = idle.microseconds;
    if (starpu_worker_get_id() < idle.first_resource_worker) {
        ++idle.helping;
        if (net::Transport* transport = idle.transport.load()) transport->help();
        --idle.helping;
    } else {
        us = std::max(us, resource_worker_microseconds);
    }
    const timespec moment{.tv_sec = 0, .tv_nsec = us * 1000};
    nanosleep(&moment, nullptr);
    return 1;
}

void Runtime::help_when_idle(net::Transport* transport) {
    idle_.transport = transport;
    while (transport == nullptr && idle_.helping > 0) std::this_thread::yield();
}

Runtime::Runtime(const StarpuOptions& options) {
    if (engine_exists.exchange(true)) throw Error("there is a StarPU engine in this process already; use that one");
    try {
        start(options);
    } catch (...) {
        if (starpu_is_initialized() != 0) starpu_shutdown();  // where another node could not start
        engine_exists = false;
        throw;
    }
    idle_.microseconds = options.idle_microseconds;
    if (!workers.resource.empty()) idle_.first_resource_worker = workers.resource.front();
    if (options.idle_microseconds > 0) idle_hook_ = starpu_idle_hook_register(sleep_when_idle, this);
}

void Runtime::start(const StarpuOptions& options) {
    if (!(options.memory_bytes >= 0)) throw Error("memory_bytes must be 0 or more, not {}", options.memory_bytes);
    const Cores cores = find_cores();
    // What nodes ask each other comes first: from then on one may fail alone, and all must learn of it.
    const Surroundings machine = surroundings(options, cores, nodes);
    const int group_sharers = nodes.alike_here(memory_of_control_groups().group) ? nodes.count_here() : 1;
    const GroupCores time = cores_of_control_groups();
    const int time_sharers = nodes.alike_here(time.group) ? nodes.count_here() : 1;
    if (!time.group.empty()) description.quota = time.cores / time_sharers;
    nodes.all_or_none([&] { start_here(options, cores, machine); });
    description.memory_bytes = options.memory_bytes > 0
                                   ? options.memory_bytes
                                   : available_memory({.machine = nodes.count_here(), .groups = group_sharers});
}

void Runtime::start_here(const StarpuOptions& options, const Cores& cores, const Surroundings& machine) {
    validate_vector_level_variable();
    WorkerChoice choice = choose_workers(options, machine);
    core_sharers_ = machine.nodes_here;
    scheduler = std::make_unique<Scheduler>(choice.scheduler);
    description.warnings = std::move(choice.warnings);
    set_blas_threads(1);
    reserve_blas_memory(choice.core_workers() + 1);  // and this thread, for what it computes itself
    set_default("STARPU_SILENT", "1");
    const StarpuHome home(home_places());
    find_models_in_silence();
    // They have been looked at: StarPU would let its scheduler win over ours, and ends the program where one is no
    // number.
    const Meanwhile variables[]{Meanwhile("STARPU_SCHED"), Meanwhile("STARPU_NCPU"),
                                Meanwhile("STARPU_NCPUS"), Meanwhile("STARPU_RESERVE_NCPU"),
                                Meanwhile("STARPU_NCUDA"), Meanwhile("STARPU_NOPENCL"),
                                Meanwhile("STARPU_NHIP"),  Meanwhile("STARPU_USE_NUMA")};
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = choice.core_workers();
    conf.reserve_ncpus = 0;
    conf.ncuda = static_cast<int>(choice.gpus.size());
    conf.nopencl = 0;
    leave_out_hip(conf);
    conf.catch_signals = 0;
    conf.sched_policy = scheduler->policy();
    if (!choice.gpus.empty()) {
        conf.use_explicit_workers_cuda_gpuid = 1;
        std::copy(choice.gpus.begin(), choice.gpus.end(), conf.workers_cuda_gpuid);
    }
    bind(choice, cores, conf);
    const int code = [&] {
        const WithoutPapi without_papi;
        return starpu_init(&conf);
    }();
    if (code == -ENODEV) throw Error("StarPU found no worker to run on");
    if (code != 0) throw Error("StarPU cannot start: {}", std::strerror(-code));
    home.keep();
    find_workers(choice);
    describe(cores);
    if (options.warnings == Warnings::print)
        for (const std::string& warning : description.warnings)
            fmt::print(stderr, "tesela: node {}: warning: {}\n", nodes.me(), warning);
}

Runtime::~Runtime() {
    if (idle_hook_ >= 0) starpu_idle_hook_deregister(idle_hook_);  // StarPU keeps it for the next start, and has few
    starpu_shutdown();
    engine_exists = false;
}

/// StarPU binds workers to the first cores of the machine; with several nodes on one machine that would put all of them
/// on the same cores, and with an affinity mask on cores that are not ours.
void Runtime::bind(const WorkerChoice& choice, const Cores& cores, starpu_conf& conf) const {
    if (cores.usable < cores.machine) set_default("STARPU_WORKERS_GETBIND", "1");
    if (core_sharers_ > 1 || choice.cores > cores.usable) {
        set_default("STARPU_WORKERS_NOBIND", "1");
    } else if (choice.critical || choice.resource > 0) {
        // The critical worker shares the core that no other worker has, where submission finds it free most of the
        // time; those for resources, which sleep most of the time, go round all cores. Workers of GPUs come first.
        conf.use_explicit_workers_bindid = 1;
        const int gpus = static_cast<int>(choice.gpus.size());
        const int computing = choice.core_workers() - choice.resource;
        for (int w = 0; w < gpus + choice.core_workers(); ++w) {
            const int core = w - gpus < computing ? std::clamp(w - gpus, 0, cores.usable - 1)
                                                  : (w - gpus - computing) % cores.usable;
            conf.workers_bindid[w] = static_cast<unsigned>(core * cores.threads_per_core);
        }
    }
}

void Runtime::find_workers(const WorkerChoice& choice) {
    workers.cores = workers_of_type(STARPU_CPU_WORKER);
    workers.accelerators = workers_of_type(STARPU_CUDA_WORKER);
    if (static_cast<int>(workers.cores.size()) != choice.core_workers())
        description.warnings.push_back(fmt::format("StarPU started {} workers on cores where {} were wanted",
                                                   workers.cores.size(), choice.core_workers()));
    // They are the last.
    const auto computing = std::max<std::ptrdiff_t>(1, std::ssize(workers.cores) - choice.resource);
    workers.resource.assign(workers.cores.begin() + computing, workers.cores.end());
    workers.cores.resize(static_cast<std::size_t>(computing));
    if (!choice.critical || workers.cores.size() < 2) return;
    workers.critical = workers.cores.back();
    workers.cores.pop_back();
}

LaneWorkers Runtime::workers_of(const WorkerSet& set) const {
    check_workers(set, workers.count());
    WorkerBits bits;
    const auto allow = [&](int number) {
        const auto n = static_cast<std::size_t>(number);
        const std::size_t cores = workers.cores.size();
        bits.set(static_cast<std::size_t>(n < cores ? workers.cores[n] : workers.accelerators[n - cores]));
    };
    for (const int number : set) allow(number);
    for (int number = 0; set.empty() && number < workers.count(); ++number) allow(number);
    WorkerBits critical = bits;
    if (workers.critical >= 0) critical.set(static_cast<std::size_t>(workers.critical));
    WorkerBits resource;
    for (const int worker : workers.resource) resource.set(static_cast<std::size_t>(worker));
    return {bits, critical, workers.resource.empty() ? bits : resource};
}

void Runtime::describe(const Cores& cores) {
    const BlasDescription blas = describe_blas();
    const int computing = static_cast<int>(workers.cores.size());
    description.host = host_name();
    description.cores = cores.usable;
    description.workers = computing;
    description.critical_worker = workers.critical >= 0;
    description.resource_workers = static_cast<int>(workers.resource.size());
    description.accelerators = static_cast<int>(workers.accelerators.size());
    int major = 0;
    int minor = 0;
    int release = 0;
    starpu_get_version(&major, &minor, &release);
    description.starpu = fmt::format("{}.{}.{}", major, minor, release);
    description.starpu_origin = TESELA_STARPU_ORIGIN;
    description.starpu_cores = STARPU_MAXCPUS;
    description.nodes_here = nodes.count_here();
    description.blas_threads = blas.threads;
    description.blas = blas.configuration;
    description.blas_core = blas.core.in_use;
    description.blas_core_replaced = blas.core.replaced().value_or("");
    description.vectors = name_in(vector_level_names, vector_level());
    description.scheduler = scheduler->name();
    auto& warnings = description.warnings;
    if (computing * core_sharers_ > cores.usable)
        warnings.push_back(
            core_sharers_ > 1
                ? fmt::format(
                      "oversubscribed: {} nodes with {} worker{} each share {} core{}; use fewer nodes or workers",
                      core_sharers_, computing, plural(computing), cores.usable, plural(cores.usable))
                : fmt::format("oversubscribed: {} workers on {} usable core{}; use fewer workers, or give the program "
                              "more cores",
                              computing, cores.usable, plural(cores.usable)));
    if (blas.threading == BlasDescription::Threading::openmp || blas.threads != 1)
        warnings.push_back(
            fmt::format("the BLAS in use ({}) may start threads inside workers: install the pthread "
                        "flavour of OpenBLAS or set OMP_NUM_THREADS=1",
                        blas.configuration));
    if (const auto warning = blas.core.warning()) warnings.push_back(*warning);
}

}  // namespace tesela::starpu

namespace tesela {

std::string NodeDescription::line(NodeId node, Index nodes) const {
    const std::string chosen =
        blas_core_replaced.empty() ? "" : fmt::format(" (chosen since OpenBLAS took {})", blas_core_replaced);
    std::string text = fmt::format(
        "node {} of {}: {}, {} core{}, {} worker{}{}{}, {} accelerators, StarPU {} ({}) for up to {} cores, BLAS "
        "kernels "
        "for "
        "{}{}, {} BLAS thread{}, loops for {}, scheduler {}, {} free",
        node.number(), nodes, host, cores, plural(cores), workers, plural(workers),
        critical_worker ? " and one for critical tasks" : "",
        resource_workers > 0 ? fmt::format(" and {} for limited resources", resource_workers) : "", accelerators,
        starpu, starpu_origin, starpu_cores, blas_core, chosen, blas_threads, plural(blas_threads), vectors, scheduler,
        format_bytes(memory_bytes));
    for (const std::string& warning : warnings) text += "\n  warning: " + warning;
    return text;
}

}  // namespace tesela
