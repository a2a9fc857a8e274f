#include "tesela/base/program.hpp"

#include "tesela/base/environment.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

namespace tesela {

std::string stdout_failure(int reason) {
    std::string text = "cannot write standard output";
    switch (reason) {
        case 0: return text;
        case EBADF: return text + ": it is closed";
        case EPIPE: return text + ": whoever read it has closed it";
        default: return text + ": " + std::strerror(reason);
    }
}

void flush_results() {
    errno = 0;
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (errno == EPIPE) std::clearerr(stdout);
    if (written || errno == EPIPE) return;
    // An earlier write may have been the one that failed: then the reason is not known any more.
    throw OutputError(stdout_failure(errno));
}

bool is_first_node() { return rank_by_launcher().value_or("0") == "0"; }

void print_error(const char* program, const std::string& text) {
    if (!is_first_node()) {
        // Most errors are the same on every node: node 0 says them, and the launcher ends the others meanwhile.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        fmt::print(stderr, "{} (node {}): {}\n", program, *rank_by_launcher(), text);
        return;
    }
    fmt::print(stderr, "{}: {}\n", program, text);
}

int run_guarded(const char* program, const std::function<int()>& work) {
    try {
        const int exit_code = work();
        flush_results();
        return exit_code;
    } catch (const OutputError& error) {
        print_error(program, error.what());
        return failed;
    } catch (const Error& error) {
        print_error(program, error.what());
        return bad_input;
    } catch (const std::bad_alloc&) {
        print_error(program, "out of memory: use a smaller problem or more nodes");
        return bad_input;
    } catch (const std::exception& error) {
        const auto* of_system = dynamic_cast<const std::system_error*>(&error);
        const bool lost = std::ferror(stdout) != 0 && of_system != nullptr;  // {fmt} says it by an exception of its own
        print_error(program, lost ? stdout_failure(of_system->code().value())
                                  : fmt::format("unexpected error, please report it: {}", error.what()));
        return failed;
    }
}

}  // namespace tesela
