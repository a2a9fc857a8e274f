#pragma once

#include "tesela/base/index.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace tesela {

/// What `tesela bench matern` measures, on one core.
struct MaternBenchOptions {
    std::vector<double> smoothness{0.05, 0.1, 0.3, 0.5, 0.75, 0.9, 1, 1.23, 1.5, 2, 2.5, 3.3, 4, 5};
    Index tile = 640;              // points per tile side
    Index repetitions = 20;        // of the tile by table; the best counts
    Index accuracy_points = 1000;  // arguments at which the table is compared with multiprecision
};

/// For each smoothness: what a table costs to build, the covariances per second of a whole tile (distances, square
/// roots, covariances) with it and with GSL's Bessel function, and the table's largest relative error for x log-uniform
/// in [1e-10, 700] against 50-digit arithmetic. For each family: the elements per second of a tile, and of one of its
/// derivatives, at each level of vector instructions in turn, and the largest error against 50 digits beside that of
/// libm's functions. Throws Error for a tile or counts below 1.
[[nodiscard]] nlohmann::ordered_json matern_benchmark(const MaternBenchOptions& options);

}  // namespace tesela
