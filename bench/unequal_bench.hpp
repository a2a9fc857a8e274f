#pragma once

#include "tesela/cli/geo_options.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct UnequalOptions {
    cli::RunOptions run;
    Index n = 4000;
    double smoothness = 1.23;
    geo::OverlapChoice overlap = geo::Overlap::order;
    /// Nodes that generate with GSL's Bessel function.
    std::vector<Index> gsl_nodes{};
    int rounds = 9;
    /// Evaluations in which the plan is corrected before anything is compared.
    Index warm_up = 12;
    double budget = 5;
    /// Instead: so many evaluations, of which the first node loses half its processor time at this one; 0: none.
    Index halve_at = 0;
    Index evaluations = 60;
    /// CSV file for the results, in which rows of other cases stay.
    std::string table{};
    std::string name = "nodes as they are";
};

/// Evaluations of a likelihood on nodes that differ (bench/cluster/run.sh with QUOTAS): strategies by measured nodes in
/// turn, beside what the simulator expects of them; or how soon a plan follows a node that has become slower.
[[nodiscard]] nlohmann::ordered_json unequal_benchmark(StarpuEngine& engine, const UnequalOptions& options);

}  // namespace tesela::bench
