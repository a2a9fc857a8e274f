#include "tesela/cli/output.hpp"

#include "tesela/kernels/vector_level.hpp"

#include "tesela/io/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {
namespace {

std::string readable(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
    return value.dump();
}

}  // namespace

void print_results(const Engine& engine, const Json& results, bool as_json) {
    if (!engine.is_first()) return;
    if (as_json) {
        fmt::print("{}\n", results.dump(2));
    } else {
        std::size_t width = 0;
        for (const auto& [name, value] : results.items()) width = std::max(width, name.size());
        for (const auto& [name, value] : results.items()) fmt::print("{:<{}}  {}\n", name, width, readable(value));
    }
    flush_results();
}

void require_writable(const std::string& path) { const OutputFile probe(path); }

trace::Trace read_trace_with_warnings(const char* program, const std::string& path) {
    trace::Trace trace = trace::read_trace(path);
    for (const std::string& warning : trace.warnings) fmt::print(stderr, "{}: warning: {}\n", program, warning);
    return trace;
}

}  // namespace tesela::cli
