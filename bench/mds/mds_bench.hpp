#pragma once

#include "tesela/cli/run_options.hpp"
#include "tesela/flow/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tesela::bench {

/// What `tesela bench mds` measures.
struct MdsOptions {
    std::string file;  ///< distances in a file; empty: one of its own is made, of float32 by rows
    Index n = 20000;   ///< points of that
    Index dimensions = 10;
    int readers = 5;
    double rate = 400e6;       ///< bytes per second of the slow disk
    Index repetitions = 3;     ///< the best counts
    std::string folder = ".";  ///< where the file is made, and removed again
    cli::RunOptions run;
};

/// Multidimensional scaling from a file, beside what its parts take alone: the file in the cache of the system, after
/// the system has forgotten it, and through a reader of a given rate. Throws Error where something cannot be read.
[[nodiscard]] nlohmann::ordered_json mds_benchmark(Engine& engine, const MdsOptions& options);

/// What `tesela bench eigenvalues` measures.
struct EigenvaluesOptions {
    std::string file;  ///< a symmetric matrix
    Index dimensions = 10;
    double tolerance = 1e-10;
    Index repetitions = 5;
    cli::RunOptions run;
};

/// The largest eigenvalues of a symmetric matrix in memory: times of each repetition, without reading the file.
[[nodiscard]] nlohmann::ordered_json eigenvalues_benchmark(Engine& engine, const EigenvaluesOptions& options);

}  // namespace tesela::bench
