#pragma once

#include "tesela/base/index.hpp"
#include "tesela/distribution/tiling.hpp"
#include "tesela/kernels/tile.hpp"

#include <functional>

namespace tesela {

/// A tile size for dense factorisations of order n on this many cores in all: small enough that every core has work
/// to the end, large enough that kernels run near the speed of a large product. Measured, see docs/architecture.md.
[[nodiscard]] Index automatic_tile_size(Index n, Index cores);

/// Tiles for QR of a matrix of this size on this many cores in all: square ones; or, where it is so much higher than
/// wide that one column of tiles is enough, all columns in tiles that fit into a core's cache, as many as keep the
/// cores busy.
[[nodiscard]] Tiling qr_tiling(ElementIndex size, Index cores);

/// The average rank of compressed tiles of so many rows, and that of tiles so many tiles below the diagonal.
using MeanRank = std::function<double(Index tile)>;
using RankAt = std::function<double(Index tile, Index distance)>;

/// A tile size for a Cholesky factorisation of order n on compressed tiles, on so many nodes: where the critical path
/// takes as long as all other work divided among them (paper 004, equation (2)). The average rank depends on the size:
/// the equation is iterated until it settles, 100 times at most. Throws Error unless all are above 0.
[[nodiscard]] Index low_rank_tile_size(Index n, Index nodes, const MeanRank& rank);

/// How a compressed matrix is cut, and how many diagonals of tiles from the main one on are stored whole.
struct CompressedCut {
    Index tile = 1;
    Index band = 1;
    friend bool operator==(const CompressedCut&, const CompressedCut&) = default;
};

/// What it costs to compute a tile of covariances and to compress it, in operations of a product that take as long: all
/// its elements are computed and compared, and crosses besides. Its rank is what it came to; dense_rank: that it does
/// not compress is found out early.
[[nodiscard]] double compression_cost(const TileShape& tile);

/// What generation and Cholesky factorisation of a matrix of order n with all its elements cost, likewise.
[[nodiscard]] double dense_cholesky_cost(Index n);

/// What generation and Cholesky factorisation of order n cut like that cost on so many workers: operations of kernels
/// with the ranks that tiles have before it, where those that recompress count more since they run more slowly, divided
/// among the workers, and what of the critical path the others wait for.
[[nodiscard]] double compressed_cholesky_cost(Index n, const CompressedCut& cut, Index workers, const RankAt& rank);

/// Bytes of its tiles on and below the diagonal, likewise.
[[nodiscard]] double compressed_bytes(Index n, const CompressedCut& cut, const RankAt& rank);

/// The cheapest by compressed_cholesky_cost of sizes that are a quarter apart and bands of 1 to 4; of `given` as far as
/// it is not 0. Where the dense matrix would take more than 4 GB, only such as take no more than 17 % of that, if there
/// are any. Equation (2) takes it that workers are many and wait for the critical path; with few it is the work
/// itself that is to be small.
[[nodiscard]] CompressedCut cheapest_compressed_cut(Index n, Index workers, const RankAt& rank,
                                                    const CompressedCut& given = {0, 0});

}  // namespace tesela
