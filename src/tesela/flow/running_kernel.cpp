#include "tesela/flow/running_kernel.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace tesela {
namespace {

struct Running {
    std::string (*describe)(const void* what) = nullptr;
    const void* what = nullptr;
};
thread_local Running running;

std::string thrown() {
    const std::exception_ptr exception = std::current_exception();
    if (!exception) return "it ended the program";
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        return fmt::format("it threw an exception ({})", error.what());
    } catch (...) {
        return "it threw an exception";
    }
}

std::terminate_handler before = nullptr;

[[noreturn]] void end_program() {
    if (const Running last = std::exchange(running, {}); last.describe != nullptr)
        fmt::print(stderr, "tesela: {}: {}, where kernels say fail(\"why\")\n", last.describe(last.what), thrown());
    if (before != nullptr) before();
    std::abort();
}

}  // namespace

RunningKernel::RunningKernel(std::string (*describe)(const void* what), const void* what) {
    static const bool installed = [] {
        before = std::set_terminate(end_program);
        return true;
    }();
    static_cast<void>(installed);
    running = {describe, what};
}
RunningKernel::~RunningKernel() { running = {}; }

bool in_kernel() noexcept { return running.describe != nullptr; }

}  // namespace tesela
