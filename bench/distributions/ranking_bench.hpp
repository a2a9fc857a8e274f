#pragma once

#include "computed_table.hpp"

#include "tesela/base/index.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/platform/platform.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// The platform whose nodes are compared unless another is given.
inline constexpr const char* ranked_platform = "grid5000-lille";

/// What `tesela bench ranking` computes: whether the figures of `tesela dist compare` rank families as simulated runs
/// do.
struct RankingOptions {
    Index tiles = 60;
    Index tile = 960;
    std::vector<Operation> operations{Operation::cholesky, Operation::lu, Operation::product};
    std::vector<std::string> nodes{"6che+6chi+2cho", "4che+4chi", "2chi+1cho"};  ///< of the platform
    std::string table;                                                           ///< CSV file to write; none: empty
};

/// Kendall's τ-b of two lists of the same length: 1 where they order alike, -1 where one is the other's reverse.
[[nodiscard]] double kendall_tau(const std::vector<double>& a, const std::vector<double>& b);

/// For each operation and choice of nodes a row per family: its figures, and makespans simulated without and with
/// communication. {"rows", "cases": [{"kernel", "nodes", "tau_…"}, …], "checks"}: τ of max_load, of step_imbalance
/// (each step waits for the one before) and of steps with the makespans without communication; of steps, and of steps
/// with the time of the busiest interface added, with those with communication. The bar is τ ≥ 0.8 of steps without
/// communication on the first choice of nodes.
[[nodiscard]] nlohmann::ordered_json ranking_benchmark(const Platform& platform, const RankingOptions& options);

/// ranking.csv, made with these defaults.
[[nodiscard]] std::vector<ComputedTable> ranking_tables();

}  // namespace tesela::bench
