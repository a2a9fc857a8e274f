#pragma once

#include "computed_table.hpp"

#include "tesela/cli/run_options.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// What `tesela bench paper002` computes: the tables and pictures of docs/tables about redistribution.
struct Paper002Options {
    std::string folder = "docs/tables";  ///< where the files go; it must exist
    bool quick = false;                  ///< small sizes: shows that everything works
    int repetitions = 5;
    std::vector<std::string> only{};  ///< experiments by name; none means all
    std::string suffix{};             ///< of the names of files, for nodes that are joined in another way
    cli::RunOptions run{};
};

/// Names of the experiments.
[[nodiscard]] std::vector<std::string> paper002_experiments();

/// Throws Error, before anything is started, if an experiment is unknown or a number cannot be.
void check_options(const Paper002Options& options);

/// Runs the experiments of paper 002 §8 on the nodes at hand and writes redistribution_NAME[SUFFIX].csv and .svg. A run
/// keeps the rows of runs on other numbers of nodes, so that two of them fill the tables. Returns {"nodes",
/// "network_…", "files", "seconds", "checks"}, where the checks are those of bars.hpp, none of a quick run.
[[nodiscard]] nlohmann::ordered_json paper002_benchmark(StarpuEngine& engine, const Paper002Options& options);

/// The tables of it that are simulated, which can be made again row by row.
[[nodiscard]] std::vector<ComputedTable> paper002_computed_tables();

}  // namespace tesela::bench
