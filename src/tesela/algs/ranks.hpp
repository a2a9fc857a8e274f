#pragma once

#include "tesela/distribution/weights.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

/// The ranks of a matrix's tiles at this point of the stream, on every node; tiles that are not stored have rank 0.
/// Waits for them. On engines without data all are 0.
[[nodiscard]] RankMap tile_ranks(Stream& s, const Matrix<double>& A);

/// What a map of ranks amounts to.
struct RankSummary {
    double mean = 0;  ///< of the tiles that are stored as U·Vᵀ
    Index largest = 0;
    double singles = 0;    ///< of their columns, the share in single precision
    Index compressed = 0;  ///< how many these are, of all that are stored
    Index tiles = 0;
    double bytes = 0;  ///< of all tiles
    double dense_bytes = 0;
};
[[nodiscard]] RankSummary summarise_ranks(const RankMap& ranks, const Tiling& tiling, Stored stored);

}  // namespace tesela
