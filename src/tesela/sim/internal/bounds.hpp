#pragma once

#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/section.hpp"

namespace tesela::sim {

/// Seconds that the tasks of a section take at least, dependencies aside: the largest over the nodes, since tasks do
/// not change their node, of what its workers take for them if they could be divided (least_seconds). A GPU that shares
/// itself among streams counts as one worker at full rate.
[[nodiscard]] double area_bound(const Section& section, const Cluster& cluster, const Durations& durations);

}  // namespace tesela::sim
