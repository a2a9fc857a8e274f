#pragma once

#include "tesela/base/program.hpp"
#include "tesela/flow/engine.hpp"
#include "tesela/trace/trace.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace tesela::cli {

using Json = nlohmann::ordered_json;

/// Prints results on stdout, from node 0 only: as JSON, or a line per value, names aligned. Throws OutputError.
void print_results(const Engine& engine, const Json& results, bool as_json);

/// Throws Error now if a file could not be written later.
void require_writable(const std::string& path);

/// Reads a trace; what it lacks is said on stderr.
[[nodiscard]] trace::Trace read_trace_with_warnings(const char* program, const std::string& path);

}  // namespace tesela::cli
