#include "in_children.hpp"

#include "tesela/base/error.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <exception>
#include <thread>

namespace tesela::bench {
namespace {

struct Child {
    pid_t process = 0;
    int reads = -1;
    std::size_t work = 0;
};

[[noreturn]] void answer(const std::function<double()>& work, int writes) {
    int code = 1;
    try {
        const double value = work();
        if (write(writes, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value))) code = 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(code);
}

Child start(const std::function<double()>& work, std::size_t number) {
    int ends[2];
    if (pipe(ends) != 0) throw Error("no pipe to a child process");
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process < 0) throw Error("no child process");
    if (process == 0) answer(work, ends[1]);
    close(ends[1]);
    return {.process = process, .reads = ends[0], .work = number};
}

/// False if the child has no answer.
bool finish(const Child& child, double& value) {
    const bool whole = read(child.reads, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
    close(child.reads);
    int status = 0;
    waitpid(child.process, &status, 0);
    return whole;
}

}  // namespace

std::vector<double> in_children(const std::vector<std::function<double()>>& work) {
    const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    std::vector<double> values(work.size(), 0.0);
    std::deque<Child> running;
    bool good = true;
    const auto finish_first = [&] {
        good &= finish(running.front(), values[running.front().work]);
        running.pop_front();
    };
    for (std::size_t k = 0; k < work.size(); ++k) {
        if (running.size() == at_once) finish_first();
        running.push_back(start(work[k], k));
    }
    while (!running.empty()) finish_first();
    if (!good) throw Error("a child process failed");
    return values;
}

}  // namespace tesela::bench
