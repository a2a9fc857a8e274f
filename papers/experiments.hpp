#pragma once

#include "harness/computed_table.hpp"
#include "harness/experiment.hpp"

#include <string>
#include <vector>

/// Tables and figures of the papers, each defined in the file of its name.
namespace tesela::bench {

[[nodiscard]] Experiment distributions();
[[nodiscard]] Experiment ranking();
[[nodiscard]] Experiment paper000();
[[nodiscard]] Experiment strategies();
[[nodiscard]] Experiment phases();
[[nodiscard]] Experiment figure12();
[[nodiscard]] Experiment mds_steps();
[[nodiscard]] Experiment unequal();
[[nodiscard]] Experiment paper001();
[[nodiscard]] Experiment paper002();
[[nodiscard]] Experiment paper004();
[[nodiscard]] Experiment tlr_ranks();
[[nodiscard]] Experiment tlr_switches();
[[nodiscard]] Experiment tlr_distributions();
[[nodiscard]] Experiment recovery();
[[nodiscard]] Experiment tables();

/// Tables that are computed and can be made again row by row, for tables().
[[nodiscard]] std::vector<ComputedTable> distribution_tables();
[[nodiscard]] std::vector<ComputedTable> ranking_tables();
[[nodiscard]] std::vector<ComputedTable> paper000_tables();
[[nodiscard]] std::vector<ComputedTable> strategies_tables();
[[nodiscard]] std::vector<ComputedTable> paper001_tables();
[[nodiscard]] std::vector<ComputedTable> paper002_computed_tables();
[[nodiscard]] std::vector<ComputedTable> paper004_tables(const std::string& folder);

}  // namespace tesela::bench
