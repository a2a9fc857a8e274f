#pragma once

#include "tesela/base/error.hpp"

#include <functional>
#include <string>

namespace tesela {

/// What a program of Tesela ends with.
enum ExitCode : int { success = 0, failed = 1, bad_input = 2, interrupted = 130 };

/// What could be opened cannot be written: nothing is wrong with what was asked for, but the results are lost.
class OutputError : public Error {
public:
    using Error::Error;
};

/// That standard output cannot be written, and why by errno's reason; none: it is not known any more.
[[nodiscard]] std::string stdout_failure(int reason);

/// Throws OutputError if anything that was printed on stdout could not be written. Not for a pipe that is closed: who
/// reads it has seen enough.
void flush_results();

/// Whether this process is the one that speaks where several were started together: what is alike is said once.
[[nodiscard]] bool is_first_node();

/// One line on stderr, once for all nodes where they fail alike.
void print_error(const char* program, const std::string& text);

/// Runs the work of a program; an Error becomes one line on stderr and `bad_input`, or `failed` if it is an
/// OutputError, as every one's is whose results could not be written.
[[nodiscard]] int run_guarded(const char* program, const std::function<int()>& work);

}  // namespace tesela
