#pragma once

#include "tesela/distribution/distribution.hpp"

#include <cstdint>

namespace tesela {

/// A grid of p x q nodes laid cyclically over super-tiles of super_rows x super_cols tiles (SMB, SNB of paper 002).
struct BlockCyclic {
    Index p = 1;
    Index q = 1;
    Index super_rows = 1;
    Index super_cols = 1;
};

/// Tile (i, j) belongs to node (⌊i/super_rows⌋ mod p)·q + (⌊j/super_cols⌋ mod q).
[[nodiscard]] Distribution block_cyclic(GridSize tiles, const BlockCyclic& grid);
/// The block-cyclic distribution of the squarest p x q with p·q = nodes, p ≤ q.
[[nodiscard]] Distribution squarest_block_cyclic(GridSize tiles, Index nodes);
/// Each tile to a node drawn uniformly: a function of the seed and the tile alone.
[[nodiscard]] Distribution random_distribution(GridSize tiles, Index nodes, std::uint64_t seed);
/// A column of tiles that follows the diagonal of a square grid: where right-hand sides of a solve live.
[[nodiscard]] Distribution along_diagonal(const Distribution& matrix, Index cols);

}  // namespace tesela
