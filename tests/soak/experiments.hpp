#pragma once

#include "harness/experiment.hpp"

namespace tesela::bench {

[[nodiscard]] Experiment soak();
[[nodiscard]] Experiment compressed_fit();

}  // namespace tesela::bench
