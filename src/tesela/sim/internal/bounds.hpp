#pragma once

#include "tesela/sim/internal/cluster.hpp"
#include "tesela/sim/internal/section.hpp"

namespace tesela::sim {

/// Seconds that the tasks of a section take at least, dependencies aside: the largest over the nodes, since tasks do
/// not change their node.
///
/// Let a node have n_g workers of kind g, d_vg the seconds of task v there, x_vg = 1 if v runs there, and T the length
/// of any schedule. Workers of kind g are busy for Σ_v d_vg·x_vg ≤ n_g·T. For any weights y_g ≥ 0 with Σ_g n_g·y_g = 1,
///     T = Σ_g y_g·n_g·T ≥ Σ_g y_g·Σ_v d_vg·x_vg ≥ Σ_v min_g y_g·d_vg ,
/// so every y gives a bound; with one or two kinds the best y gives the optimum of the fractional assignment (linear
/// programming duality), with more a good one is searched for. A GPU that shares itself among streams counts as one
/// worker at full rate.
[[nodiscard]] double area_bound(const Section& section, const Cluster& cluster, const Durations& durations);

}  // namespace tesela::sim
