#pragma once

#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"

namespace tesela::bench {

struct SoakOptions {
    cli::RunOptions run;
    /// Messages between nodes in one stream, all nodes together; 0 leaves them out.
    Index messages = 10'000'000;
    /// Streams opened and closed one after another; 0 leaves them out.
    Index streams = 100'000;
    /// Log-likelihoods of a compressed covariance matrix, with parameters that change from one to the next; 0 leaves
    /// them out.
    Index likelihoods = 50;
    Index points = 2000;  ///< of each
    /// Runs in which a node fails; only in a process that was not started by mpirun.
    Index faults = 200;
};

/// Throws Error where there would be nothing to do: `messages` and `streams` need several nodes, `faults` starts them
/// itself.
void check_options(const SoakOptions& options);

/// Messages, streams and likelihoods on the nodes of this run (on one node likelihoods alone), with the memory that
/// each node has after the first of them and at the end. "checks" says whether it grew by less than 5 MB and all values
/// are right.
[[nodiscard]] cli::Json soak_benchmark(StarpuEngine& engine, const SoakOptions& options);

/// Starts mpirun on this program with its command `fault`, over and over. "checks" says whether each run ended within
/// 10 s after its fault, with an exit code other than 0, and left no process.
[[nodiscard]] cli::Json fault_benchmark(Index faults);

}  // namespace tesela::bench
