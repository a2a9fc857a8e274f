#pragma once

#include "covariance_problem.hpp"

#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

struct TlrOptions {
    cli::RunOptions run;
    CovarianceProblem problem;
    /// Order of the dense matrix that the rate is measured with.
    Index dense_n = 8000;
    /// Power iterations for the residual; 0: it is not measured.
    int iterations = 6;
    /// Residual of a solution that the factor is refined to; 0: none is.
    double refine = 0;
};

/// The Cholesky factor of a compressed covariance matrix: time, memory, ranks and ‖A − L·Lᵀ‖₂ against the matrix
/// itself, which is never stored; beside what the dense factorisation would take at the rate that is measured in the
/// same run.
[[nodiscard]] nlohmann::ordered_json tlr_benchmark(StarpuEngine& engine, const TlrOptions& options);

}  // namespace tesela::bench
