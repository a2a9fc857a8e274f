#pragma once

#include "computed_table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct Paper004Options {
    /// ranks: those that all others are simulated with, sampled anew; switches: what each gains.
    std::vector<std::string> figures{"switches", "1", "I", "3", "4a", "4b"};
    std::string folder = "docs/tables";
};
[[nodiscard]] std::vector<std::string> paper004_figures();
/// Throws Error for a figure that there is not, or a folder.
void check_options(const Paper004Options& options);

/// Paper 004's figures 1, 3, 4a and 4b, table I, and what each of its four optimisations of a compressed Cholesky
/// gains, simulated on nodes of Shaheen II with ranks that are sampled from the matrix itself; as tables and pictures.
/// With those ranks nothing in it depends on the machine that runs it.
[[nodiscard]] nlohmann::ordered_json paper004_benchmark(const Paper004Options& options);

/// Its tables, for check_table(), with the ranks in a folder.
[[nodiscard]] std::vector<ComputedTable> paper004_tables(const std::string& folder);

}  // namespace tesela::bench
