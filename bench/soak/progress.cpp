#include "soak/progress.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/starpu/engine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tesela::bench {
namespace {

/// mpirun reads the stderr of its processes through a pipe; what counts is whether its own is a terminal.
bool stderr_of_parent_is_terminal() {
    std::error_code none;
    const std::string target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", getppid()), none).string();
    return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

bool is_first_node() {
    return environment("OMPI_COMM_WORLD_RANK").value_or("0") == "0" && environment("PMIX_RANK").value_or("0") == "0";
}

}  // namespace

Progress::Progress(std::string what, Index total)
    : what_(std::move(what)),
      total_(total),
      next_(Clock::now()),
      shown_(is_first_node() &&
             (isatty(STDERR_FILENO) != 0 || (started_in_parallel() && stderr_of_parent_is_terminal()))) {}

Progress::~Progress() {
    if (written_) fmt::print(stderr, "\r\033[K");
}

void Progress::reached(Index done) {
    if (!shown_ || Clock::now() < next_) return;
    fmt::print(stderr, "\r\033[K{}: {} of {}", what_, done, total_);
    std::fflush(stderr);
    next_ = Clock::now() + std::chrono::seconds(1);
    written_ = true;
}

}  // namespace tesela::bench
