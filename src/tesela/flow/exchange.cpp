#include "tesela/flow/exchange.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/engine.hpp"

#include <algorithm>
#include <bit>

namespace tesela {
namespace {

void check_exists(const Attachment& matrix, TileIndex tile) {
    if (matrix.has(tile)) return;
    throw Error("tile ({}, {}) of matrix {} is above the diagonal and not stored; redistribute the lower triangle only",
                tile.i, tile.j, matrix.name());
}

}  // namespace

void check_exchange(const Exchange& exchange) {
    const Attachment& from = *exchange.from;
    const Attachment& to = *exchange.to;
    if (from.type() != to.type() || element_bytes(from.type()) == 0)
        throw Error("matrices {} and {} have different types of elements", from.name(), to.name());
    exchange.overlay->for_each([&](const Segment& segment) {
        check_exists(from, segment.from);
        check_exists(to, segment.to);
        require_value("redistribute", {exchange.from, segment.from});
    });
    if (exchange.from != exchange.to || exchange.overlay->empty()) return;
    const Overlay::TileRange a = exchange.overlay->source_tiles();
    const Overlay::TileRange b = exchange.overlay->target_tiles();
    if (a.first.i < b.last.i && b.first.i < a.last.i && a.first.j < b.last.j && b.first.j < a.last.j)
        throw Error("source and target share tiles of matrix {}; redistribute through another matrix", from.name());
}

Parcels exchange_parcels(const Overlay& overlay, const Owners& owners, std::size_t element_bytes,
                         const ExchangeOptions& options, std::optional<NodeId> concerning) {
    constexpr Index most_bytes = Index{1} << 30U;
    const ParcelOptions parcel{.bytes = std::clamp<Index>(options.message_bytes, 1, most_bytes),
                               .whole_tile_bytes = options.whole_tile_bytes};
    return make_parcels(overlay, owners, dense_bytes(static_cast<Index>(element_bytes)), parcel, concerning);
}

bool stands_in_one_piece(const SegmentArguments& segment, ParcelEnd end, Index ld) {
    // Packed elements are in the order of the target's columns.
    if (segment.part != Part::all || (end == ParcelEnd::source && segment.op != Op::none)) return false;
    return segment.cols == 1 || segment.rows == ld;
}

/// Few different sizes, so that memory is used again.
std::size_t parcel_buffer_bytes(Index bytes) {
    return std::bit_ceil(static_cast<std::size_t>(std::max<Index>(bytes, 4096)));
}

ShownTiles shown_tiles(std::size_t sources, std::size_t targets) {
    constexpr std::size_t most = Task::max_accesses - 1;
    const std::size_t shown = std::min(sources, targets > 0 ? most / 2 : most);
    return {shown, std::min(targets, most - shown)};
}

SegmentArguments segment_arguments(const Segment& segment, Orientation orientation, std::size_t element_bytes) {
    return {.element_bytes = static_cast<std::int32_t>(element_bytes),
            .op = orientation == Orientation::same ? Op::none : Op::transpose,
            .part = segment.shape.part,
            .rows = static_cast<std::int32_t>(segment.shape.rows),
            .cols = static_cast<std::int32_t>(segment.shape.cols),
            .from_i = static_cast<std::int32_t>(segment.from_at.i),
            .from_j = static_cast<std::int32_t>(segment.from_at.j),
            .to_i = static_cast<std::int32_t>(segment.to_at.i),
            .to_j = static_cast<std::int32_t>(segment.to_at.j),
            .diagonal = segment.shape.diagonal};
}

}  // namespace tesela
