#pragma once

#include "tesela/distribution/distribution.hpp"

namespace tesela {

/// The tiles with |i - j| < width of `inner`, the others of `outer`. Throws Error unless both have the same grid and
/// number of nodes and width ≥ 0.
[[nodiscard]] Distribution band(Index width, const Distribution& inner, const Distribution& outer);

/// Paper 004's hybrid data distribution: two superposed block-cyclics, the squarest grid outside the band and 1 x P
/// within, so that the dense diagonal tiles are spread over all P nodes and not over lcm(p, q) of them. A column's band
/// tiles stay together, which keeps the solve beside the factor.
[[nodiscard]] Distribution band_hybrid(GridSize tiles, Index nodes, Index width = 1);

}  // namespace tesela
