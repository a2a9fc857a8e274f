#pragma once

#include "tesela/net/transport.hpp"
#include "tesela/starpu/engine.hpp"
#include "tesela/starpu/internal/machine.hpp"
#include "tesela/starpu/internal/scheduler.hpp"
#include "tesela/starpu/internal/worker_choice.hpp"

#include <starpu.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace tesela::starpu {

/// StarPU's numbers of this node's workers, by what they are: StarPU numbers accelerators before cores.
struct Workers {
    std::vector<int> cores;
    std::vector<int> accelerators;
    /// The core's worker that takes critical tasks only; -1 if there is none.
    int critical = -1;
    /// Those on top of the cores, for tasks that hold a limited resource.
    std::vector<int> resource;

    [[nodiscard]] int count() const { return static_cast<int>(cores.size() + accelerators.size()); }
};

/// Starts StarPU on construction and stops it on destruction; knows the machine, the nodes and the memory they have.
class Runtime {
public:
    /// Throws Error if StarPU cannot start, or one is there already.
    explicit Runtime(const StarpuOptions& options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    Runtime(Runtime&&) = delete;
    Runtime& operator=(Runtime&&) = delete;

    /// The workers that a set names, all that compute if it is empty, and those that are not named: the critical one
    /// and those for limited resources. Throws Error for one that does not exist.
    [[nodiscard]] LaneWorkers workers_of(const WorkerSet& set) const;

    /// Workers that have nothing to do help with its messages, until null is given.
    void help_when_idle(net::Transport* transport);

    net::Nodes nodes;
    std::unique_ptr<Scheduler> scheduler;
    Workers workers;
    NodeDescription description;

private:
    void start(const StarpuOptions& options);
    void start_here(const StarpuOptions& options, const Cores& cores, const Surroundings& machine);
    void bind(const WorkerChoice& choice, const Cores& cores, starpu_conf& conf) const;
    void find_workers(const WorkerChoice& choice);
    void describe(const Cores& cores);

    /// What workers that have nothing to do look at.
    struct IdleWorkers {
        long microseconds = 0;
        int first_resource_worker = STARPU_NMAXWORKERS;  // by StarPU's numbers, of which these are the last
        std::atomic<net::Transport*> transport{nullptr};
        std::atomic<int> helping{0};
    };
    static unsigned sleep_when_idle(void* runtime);

    IdleWorkers idle_;
    int idle_hook_ = -1;    // StarPU's number of it; without one idle workers spin
    int core_sharers_ = 1;  // nodes that share these cores
};

}  // namespace tesela::starpu
