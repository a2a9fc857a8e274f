#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/tiling.hpp"
#include "tesela/distribution/weights.hpp"

#include <span>
#include <vector>

namespace tesela {

/// Sum of the weights of each node's tiles: paper 001's load, whose maximum is 𝔅.
[[nodiscard]] std::vector<double> node_loads(const Distribution& distribution, const TileMap& weights);
/// Stored tiles of each node.
[[nodiscard]] std::vector<Index> tile_counts(const Distribution& distribution, Stored stored);

/// How well loads fit powers; equal powers when none are given.
struct LoadSummary {
    double max_over_ideal = 1;  ///< the largest load / (total · the node's share of the power); 1 is perfect
    double dispersion = 0;      ///< standard deviation / mean of load / power (paper 001, section 6.1)
};
/// Throws Error where there are neither none nor as many powers as loads.
[[nodiscard]] LoadSummary summarise_loads(std::span<const double> loads, std::span<const double> powers = {});
/// The same of times that nodes take, one per node, where all together could have taken `ideal`; 1 and 0 for no work.
[[nodiscard]] LoadSummary summarise_times(std::span<const double> times, double ideal);
/// Standard deviation over mean; 0 for no load.
[[nodiscard]] double dispersion(std::span<const double> loads);

/// Distinct nodes among the stored tiles of each tile row (column): who takes part in its broadcasts.
[[nodiscard]] std::vector<Index> nodes_per_row(const Distribution& distribution, Stored stored = Stored::full);
[[nodiscard]] std::vector<Index> nodes_per_column(const Distribution& distribution, Stored stored = Stored::full);

/// Regularity: Σ_k max_p (work of step k on node p)/power_p over Σ_k (work of step k)/Σ_p power_p. It is the makespan
/// over the ideal if no step began before all nodes had finished the one before: 1 when every step is shared as the
/// powers are, and never below LoadSummary::max_over_ideal of the same workload and powers. Paper 001 (section 5.2)
/// blames the lack of it for the idle time of random subsets in LU. Equal powers when none are given. Real runs do not
/// wait for whole steps: for what they would take without communication see step_makespan (step_schedule.hpp).
[[nodiscard]] double step_imbalance(const Distribution& distribution, const Workload& workload,
                                    std::span<const double> powers = {});

/// Bytes of each node's stored tiles: rows·cols elements, or (rows + cols)·rank for a tile of known rank.
struct MemoryQuestion {
    Tiling tiling;
    std::vector<Index> ranks;  ///< row by row; negative is stored whole; none: all tiles are
    Stored stored = Stored::full;
    Index element_bytes = 8;
};
[[nodiscard]] std::vector<double> node_memory(const Distribution& distribution, const MemoryQuestion& question);

/// Stored tiles whose owner changes, and the least number that reaches the same tile counts: Σ max(0, from - to).
struct Moves {
    Index moved = 0;
    Index minimum = 0;
};
[[nodiscard]] Moves count_moves(const Distribution& from, const Distribution& to, Stored stored = Stored::full);

}  // namespace tesela
