#pragma once

#include "tesela/kernels/covariance.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

struct RecoveryOptions {
    Index n = 1600;
    Index seeds = 20;
    CovarianceParameters truth{.sigma2 = 1, .range = 0.1, .smoothness = 1, .nugget = 0.1};
    /// Compare the fits' standard errors with the spread of their estimates instead of the estimates with the truth.
    bool errors = false;
    /// Where the estimates of each seed go, as CSV; nowhere if empty.
    std::string table;
};

/// Samples a Matérn field for each seed, fits all four parameters to it, and compares the estimates with the truth: per
/// parameter the mean and the spread (standard deviation) over the seeds, the error of the mean and the largest error
/// of a seed in units of the spread, and whether they stay within 0.5 and 3 (`recovered`). With `errors`, of the
/// parameters' logarithms: the median of the standard errors from the expected information over the spread of the
/// estimates, which must be within 15 % of 1, and the part of the seeds whose 95 % interval holds the truth.
[[nodiscard]] nlohmann::ordered_json recovery_benchmark(StarpuEngine& engine, const RecoveryOptions& options);

}  // namespace tesela::bench
