#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct SimulateBenchOptions {
    std::vector<Index> tasks{10'000, 100'000, 1'000'000};
    std::string platform = "grid5000-lille";
    std::string nodes = "6che+6chi+2cho";
    /// "ports", "simgrid", or both if empty.
    std::string network;
    int repetitions = 5;
    double most_seconds = 1.5;  ///< the limit: seconds for a million tasks, with ports
    std::string table;
};

/// How long the simulator takes, and how much memory, for Cholesky with about so many tasks: the walk of the algorithm
/// alone, the whole simulation, and that of a recording which was made with other owners.
[[nodiscard]] nlohmann::ordered_json simulate_benchmark(const SimulateBenchOptions& options);

}  // namespace tesela::bench
