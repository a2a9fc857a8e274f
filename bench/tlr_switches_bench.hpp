#pragma once

#include "covariance_problem.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

struct TlrSwitchesOptions {
    cli::RunOptions run;
    CovarianceProblem problem;
    /// What is turned on, one at a time and all together.
    FactorOptions factor{.lookahead = 5, .diagonal_tile = 300};
    int repetitions = 5;
    /// CSV file for the results; rows of other numbers of nodes stay. Empty: none.
    std::string table;
};

/// What paper 004's optimisations of a compressed Cholesky gain on the nodes at hand: times of the factorisation
/// without any, with each, and with all, interleaved, the best of some; and the bytes that were sent. Without exact
/// messages these have the rank `problem.sent_rank`, or the largest of all where that is 0.
[[nodiscard]] nlohmann::ordered_json tlr_switches_benchmark(StarpuEngine& engine, const TlrSwitchesOptions& options);

}  // namespace tesela::bench
