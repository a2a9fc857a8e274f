#pragma once

#include "tesela/distribution/overlay.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/matrix.hpp"

#include <limits>

namespace tesela {

/// How segments travel: by Engine::exchange, in bulk; or as tasks that every engine sees one by one.
enum class RedistributionPath : std::uint8_t { exchange, tasks };

/// What of a matrix goes where in another, and the optimisations of paper 002 as switches.
struct RedistributeOptions {
    /// Rows and columns of the submatrix; less than 0: as many as the source has from its offset on.
    ElementIndex size{-1, -1};
    /// Its first element, in the views that are given.
    ElementIndex from_offset{};
    ElementIndex to_offset{};

    RedistributionPath path = RedistributionPath::exchange;
    /// Messages between two nodes under way at a time, at most; 0 means all. 002's `batch` is `batch_columns`.
    Index batch = 8;
    /// Source tile columns whose messages are under way at a time: a node sends those of the next so many columns when
    /// all that it sent of these have arrived; 0 means all. 002's `batch` (§6.2.1), which bounds the tasks that a
    /// runtime sees at once; memory and queues are bounded better by messages, so it is off unless asked for.
    Index batch_columns = 0;
    /// Segments smaller than this travel together with others between the same two nodes; larger ones are split.
    Index message_bytes = Index{1} << 20U;
    /// Tiles that travel as a whole do so alone from this many bytes on (0: all), without a copy into a buffer and out
    /// of it. Without effect on the path `tasks`, where every message is a buffer.
    Index whole_tile_bytes = default_whole_tile_bytes;
    /// Segments of one target tile land at the same time (002 §6.2.1). Off needs the path `tasks`.
    bool isolate_segments = true;
    /// Only the bytes of a segment travel, and not its whole source tile (002 §6.2.2). Off needs the path `tasks`.
    bool dynamic_volume = true;
    /// Every worker hands the messages it packed to the network (002 §6.2.3). Without effect on the path `tasks`.
    bool multiple_send = true;
    /// Of its tasks: high, so that what follows can start.
    std::int32_t priority = std::numeric_limits<std::int32_t>::max() - 1;
};

/// Copies a submatrix of one matrix into another, whatever their tiles and owners: element (i, j) after `from_offset`
/// becomes element (i, j) after `to_offset`. Views may be transposed; of a triangle only the triangle moves. It is part
/// of the stream: work on a target tile starts when that tile is complete. Throws Error before anything is submitted
/// if the submatrix is not inside both, the types differ, or both share a tile.
/// Compressed matrices, on one side or both: tiles that are cut alike go as they are stored, with the bytes of their
/// ranks (compressed anew only where the target is coarser); others are put together from rows of U and V and differ
/// from them by the target's accuracy at most. It is made of tasks then, whatever the path, and of the options below
/// `path` only `batch` and `priority` have an effect.
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
