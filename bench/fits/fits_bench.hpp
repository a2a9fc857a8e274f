#pragma once

#include "tesela/apps/geo/fit.hpp"
#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::bench {

struct FitsOptions {
    /// CSV files with columns x, y and one or more variables.
    std::string folder = "bench/fits/data";
    Index samples = 8;         ///< fields that are sampled beside these
    Index points = 150;        ///< of a sampled field
    Index random_starts = 20;  ///< that each fit is compared with
    std::uint64_t seed = 1;    ///< of samples and starts
    geo::FitOptions fit{};
    std::string table{};  ///< CSV file for the rows; nowhere if empty
};

/// Fits every family with a constant and a linear trend to every variable and sampled field, and compares the maximum
/// with the best that random starts come to: none may end more than 0.01 below, or with a slope that leads on.
[[nodiscard]] nlohmann::ordered_json fits_benchmark(StarpuEngine& engine, const FitsOptions& options);

}  // namespace tesela::bench
