#include "tesela/cli/output.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace tesela::cli {
namespace {

std::string readable(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    return value.dump();
}

}  // namespace

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
        fmt::print(stderr, "{}: {}\n", program, error.what());
        return bad_input;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}: out of memory\n", program);
        return bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: unexpected: {}\n", program, error.what());
        return failed;
    }
}

}  // namespace tesela::cli
