#include "tesela/flow/attachment.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace tesela {

void Detach::operator()(Attachment* attachment) const noexcept {
    const std::unique_ptr<Attachment> owned(attachment);
    if (!owned->add_partial_sums) return;                 // also where the stream has ended before
    const auto add = std::move(owned->add_partial_sums);  // which clears it
    try {
        add(*owned);
    } catch (const std::exception& error) {
        fmt::print(stderr, "tesela: sums for matrix {} are lost: {}\n", owned->name(), error.what());
    }
}

Attachment::Attachment(MatrixSpec spec) : spec_(std::move(spec)) {
    const GridSize tiles = spec_.tiling.grid();
    const GridSize owners = spec_.distribution.grid();
    if (tiles != owners)
        throw Error("matrix {} has {}x{} tiles, but its distribution is for {}x{}", spec_.name, tiles.rows, tiles.cols,
                    owners.rows, owners.cols);
    if (spec_.stored == Stored::lower && spec_.tiling.row_cuts() != spec_.tiling.col_cuts())
        throw Error("matrix {} cannot store its lower triangle only: its rows and columns are not cut alike",
                    spec_.name);
    if (spec_.compression && !(spec_.compression->accuracy >= 0))
        throw Error("matrix {}: the accuracy of its tiles is {}; it must not be negative", spec_.name,
                    spec_.compression->accuracy);
    if (spec_.compression && spec_.memory)
        throw Error("matrix {} cannot be compressed in memory of the caller: its ranks are not known before",
                    spec_.name);
    written_.assign(static_cast<std::size_t>(tiles.count()), spec_.memory ? 1 : 0);
}

void Attachment::set_owner(TileIndex tile, NodeId node) {
    Distribution& owners = spec_.distribution;
    if (node.number() >= owners.nodes())
        owners = Distribution(owners.grid(), node.number() + 1, {owners.owners().begin(), owners.owners().end()});
    owners.set_owner(tile, node);
}

std::size_t Attachment::bytes(TileIndex tile) const {
    const TileShape size = shape(tile);
    return static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.cols) * element_bytes(spec_.type);
}

bool Attachment::compressible(TileIndex tile) const {
    return spec_.compression && std::abs(tile.i - tile.j) >= spec_.compression->dense_band;
}

std::vector<double> Attachment::bytes_per_node(Index nodes) const {
    std::vector<double> total(static_cast<std::size_t>(nodes), 0);
    const GridSize tiles = spec_.tiling.grid();
    for (Index i = 0; i < tiles.rows; ++i)
        for (Index j = 0; j < tiles.cols; ++j)
            if (has({i, j}))
                total[static_cast<std::size_t>(owner({i, j}).number())] += static_cast<double>(certain_bytes({i, j}));
    return total;
}

}  // namespace tesela
