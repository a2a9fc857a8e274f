#pragma once

#include "tesela/base/trapezoid.hpp"
#include "tesela/kernels/dense.hpp"

#include <cstddef>
#include <span>

namespace tesela {

/// A part of one tile that becomes a part of another. Where a tile is a packed buffer its place is ignored: packed
/// elements follow each other in the order of the target's columns, from `packed_at` on.
struct SegmentArguments {
    std::int32_t element_bytes = 8;
    Op op = Op::none;  ///< of the source
    Part part = Part::all;
    std::int32_t rows = 0;  ///< of the shape, as it stands in the target
    std::int32_t cols = 0;
    std::int32_t from_i = 0, from_j = 0;
    std::int32_t to_i = 0, to_j = 0;
    Index diagonal = 0;
    Index packed_at = 0;  ///< elements

    [[nodiscard]] Trapezoid shape() const { return {rows, cols, part, diagonal}; }
};

/// Copies one segment; tiles in the order given, the last one is written.
struct SegmentKernels {
    static const KernelOf<SegmentArguments, const void, void> copy;  ///< source tile, target tile
    static const KernelOf<NoArguments, void>
        open;  ///< a tile: gives it memory, so that its parts can be written at the same time
    static const KernelOf<NoArguments, void> close;  ///< a tile: all its parts have been written
};

/// What the kernels do, for engines that keep their own lists of segments. `packed` has room for the shape's elements.
void copy_segment(const Tile& from, const Tile& to, const SegmentArguments& args) noexcept;
void pack_segment(const Tile& from, std::byte* packed, const SegmentArguments& args) noexcept;
void unpack_segment(const std::byte* packed, const Tile& to, const SegmentArguments& args) noexcept;

/// A segment among those of one message, with its place in each of the message's lists of tiles.
struct PlacedSegment {
    SegmentArguments args;  ///< with packed_at: where it begins in the message
    std::uint32_t source = 0;
    std::uint32_t target = 0;
};
/// All segments of a message: the same as one by one.
void copy_segments(std::span<const PlacedSegment> segments, std::span<const Tile> from,
                   std::span<const Tile> to) noexcept;
void pack_segments(std::span<const PlacedSegment> segments, std::span<const Tile> from, std::byte* packed) noexcept;
void unpack_segments(std::span<const PlacedSegment> segments, const std::byte* packed,
                     std::span<const Tile> to) noexcept;

}  // namespace tesela
