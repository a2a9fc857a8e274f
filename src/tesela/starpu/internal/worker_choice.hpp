#pragma once

#include "tesela/starpu/engine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::starpu {

/// What is known before StarPU starts: the node's share of its machine, the limits of this StarPU, and the environment.
struct Surroundings {
    int usable_cores = 1;
    int nodes_here = 1;  ///< that share the cores
    /// Nodes that share the GPUs, and this one's number among them.
    int gpu_sharers = 1;
    int gpu_sharer = 0;
    int most_cores = 1;  ///< that StarPU was built for
    /// GPUs that this process sees, by their numbers.
    std::vector<int> gpus{};
    /// The value of an environment variable.
    std::optional<std::string> (*environment)(const char* name) = nullptr;
};

/// What StarPU is started with.
struct WorkerChoice {
    int cores = 1;
    bool critical = false;
    int resource = 0;  ///< on top of the cores, for tasks that hold a limited resource
    std::vector<int> gpus{};
    std::string scheduler;
    std::vector<std::string> warnings;

    [[nodiscard]] int core_workers() const { return cores + (critical ? 1 : 0) + resource; }
};

/// Options win over StarPU's environment variables, which win over the defaults: all cores and, where they are wanted,
/// all GPUs, divided among the nodes of the machine. What is overruled is a warning. Throws Error for options that make
/// no sense.
[[nodiscard]] WorkerChoice choose_workers(const StarpuOptions& options, const Surroundings& machine);

}  // namespace tesela::starpu
