#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct Paper001Options {
    Index seeds = 3;
    Index largest = 90;  ///< tile rows: the paper's 30, 60 and 90 up to this
    std::vector<int> figures{4, 5, 8};
    std::string folder = "docs/tables";
};

/// Figures 4, 5 and 8 of paper 001: load, makespan with dependencies and makespan with communication over the ideal,
/// for block-cyclic, bce and rs; as tables and pictures.
[[nodiscard]] nlohmann::ordered_json paper001_benchmark(const Paper001Options& options);

}  // namespace tesela::bench
