#pragma once

#include "tesela/apps/geo/overlap.hpp"
#include "tesela/cli/geo_options.hpp"

#include <nlohmann/json.hpp>

namespace tesela::bench {

struct GeoBenchOptions {
    cli::RunOptions run;
    Index n = 4000;
    double smoothness = 1.23;
    int repetitions = 5;
    geo::OverlapChoice overlap = geo::Overlap::order;
};

/// Times in turn, and keeps the best of each: one evaluation of the likelihood of n observations, the Cholesky
/// factorisation of its covariance matrix alone, LAPACK's with all threads, and (once) the same evaluation with GSL's
/// Bessel function instead of the table. On several nodes only the first two.
[[nodiscard]] nlohmann::ordered_json geo_benchmark(StarpuEngine& engine, const GeoBenchOptions& options);

}  // namespace tesela::bench
