#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

struct PhasesOptions {
    std::vector<Index> tiles{60, 101, 180};
    int repetitions = 3;
    double most_seconds = 2;
};

/// The linear program of the phases of a likelihood evaluation on the four kinds of nodes of Lille, six groups of
/// workers: how long it takes, best of some, and how well its dual proves it.
[[nodiscard]] nlohmann::ordered_json phases_benchmark(const PhasesOptions& options);

struct Figure12Options {
    Index tiles = 101;
    std::string folder = "docs/tables";
};

/// Figure 12 of paper 000: iterations, occupation and memory of an evaluation by the linear program with its
/// constrained distribution, on 6 Chetemis and 6 Chifflets, with 2 Chifflots, and with Chetemis left out of Cholesky.
[[nodiscard]] nlohmann::ordered_json figure12_benchmark(const Figure12Options& options);

}  // namespace tesela::bench
