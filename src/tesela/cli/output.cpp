#include "tesela/cli/output.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>
#include <thread>

namespace tesela::cli {
namespace {

std::string readable(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    return value.dump();
}

}  // namespace

void print_error(const char* program, const std::string& text) {
    const auto rank = rank_by_launcher();
    if (rank && *rank != "0") {
        // Most errors are the same on every node: node 0 says them, and the launcher ends the others meanwhile.
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        fmt::print(stderr, "{} (node {}): {}\n", program, *rank, text);
        return;
    }
    fmt::print(stderr, "{}: {}\n", program, text);
}

void flush_results() {
    errno = 0;
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (errno == EPIPE) std::clearerr(stdout);
    if (written || errno == EPIPE) return;
    // An earlier write may have been the one that failed: then the reason is not known any more.
    throw OutputError(stdout_failure(errno));
}

void print_results(const Engine& engine, const Json& results, bool as_json) {
    if (engine.this_node() != NodeId{0}) return;
    if (as_json) {
        fmt::print("{}\n", results.dump(2));
    } else {
        std::size_t width = 0;
        for (const auto& [name, value] : results.items()) width = std::max(width, name.size());
        for (const auto& [name, value] : results.items()) fmt::print("{:<{}}  {}\n", name, width, readable(value));
    }
    flush_results();
}

trace::Trace read_trace_with_warnings(const char* program, const std::string& path) {
    trace::Trace trace = trace::read_trace(path);
    for (const std::string& warning : trace.warnings) fmt::print(stderr, "{}: warning: {}\n", program, warning);
    return trace;
}

int run_guarded(const char* program, const std::function<int()>& command) {
    try {
        validate_vector_level_variable();
        const int exit_code = command();
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

}  // namespace tesela::cli
