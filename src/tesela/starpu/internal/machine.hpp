#pragma once

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

/// Bytes that can still be taken without swapping, by the kernel and by the control group of this process.
[[nodiscard]] double available_memory();

[[nodiscard]] std::string host_name();

/// Sets an environment variable unless the user has set it.
void set_default(const char* variable, const char* value);

}  // namespace tesela::starpu
