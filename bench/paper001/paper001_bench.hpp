#pragma once

#include "computed_table.hpp"

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct Paper001Options {
    Index seeds = 10;
    Index largest = 90;  ///< tile rows: the paper's 30, 60 and 90 up to this
    std::vector<std::string> figures{"4", "5", "6", "7", "8", "hybrid"};
    std::string folder = "docs/tables";
};

/// Figures of paper 001 as tables with a row per seed, their means and pictures.
///   4, 5    load, makespan with dependencies and makespan with communication over the ideal for the product (4) and LU
///           (5): block-cyclic, bce and rs on 12, 30 and 90 nodes
///   6, 7    dispersion of the loads of nodes and of the cells of the pattern of block-cyclic and bce, product and LU
///   8       34 nodes, which fit no grid
///   hybrid  not the paper's: bce, rs and hybrid for LU on numbers of nodes that fit no grid, with bars; the seeds are
///           others than those of the figures, which the hybrid was made with
[[nodiscard]] nlohmann::ordered_json paper001_benchmark(const Paper001Options& options);

/// The tables of it, which can be made again row by row.
[[nodiscard]] std::vector<ComputedTable> paper001_tables();

}  // namespace tesela::bench
