#pragma once

#include "computed_table.hpp"

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct Paper000Options {
    std::vector<Index> tiles{60, 101};  ///< tile rows; the paper's workloads
    std::vector<Index> scaling_tiles{75, 100,
                                     200};  ///< the same of figures 5, 9 and 10; the first and the last show the last
    std::vector<int> figures{5, 7, 8, 9, 10};
    std::string folder = "docs/tables";
};

/// Figures 7 and 8 of paper 000: one likelihood evaluation of ExaGeoStat's size under each step of overlap, simulated
/// on the paper's Chifflets (and on SDumont's nodes with GPUs, where the paper shows none), with the costs of memory
/// that its second section names; as table and pictures. Figure 9: the same for multidimensional scaling, with two
/// widths of the random matrix; figures 5 and 10 show such runs. Nothing in them depends on the machine that runs it.
[[nodiscard]] nlohmann::ordered_json paper000_benchmark(const Paper000Options& options);

/// Its tables, for check_table().
[[nodiscard]] std::vector<ComputedTable> paper000_tables();

}  // namespace tesela::bench
