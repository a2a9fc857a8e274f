#pragma once

#include "tesela/kernels/specimen.hpp"

#include <vector>

namespace tesela::cli {

/// Calls of all kernels that operations of the command submit, to be timed.
[[nodiscard]] std::vector<Specimen> all_specimens();

}  // namespace tesela::cli
