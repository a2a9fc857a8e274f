#pragma once

#include "tesela/base/index.hpp"
#include "tesela/distribution/tiling.hpp"

#include <functional>

namespace tesela {

/// A tile size for dense factorisations of order n on this many cores in all: small enough that every core has work
/// to the end, large enough that kernels run near the speed of a large product. Measured, see docs/architecture.md.
[[nodiscard]] Index automatic_tile_size(Index n, Index cores);

/// Tiles for QR of a matrix of this size on this many cores in all: square ones; or, where it is so much higher than
/// wide that one column of tiles is enough, all columns in tiles that fit into a core's cache, as many as keep the
/// cores busy.
[[nodiscard]] Tiling qr_tiling(ElementIndex size, Index cores);

/// The average rank of compressed tiles of so many rows.
using MeanRank = std::function<double(Index tile)>;

/// A tile size for a Cholesky factorisation of order n on compressed tiles, on so many nodes: where the critical path
/// takes as long as all other work divided among them (paper 004, equation (2)). The average rank depends on the size:
/// the equation is iterated until it settles, 100 times at most. Throws Error unless all are above 0.
[[nodiscard]] Index low_rank_tile_size(Index n, Index nodes, const MeanRank& rank);

}  // namespace tesela
