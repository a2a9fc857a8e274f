#pragma once

#include "tesela/kernels/segment.hpp"

#include <cmath>
#include <cstdint>

namespace tesela {

/// What a tile holds where a segment goes.
enum class BeforeSegment : std::uint8_t {
    nothing,  ///< it is the tile's first segment, and what the tile held before is not wanted: the rest is 0
    zeros,    ///< other segments of this redistribution elsewhere, and 0 here
    values    ///< what the segment replaces
};

/// What becomes of a tile that may be stored as U·Vᵀ, after a segment.
enum class AfterSegment : std::uint8_t {
    more,      ///< more segments come
    as_it_is,  ///< the segment is all of the tile and is stored as it came
    compress   ///< it was the last one: the tile is compressed to its accuracy
};

/// A segment of a redistribution in which tiles may be stored as U·Vᵀ.
struct PlaceArguments {
    SegmentArguments segment{};
    BeforeSegment before = BeforeSegment::nothing;
    AfterSegment after = AfterSegment::compress;
};

// A target tile is its segments to the tile's accuracy in the end, so that all that is left out on the way there must
// be less: a tenth of it by compressing dense segments before they travel (they lie beside each other, so that squares
// of errors add up), and the rest at the end. Nothing else is lost.

/// To what accuracy one dense segment of so many is compressed on its way into a tile.
[[nodiscard]] inline double segment_accuracy(double tile, Index segments) {
    return 0.1 * tile / std::sqrt(static_cast<double>(segments));
}
/// To what accuracy the tile is compressed when it has them all.
[[nodiscard]] inline double finished_accuracy(double tile) { return 0.9 * tile; }

/// Segments of tiles of which some are stored as U·Vᵀ: rows of U and rows of V, of which nothing is lost (paper 002
/// §8.7.1). The tile written comes last.
template <class T>
struct CompressedSegments {
    /// (A, piece): the piece, of the segment's size, is the segment as it goes into its target: U·Vᵀ where A is. A
    /// piece that may be stored as U·Vᵀ of an A that has all elements is compressed to the piece's accuracy.
    static const KernelOf<SegmentArguments, const T, T> cut;
    /// (A, B): a segment of A becomes one of B, which is compressed after its last one. Until then U and V of segments
    /// stand side by side, as long as these are fewer numbers than all elements.
    static const KernelOf<PlaceArguments, const T, T> place;
};

extern template struct CompressedSegments<float>;
extern template struct CompressedSegments<double>;

}  // namespace tesela
