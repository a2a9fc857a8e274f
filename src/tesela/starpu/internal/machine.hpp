#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tesela::starpu {

/// Cores that this process may use, by its affinity mask, and those of the machine. Threads that share a core
/// (hyperthreading) count as one: kernels that compute leave nothing for a second.
struct Cores {
    int usable = 1;
    int machine = 1;
    int threads_per_core = 1;
    std::string mask;  ///< the processors of this process, to compare with others'
};
[[nodiscard]] Cores find_cores();

/// How many cores some processors of Linux are, by what /sys/devices/system/cpu (`folder`) says of who shares one; as
/// many as there are processors where it says nothing.
[[nodiscard]] int count_cores(const std::vector<int>& processors, const std::string& folder);

/// Numbers of the NVIDIA GPUs that this process may use, as CUDA numbers them for it.
[[nodiscard]] std::vector<int> visible_gpus();

/// Bytes that can still be taken without swapping. Infinity where nothing says how many, as without /proc: who prints
/// it must look. `root` is another folder than "/" in tests.
[[nodiscard]] double memory_of_machine(const std::filesystem::path& root = "/");

/// Bytes that the control group of this process and all groups around it leave, of version 1 and 2; batch systems make
/// one per job, step and task. Cache of files that the kernel would give back first counts as free. Infinity without a
/// limit.
struct GroupMemory {
    double bytes = 0;
    std::string group;  ///< that leaves the least: its folder, to compare with other nodes'
};
[[nodiscard]] GroupMemory memory_of_control_groups(const std::filesystem::path& root = "/");

/// Cores whose time the control group of this process and all groups around it leave it (quota over period), of version
/// 1 and 2. Infinity without a limit.
struct GroupCores {
    double cores = 0;
    std::string group;  ///< that leaves the least, as above; empty without a limit
};
[[nodiscard]] GroupCores cores_of_control_groups(const std::filesystem::path& root = "/");

/// Bytes that `ulimit -v` (RLIMIT_AS) leaves this process beyond the addresses that it has in use; infinity without it.
[[nodiscard]] double memory_of_address_space(const std::filesystem::path& root = "/");

/// How many nodes share the machine's memory, and how many that of their control groups; the limit of a process is its
/// own.
struct MemorySharers {
    int machine = 1;
    int groups = 1;
};
/// What this node may take of these three.
[[nodiscard]] double available_memory(const MemorySharers& sharers, const std::filesystem::path& root = "/");

[[nodiscard]] std::string host_name();

/// Sets an environment variable unless the user has set it.
void set_default(const char* variable, const char* value);

}  // namespace tesela::starpu
