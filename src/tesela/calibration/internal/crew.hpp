#pragma once

#include <functional>
#include <vector>

namespace tesela::calibration {

/// Runs `work(0)`, …, `work(threads - 1)` at the same time, each on a thread of its own, and returns when all have
/// ended. They are bound to the cores given, if those are enough; otherwise as many threads as usable cores are bound
/// to one each, and fewer to none: other processes would bind theirs to the same cores. The work must not throw.
void run_crew(int threads, const std::function<void(int)>& work, const std::vector<int>& cores = {});

}  // namespace tesela::calibration
