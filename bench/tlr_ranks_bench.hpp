#pragma once

#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct TlrRanksOptions {
    cli::RunOptions run;
    Index n = 20000;
    double accuracy = 1e-8;
    /// Some of tlr_rank_cases(); none: all.
    std::vector<std::string> cases{};
    std::string folder = "docs/tables";
};

/// The names that paper 004 has for the matrices of its figure 2.
[[nodiscard]] std::vector<std::string> tlr_rank_cases();

/// Figure 2 of paper 004: the ranks of compressed matrices before and after their Cholesky factorisation, as a picture
/// of each case and a table of all, tlr_ranks.csv. Where one case is run the rows of others stay.
[[nodiscard]] nlohmann::ordered_json tlr_ranks_benchmark(StarpuEngine& engine, const TlrRanksOptions& options);

}  // namespace tesela::bench
