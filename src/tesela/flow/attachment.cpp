#include "tesela/flow/attachment.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <cmath>
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

namespace {

void check_compression(const MatrixSpec& spec) {
    if (!spec.compression) return;
    const Compression& compression = *spec.compression;
    if (!(compression.accuracy >= 0 && std::isfinite(compression.accuracy)))
        throw Error("matrix {}: the accuracy of its tiles is {}; it must be finite and not negative", spec.name,
                    compression.accuracy);
    if (compression.dense_band < 0)
        throw Error("matrix {}: a band of {} diagonals cannot be stored whole", spec.name, compression.dense_band);
    if (spec.memory)
        throw Error("matrix {} cannot be compressed in memory of the caller: its ranks are not known before",
                    spec.name);
}

}  // namespace

Attachment::Attachment(MatrixSpec spec) : spec_(std::move(spec)) {
    const GridSize tiles = spec_.tiling.grid();
    const GridSize owners = spec_.distribution.grid();
    if (tiles != owners)
        throw Error("matrix {} has {}x{} tiles, but its distribution is for {}x{}", spec_.name, tiles.rows, tiles.cols,
                    owners.rows, owners.cols);
    if (spec_.stored == Stored::lower && spec_.tiling.row_cuts() != spec_.tiling.col_cuts())
        throw Error("matrix {} cannot store its lower triangle only: its rows and columns are not cut alike",
                    spec_.name);
    check_compression(spec_);
    written_.assign(static_cast<std::size_t>(tiles.count()), spec_.memory ? at_first : never);
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
