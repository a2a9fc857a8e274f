#pragma once

#include "tesela/base/index.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace tesela::mds {

/// Where element (i, j) stands in a matrix of so many rows that is kept column by column.
[[nodiscard]] inline std::size_t at(Index i, Index j, Index rows) { return static_cast<std::size_t>(i + j * rows); }

[[nodiscard]] inline double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace tesela::mds
