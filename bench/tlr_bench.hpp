#pragma once

#include "tesela/cli/run_options.hpp"
#include "tesela/kernels/covariance.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

struct TlrOptions {
    cli::RunOptions run;
    Index n = 20000;
    CovarianceFamily family = CovarianceFamily::exponential;
    CovarianceParameters theta{.sigma2 = 1, .range = 0.1, .smoothness = 1.5, .nugget = 1e-4};
    Index dimensions = 2;
    /// Of a tile, relative to sigma2.
    double accuracy = 1e-8;
    Index band = 1;
    /// Order of the dense matrix that the rate is measured with.
    Index dense_n = 8000;
    /// Power iterations for the residual; 0: it is not measured.
    int iterations = 6;
};

/// The Cholesky factor of a compressed covariance matrix: time, memory, ranks and ‖A − L·Lᵀ‖₂ against the matrix
/// itself, which is never stored; beside what the dense factorisation would take at the rate that is measured in the
/// same run.
[[nodiscard]] nlohmann::ordered_json tlr_benchmark(StarpuEngine& engine, const TlrOptions& options);

}  // namespace tesela::bench
