#pragma once

#include <functional>
#include <vector>

namespace tesela::bench {

/// What each of some functions returns, each in a process of its own, as many at a time as this machine has cores: for
/// libraries that can be used once in a process. The caller has started no threads. Throws Error for one that failed,
/// whose own message is on standard error.
[[nodiscard]] std::vector<double> in_children(const std::vector<std::function<double()>>& work);

}  // namespace tesela::bench
