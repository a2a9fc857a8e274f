#pragma once

#include "tesela/kernels/specimen.hpp"

#include <vector>

namespace tesela::geo {

/// Calls of the kernels that Gaussian processes have beside the dense ones, to be timed.
[[nodiscard]] std::vector<Specimen> specimens();

}  // namespace tesela::geo
