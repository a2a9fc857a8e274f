#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <vector>

namespace tesela {

/// What the hybrid takes; the same limit ⌈α√P⌉ of nodes per row and column as `bce` and `rs`.
struct HybridPattern {
    Index nodes = 1;
    double alpha = 1;
    Index patterns = 48;  ///< how many of the best `bce` patterns are repaired
    double regularity =
        0.25;              ///< what counts is load + regularity · step imbalance; look-ahead hides most of the latter
    Index scheduled = 12;  ///< of how many of the best the makespans are computed
    std::vector<double> powers{};  ///< of the nodes; none: equal
};

/// `hybrid`: the distribution that paper 001 asks for in its conclusion, as regular as `bce` on any number of nodes.
///
/// A `bce` pattern is laid over the grid. Its rows and columns are then read as the subsets of `rs`: a tile may go to
/// any node that its pattern row and its pattern column share (both filled up to the limit with the nodes that have
/// least), which keeps the limit. Nodes above their share (of the power) give tiles to nodes below it, each at an even
/// rate along the steps of the factorization, as in algorithm 2 of paper 000, so that what the pattern spreads evenly
/// over the steps stays so. Several patterns are repaired; those with the least maximum load + regularity · step
/// imbalance (distribution/metrics.hpp) are scheduled without communication, and of them the one is kept with the least
/// sum of two makespans: by the urgency of the algorithms' priorities and by that of the longest path
/// (distribution/step_schedule.hpp). An allocation that is good under one rule alone is luck: paper 001's 𝔇 follows the
/// one, runs the other. Beyond 128 tile rows, and for a product, the first figure decides.
[[nodiscard]] Distribution hybrid_pattern(const Workload& workload, const HybridPattern& options);

}  // namespace tesela
