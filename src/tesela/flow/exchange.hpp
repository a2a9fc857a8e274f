#pragma once

#include "tesela/distribution/overlay.hpp"
#include "tesela/distribution/redistribution.hpp"
#include "tesela/flow/task.hpp"
#include "tesela/kernels/segment.hpp"

#include <memory>
#include <optional>

namespace tesela {

struct ExchangeOptions {
    /// Small segments between the same two nodes travel together until they have this many bytes; large ones are split.
    Index message_bytes = Index{1} << 20U;
    /// Whole tiles of so many bytes travel alone: see default_whole_tile_bytes.
    Index whole_tile_bytes = default_whole_tile_bytes;
    /// Messages between two nodes that are under way at a time, at most; 0 means all.
    Index in_flight = 8;
    std::int32_t priority = 0;
};

/// Which of the messages between two nodes, by their numbers, must have ended before one may begin, with all before it,
/// so that at most `in_flight` are under way; less than 0: none.
[[nodiscard]] constexpr Index ended_before(Index message, Index in_flight) {
    return in_flight > 0 ? message - in_flight : -1;
}

/// A redistribution as one step of a stream: segments of one matrix become segments of another. Work on a source tile
/// that was submitted before ends first; work on a target tile that is submitted later starts when that tile is
/// complete.
struct Exchange {
    Attachment* from = nullptr;
    Attachment* to = nullptr;
    std::shared_ptr<const Overlay> overlay;
    ExchangeOptions options{};
    PhaseId phase = 0;
};

/// Throws Error if a tile that is needed does not exist or has no value, the types of elements differ, or a tile is
/// both source and target.
void check_exchange(const Exchange& exchange);

/// The messages and copies that an exchange consists of, the same in every engine: all, or those that concern one node.
[[nodiscard]] Parcels exchange_parcels(const Overlay& overlay, const Owners& owners, std::size_t element_bytes,
                                       const ExchangeOptions& options, std::optional<NodeId> concerning = {});

/// The tasks of an exchange by the names that they have in traces and in platforms: a parcel is packed on its node and
/// unpacked on the other, or copied where both are the same.
struct ParcelTaskNames {
    static constexpr const char* pack = "pack";
    static constexpr const char* unpack = "unpack";
    static constexpr const char* copy = "copy";
};
/// One end of the message of a parcel.
enum class ParcelEnd : std::uint8_t { source, target };
/// Whether a parcel that is this one segment stands in one piece in its tile there, in the order in which it travels:
/// then its message leaves from the tile, or arrives in it, without a buffer and without being packed or unpacked. `ld`
/// is the tile's.
[[nodiscard]] bool stands_in_one_piece(const SegmentArguments& segment, ParcelEnd end, Index ld);
/// Bytes of the buffer that any other parcel has at each end while it travels.
[[nodiscard]] std::size_t parcel_buffer_bytes(Index bytes);
/// How many of the tiles of a parcel's task a trace shows, beside the parcel itself.
struct ShownTiles {
    std::size_t sources = 0;
    std::size_t targets = 0;
};
[[nodiscard]] ShownTiles shown_tiles(std::size_t sources, std::size_t targets);

/// The tiles that get something, column by column.
template <class Function>
void for_each_target(const Overlay& overlay, const Function& function) {
    const Overlay::TileRange tiles = overlay.target_tiles();
    for (Index j = tiles.first.j; j < tiles.last.j; ++j)
        for (Index i = tiles.first.i; i < tiles.last.i; ++i)
            if (overlay.touches({i, j})) function(TileIndex{i, j});
}

/// What a kernel needs to know of a segment between two matrices with elements of this size.
[[nodiscard]] SegmentArguments segment_arguments(const Segment& segment, Orientation orientation,
                                                 std::size_t element_bytes);

}  // namespace tesela
