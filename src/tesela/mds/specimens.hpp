#pragma once

#include "tesela/kernels/specimen.hpp"

#include <vector>

namespace tesela::mds {

/// Calls of the kernels that multidimensional scaling has beside the dense ones, to be timed.
[[nodiscard]] std::vector<Specimen> specimens();

}  // namespace tesela::mds
