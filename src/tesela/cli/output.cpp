#include "tesela/cli/output.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
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

void print_results(const Engine& engine, const Json& results, bool as_json) {
    if (engine.this_node() != NodeId{0}) return;
    if (as_json) {
        fmt::print("{}\n", results.dump(2));
    } else {
        std::size_t width = 0;
        for (const auto& [name, value] : results.items()) width = std::max(width, name.size());
        for (const auto& [name, value] : results.items()) fmt::print("{:<{}}  {}\n", name, width, readable(value));
    }
    std::fflush(stdout);
}

int run_guarded(const char* program, const std::function<int()>& command) {
    try {
        return command();
    } catch (const Error& error) {
        print_error(program, error.what());
        return bad_input;
    } catch (const std::bad_alloc&) {
        print_error(program, "out of memory: use a smaller problem or more nodes");
        return bad_input;
    } catch (const std::exception& error) {
        print_error(program, fmt::format("unexpected error, please report it: {}", error.what()));
        return failed;
    }
}

}  // namespace tesela::cli
