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

/// $XDG_CACHE_HOME/tesela, or ~/.cache/tesela; empty where there is no home.
[[nodiscard]] inline std::string user_cache_folder() {
    if (const auto folder = environment("XDG_CACHE_HOME")) return *folder + "/tesela";
    if (const auto home = environment("HOME")) return *home + "/.cache/tesela";
    return {};
}

}  // namespace tesela
