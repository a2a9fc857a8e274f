#pragma once

#include "covariance_problem.hpp"

#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

namespace tesela::bench {

struct TlrTileOptions {
    cli::RunOptions run;
    CovarianceProblem problem;
    int rounds = 0;  ///< of all sizes; 0: as many as short runs need
};

/// Eight tile sizes for the Cholesky factor of a compressed covariance matrix, a third apart, and beside them the one
/// that sampled ranks choose and that of equation (2) of paper 004: seconds of generation, compression and
/// factorisation, the best of some rounds through all of them.
[[nodiscard]] nlohmann::ordered_json tlr_tile_benchmark(StarpuEngine& engine, const TlrTileOptions& options);

}  // namespace tesela::bench
