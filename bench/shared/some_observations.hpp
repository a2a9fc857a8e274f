#pragma once

#include "tesela/geo/sample.hpp"

#include <cmath>

namespace tesela::bench {

/// Random points in the unit square with a value each, for what depends on neither.
[[nodiscard]] inline geo::Observations some_observations(Index n) {
    geo::Observations data{.coordinates = geo::random_points(n, 1), .values = {}};
    for (Index i = 0; i < n; ++i) data.values.push_back(std::sin(static_cast<double>(i)));
    return data;
}

}  // namespace tesela::bench
