#pragma once

#include "computed_table.hpp"

#include "tesela/base/index.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// What `tesela bench distributions` computes: the tables and pictures of docs/tables about distributions.
struct DistributionsBenchOptions {
    Index seeds = 20;                    // matrices drawn for each case of paper 001
    std::string folder = "docs/tables";  // where the files go; it must exist
    std::vector<std::string> only{};     // some of distribution_bench_parts(); none means all
};

/// Writes the tables and returns the bars they must meet: {"checks": [{"bar", "value", "limit", "met"}, …], "files"}.
/// - paper001_loads.csv, paper001_loads_{gemm,lu}.svg: block-cyclic, bce, rs and hybrid on paper 001's matrices
///   (figures 4 to 7)
/// - paper001_figure8.csv: 34 nodes, which fit no grid
/// - hybrid.csv, hybrid.svg: load and steps of bce, rs and hybrid on numbers of nodes that fit no grid
/// - sbc_transfers.csv: transfers of Cholesky under symmetric block-cyclic and the others
/// - band_memory.csv: table I of paper 004
/// - distribution_times.csv: seconds of a core to make each family for 500 x 500 tiles and 200 nodes
/// - figure3_blocks.svg, figure3_shuffled.svg: a 1D-1D distribution as in figure 3 of paper 000
///
/// Those with seeds have a row per seed, and their means in NAME_means.csv.
[[nodiscard]] nlohmann::ordered_json distributions_benchmark(const DistributionsBenchOptions& options);

/// What can be made alone.
[[nodiscard]] std::vector<std::string> distribution_bench_parts();

/// The tables of it that can be made again row by row.
[[nodiscard]] std::vector<ComputedTable> distribution_tables();

}  // namespace tesela::bench
