#pragma once

#include "computed_table.hpp"

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::bench {

/// What is run: a likelihood evaluation, figure 11, or the first phases of multidimensional scaling, figure 13.
enum class StrategiesOf : std::uint8_t { geo, mds };
inline constexpr Names<StrategiesOf, 2> strategies_of_names{{{StrategiesOf::geo, "geo"}, {StrategiesOf::mds, "mds"}}};

struct StrategiesOptions {
    StrategiesOf application = StrategiesOf::geo;
    std::vector<Index> tiles{};       ///< tile rows; none: the paper's workloads
    std::vector<std::string> sets{};  ///< of machines, as 6che+6chi; none: all eighteen
    std::string durations = "gsl";    ///< of the generation: "gsl", or "table" for Tesela's own; mds generates nothing
    Index simulations = 60;           ///< for the plan of each case
    int seeds = 5;
    double noise = 0.05;
    std::string folder = "docs/tables";
};

/// Figures 11 and 13 of paper 000: likelihood evaluations, or multidimensional scaling, on eighteen sets of machines,
/// nine named by the paper's text and nine ours, under its five strategies and ours. Decided with the port model of the
/// network; judged with SimGrid's, durations varied by several seeds, of which the median counts. Cases that the table
/// has already are not simulated again.
[[nodiscard]] nlohmann::ordered_json strategies_benchmark(const StrategiesOptions& options);

/// Its tables, for check_table(): what is decided with, of strategies that no optimiser has a part in.
[[nodiscard]] std::vector<ComputedTable> strategies_tables();

}  // namespace tesela::bench
