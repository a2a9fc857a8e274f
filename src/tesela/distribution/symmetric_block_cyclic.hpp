#pragma once

#include "tesela/distribution/distribution.hpp"

#include <vector>

namespace tesela {

/// Whether `sbc` can use exactly this number of nodes: r(r-1)/2, or r²/2 with r even.
[[nodiscard]] bool fits_symmetric_block_cyclic(Index nodes);

/// `sbc`, for Cholesky (Beaumont, Duchon, Eyraud-Dubois, Langou, Vérité: Symmetric Block-Cyclic Distribution, SC 2022).
/// Nodes are the unordered pairs {a, b} of 0 … r-1, and tile (i, j) belongs to {i mod r, j mod r}. A tile of the panel
/// is needed along a row and along the column of the same number, and both meet the same r - 1 nodes, where a
/// block-cyclic grid of p x q has p + q - 1.
///
/// The tiles with i ≡ j mod r have no pair: with P = r(r-1)/2 (extended) they go in turn to the nodes that contain
/// i mod r, a different one in every repetition of the pattern; with P = r²/2 (basic, r even) to r/2 nodes of their
/// own. Throws Error, naming the nearest numbers that fit, for any other number of nodes.
[[nodiscard]] Distribution symmetric_block_cyclic(GridSize tiles, Index nodes);

}  // namespace tesela
