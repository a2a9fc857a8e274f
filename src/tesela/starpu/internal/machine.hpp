#pragma once

#include <string>
#include <vector>

namespace tesela::starpu {

/// Cores that this process may use, by its affinity mask, and those of the machine.
struct Cores {
    int usable = 1;
    int machine = 1;
};
[[nodiscard]] Cores find_cores();

/// Numbers of the NVIDIA GPUs that this process may use, as CUDA numbers them for it.
[[nodiscard]] std::vector<int> visible_gpus();

/// Bytes that can still be taken without swapping, by the kernel and by the control group of this process.
[[nodiscard]] double available_memory();

[[nodiscard]] std::string host_name();

/// Sets an environment variable unless the user has set it.
void set_default(const char* variable, const char* value);

}  // namespace tesela::starpu
