#pragma once

#include "tesela/cli/geo_options.hpp"

#include <nlohmann/json.hpp>

namespace tesela::bench {

struct GradientBenchOptions {
    cli::RunOptions run;
    Index n = 2000;
    double smoothness = 1.23;
    int repetitions = 10;
    geo::OverlapChoice overlap = geo::Overlap::order;
    double most_likelihoods = 3.5;
};

/// Times in turn, and keeps the best of each: the likelihood of n observations alone, and likelihood and gradient. What
/// both take together, in likelihoods, is checked.
[[nodiscard]] nlohmann::ordered_json gradient_benchmark(StarpuEngine& engine, const GradientBenchOptions& options);

}  // namespace tesela::bench
