#include "harness/in_children.hpp"

#include "tesela/base/error.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
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

[[noreturn]] void answer(const std::function<std::string()>& work, int writes) {
    try {
        const std::string bytes = work();
        if (::write(writes, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) std::_Exit(EXIT_SUCCESS);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tesela bench: %s\n", error.what());
    }
    std::_Exit(EXIT_FAILURE);
}

Child start(const std::function<std::string()>& work, std::size_t number) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw Error("no pipe could be made for a process that simulates");
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process < 0) throw Error("no process could be started for a simulation");
    if (process == 0) answer(work, ends[1]);
    close(ends[1]);
    return {.process = process, .reads = ends[0], .work = number};
}

/// False if the child failed.
bool finish(const Child& child, std::string& bytes) {
    std::array<char, 4096> part{};
    for (ssize_t count = 0; (count = ::read(child.reads, part.data(), part.size())) > 0;)
        bytes.append(part.data(), static_cast<std::size_t>(count));
    close(child.reads);
    int status = 0;
    waitpid(child.process, &status, 0);
    return status == 0;
}

}  // namespace

std::vector<std::string> bytes_of_children(const std::vector<std::function<std::string()>>& work) {
    const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::string> answers(work.size());
    std::deque<Child> running;
    bool good = true;
    const auto finish_first = [&] {
        good &= finish(running.front(), answers[running.front().work]);
        running.pop_front();
    };
    for (std::size_t k = 0; k < work.size(); ++k) {
        if (running.size() == at_once) finish_first();
        running.push_back(start(work[k], k));
    }
    while (!running.empty()) finish_first();
    if (!good) throw Error("a process that simulates ended without a result");
    return answers;
}

}  // namespace tesela::bench
