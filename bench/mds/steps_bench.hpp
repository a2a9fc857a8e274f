#pragma once

#include "tesela/cli/run_options.hpp"
#include "tesela/flow/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// What `tesela bench mds-steps` measures.
struct StepsOptions {
    Index n = 10000;                      ///< points of a file of float32 that is made for it
    Index tile = 0;                       ///< 0: chosen
    std::vector<Index> columns{20, 110};  ///< of the random matrix
    int readers = 5;
    double rate = 400e6;       ///< bytes per second of the slow disk
    Index repetitions = 5;     ///< the best counts
    std::string folder = ".";  ///< where the file is made, and removed again
    std::string table;         ///< where rows go; those of other numbers of nodes stay
    cli::RunOptions run;
};

/// Figure 9 of paper 000, measured: until the file has been read and multiplied once, under each step of overlap, each
/// with those before it, from a file that the system had forgotten and from a slow disk. Steps take turns.
[[nodiscard]] nlohmann::ordered_json steps_benchmark(Engine& engine, const StepsOptions& options);

}  // namespace tesela::bench
