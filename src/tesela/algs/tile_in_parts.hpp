#pragma once

#include "tesela/flow/matrix.hpp"

#include <cstdint>

namespace tesela {

/// How one tile is factorised as tiles of its own, by tasks that stand for one task of the algorithm around them.
struct TileInParts {
    Index rows = 0;       ///< of the tiles within the tile; the last has what is left
    Index first_row = 0;  ///< of the tile's matrix, in what a bad pivot is reported of
    /// Of all these tasks, which are critical.
    std::int32_t step = 0;
    std::int32_t priority = 0;
};

/// Paper 004's hierarchical POTRF (section III-C): A := L of one tile, on the cores of the node that owns it. Its lower
/// triangle is copied into a matrix with smaller tiles and each of them back when it is final.
template <class T>
void potrf_in_parts(Stream& s, const TileOf<T>& tile, const TileInParts& how);

extern template void potrf_in_parts(Stream&, const TileOf<float>&, const TileInParts&);
extern template void potrf_in_parts(Stream&, const TileOf<double>&, const TileInParts&);

}  // namespace tesela
