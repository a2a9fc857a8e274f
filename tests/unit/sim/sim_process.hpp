#pragma once

// SimGrid allows one simulation in a process: each gets a child of its own.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

namespace tesela::testing {

/// The numbers that a function returns, computed in a child process; nothing if the child failed.
template <class Function>
std::vector<double> in_child(const Function& function) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        // An exception must not leave this block: the child would go on with all other tests.
        try {
            const std::vector<double> values = function();
            const auto size = values.size() * sizeof(double);
            const bool written = ::write(ends[1], values.data(), size) == static_cast<ssize_t>(size);
            _exit(written ? 0 : 1);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "in a child: %s\n", error.what());
            _exit(1);
        }
    }
    close(ends[1]);
    std::vector<double> values;
    double value = 0;
    while (::read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value)) values.push_back(value);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? values : std::vector<double>{};
}

}  // namespace tesela::testing
