#pragma once

#include <functional>
#include <vector>

namespace tesela::calibration {

/// Cores that this process may use, by its affinity mask; empty where it cannot be asked.
[[nodiscard]] std::vector<int> usable_cores();

/// Runs `work(0)`, …, `work(threads - 1)` at the same time, each on a thread of its own, and returns when all have
/// ended. As many threads as usable cores are bound to one each; fewer may share the machine with other processes,
/// which would bind theirs to the same cores. The work must not throw.
void run_crew(int threads, const std::function<void(int)>& work);

}  // namespace tesela::calibration
