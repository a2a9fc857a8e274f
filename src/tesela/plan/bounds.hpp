#pragma once

#include "tesela/plan/phase_program.hpp"

namespace tesela::plan {

/// Seconds that no run on these groups can go below, whoever owns the tiles: all tasks divided among all workers as
/// suits them best, dependencies and messages aside.
[[nodiscard]] double area_bound(const StepCounts& counts, const std::vector<ResourceGroup>& groups);

/// Seconds of the longest chain of tasks of a recorded stream, each on the worker of the platform that is fastest at
/// it, on tiles with these ranks. Throws Error for a kernel that no worker can run.
[[nodiscard]] double critical_path(const Recording& recording, const Platform& platform, const RankModel& ranks = {});

}  // namespace tesela::plan
