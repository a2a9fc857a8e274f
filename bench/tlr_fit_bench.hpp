#pragma once

#include "tesela/apps/geo/tile_accuracy.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/kernels/covariance.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace tesela::bench {

struct TlrFitOptions {
    cli::RunOptions run;
    Index n = 4000;
    std::uint64_t seed = 3;
    CovarianceFamily family = CovarianceFamily::exponential;
    CovarianceParameters truth{.sigma2 = 1, .range = 0.1, .smoothness = 1, .nugget = 0.05};
    double accuracy = geo::TileAccuracy{}.accuracy;
};

/// Fits all parameters of the family to a sampled field twice, with the exact matrix and with the compressed one:
/// estimates, seconds, and by how much the exact log-likelihood at the second optimum is below that at the first.
[[nodiscard]] nlohmann::ordered_json tlr_fit_benchmark(StarpuEngine& engine, const TlrFitOptions& options);

}  // namespace tesela::bench
