#pragma once

#include <string>

namespace tesela {

/// While it lives, this thread runs a kernel: where an exception leaves that, which ends the program, a line says which
/// kernel it was and on which tile.
class RunningKernel {
public:
    /// `describe` is asked when the program ends: "the kernel dgemm, writing A(1, 0)" of `what`.
    RunningKernel(std::string (*describe)(const void* what), const void* what);
    ~RunningKernel();
    RunningKernel(const RunningKernel&) = delete;
    RunningKernel& operator=(const RunningKernel&) = delete;
    RunningKernel(RunningKernel&&) = delete;
    RunningKernel& operator=(RunningKernel&&) = delete;
};

/// Whether this thread runs a kernel.
[[nodiscard]] bool in_kernel() noexcept;

}  // namespace tesela
