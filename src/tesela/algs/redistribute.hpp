#pragma once

#include "tesela/distribution/overlay.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/matrix.hpp"

#include <limits>

namespace tesela {

/// What of a matrix goes where in another, and in what messages.
struct RedistributeOptions {
    /// Rows and columns of the submatrix; less than 0: as many as the source has from its offset on.
    ElementIndex size{-1, -1};
    /// Its first element, in the views that are given.
    ElementIndex from_offset{};
    ElementIndex to_offset{};

    /// Messages between two nodes under way at a time, at most; 0 means all.
    Index batch = 8;
    /// Segments smaller than this travel together with others between the same two nodes; larger ones are split.
    Index message_bytes = Index{1} << 20U;
    /// Tiles that travel as a whole do so alone from this many bytes on (0: all), without a copy into a buffer and out
    /// of it.
    Index whole_tile_bytes = default_whole_tile_bytes;
    /// Of its tasks: high, so that what follows can start.
    std::int32_t priority = std::numeric_limits<std::int32_t>::max() - 1;
};

/// Copies a submatrix of one matrix into another, whatever their tiles and owners: element (i, j) after `from_offset`
/// becomes element (i, j) after `to_offset`. Views may be transposed; of a triangle only the triangle moves. It is part
/// of the stream: work on a target tile starts when that tile is complete. Throws Error before anything is submitted
/// if the submatrix is not inside both, the types differ, or both share a tile.
/// Compressed matrices, on one side or both: tiles that are cut alike go as they are stored, with the bytes of their
/// ranks (compressed anew only where the target is coarser); others are put together from rows of U and V and differ
/// from them by the target's accuracy at most. It is made of tasks then, and of the options only the submatrix, `batch`
/// and `priority` have an effect.
template <class T>
void redistribute(Stream& stream, const MatrixView<T>& from, const MatrixView<T>& to,
                  const RedistributeOptions& options = {});

/// Gives the tiles of a matrix to other owners, tile by tile, as part of the stream. Throws Error unless the
/// distribution has the matrix's grid and nodes that exist.
template <class T>
void redistribute(Stream& stream, const MatrixView<T>& matrix, const Distribution& to);

/// The overlay that a redistribution of these views has: for counting and planning without data.
template <class T>
[[nodiscard]] Overlay redistribution_overlay(const MatrixView<T>& from, const MatrixView<T>& to,
                                             const RedistributeOptions& options = {});

extern template void redistribute(Stream&, const MatrixView<float>&, const MatrixView<float>&,
                                  const RedistributeOptions&);
extern template void redistribute(Stream&, const MatrixView<double>&, const MatrixView<double>&,
                                  const RedistributeOptions&);
extern template void redistribute(Stream&, const MatrixView<float>&, const Distribution&);
extern template void redistribute(Stream&, const MatrixView<double>&, const Distribution&);
extern template Overlay redistribution_overlay(const MatrixView<float>&, const MatrixView<float>&,
                                               const RedistributeOptions&);
extern template Overlay redistribution_overlay(const MatrixView<double>&, const MatrixView<double>&,
                                               const RedistributeOptions&);

}  // namespace tesela
