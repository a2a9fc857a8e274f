#pragma once

#include "tesela/base/index.hpp"

namespace tesela {

/// A tile size for dense factorisations of order n on this many cores in all: small enough that every core has work
/// to the end, large enough that kernels run near the speed of a large product. Measured, see docs/architecture.md.
[[nodiscard]] Index automatic_tile_size(Index n, Index cores);

/// A tile size for a Cholesky factorisation of order n on compressed tiles of this average rank off the diagonal, on so
/// many nodes: where the critical path takes as long as all other work divided among them (paper 004, equation (2)).
/// Throws Error unless all are above 0.
[[nodiscard]] Index low_rank_tile_size(Index n, double rank, Index nodes);

/// For Cholesky of a compressed covariance matrix on the cores of one node, where nothing is known of its ranks: 6·√n,
/// the best of three sizes for 40,000 points with an exponential covariance in the plane, on two cores.
[[nodiscard]] Index automatic_compressed_tile_size(Index n);

}  // namespace tesela
