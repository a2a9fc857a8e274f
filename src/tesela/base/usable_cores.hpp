#pragma once

#include <vector>

namespace tesela {

/// Numbers of the cores that this thread may use, by its affinity mask; empty where it cannot be asked.
[[nodiscard]] std::vector<int> usable_cores();

}  // namespace tesela
