#pragma once

#include "tesela/base/index.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/platform/platform.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// What `tesela bench ranking` computes: whether the figures of `tesela dist compare` rank families as simulated runs
/// do.
struct RankingOptions {
    Index tiles = 60;
    Index tile = 960;
    Operation operation = Operation::cholesky;
    std::string table;  ///< CSV file to write; none: empty
};

/// Kendall's τ-b of two lists of the same length: 1 where they order alike, -1 where one is the other's reverse.
[[nodiscard]] double kendall_tau(const std::vector<double>& a, const std::vector<double>& b);

/// A row per family, and τ of `steps` (and of `max_load`) with the makespans simulated without and with communication:
/// {"rows", "tau_…", "checks"}. The bar is τ ≥ 0.8 of steps without communication.
[[nodiscard]] nlohmann::ordered_json ranking_benchmark(const Platform& platform, const RankingOptions& options);

}  // namespace tesela::bench
