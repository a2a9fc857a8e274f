#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tesela {

/// The value of an environment variable; none where it is unset or empty.
[[nodiscard]] inline std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

/// This process's number among those that mpirun or srun started, as Open MPI, PMIx (srun --mpi=pmix) and PMI (srun,
/// Hydra) tell it; none if it was started alone.
[[nodiscard]] inline std::optional<std::string> rank_by_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
        if (auto rank = environment(name)) return rank;
    return {};
}

/// Processes that were started together, this one included, as Open MPI, PMI (Hydra) and Slurm tell it; 1 where none
/// does. Slurm's number counts in the tasks of a step of srun: not in the script of sbatch, whose step is no plain
/// number, nor in a shell that `srun --pty` opens.
[[nodiscard]] inline int processes_by_launcher() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
        if (const auto size = environment(name)) return std::atoi(size->c_str());
    const std::string step = environment("SLURM_STEP_ID").value_or("-");
    const bool plain = step.find_first_not_of("0123456789") == std::string::npos && step.size() < 10;
    if (!plain || environment("SLURM_PTY_PORT")) return 1;
    return std::atoi(environment("SLURM_STEP_NUM_TASKS").value_or("1").c_str());
}

/// $XDG_CACHE_HOME/tesela, or ~/.cache/tesela; empty where there is no home.
[[nodiscard]] inline std::string user_cache_folder() {
    if (const auto folder = environment("XDG_CACHE_HOME")) return *folder + "/tesela";
    if (const auto home = environment("HOME")) return *home + "/.cache/tesela";
    return {};
}

}  // namespace tesela
