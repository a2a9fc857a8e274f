#pragma once

#include "tesela/flow/engine.hpp"
#include "tesela/trace/trace.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace tesela::cli {

using Json = nlohmann::ordered_json;

/// What a command ends with.
enum ExitCode : int { success = 0, failed = 1, bad_input = 2, interrupted = 130 };

/// Throws OutputError if anything that was printed on stdout could not be written. Not for a pipe that is closed: who
/// reads it has seen enough.
void flush_results();

/// Prints results on stdout, from node 0 only: as JSON, or a line per value, names aligned. Throws OutputError.
void print_results(const Engine& engine, const Json& results, bool as_json);

/// One line on stderr, once for all nodes where they fail alike.
void print_error(const char* program, const std::string& text);

/// Reads a trace; what it lacks is said on stderr.
[[nodiscard]] trace::Trace read_trace_with_warnings(const char* program, const std::string& path);

/// Runs a command; a tesela::Error becomes one line on stderr and exit code 2, or 1 if it is an OutputError, as every
/// command's is whose results could not be written.
int run_guarded(const char* program, const std::function<int()>& command);

}  // namespace tesela::cli
