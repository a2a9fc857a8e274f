#include "tesela/mds/internal/resident_tiles.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

/// Which memory each of the first rows takes: so many pieces on the node that has the row, in turns. `make` adds a
/// piece for a row and says its number.
template <class Make>
std::vector<Index> take_turns(const Distribution& owners, Index rows, Index pieces, Make make) {
    std::vector<std::vector<Index>> of_node(static_cast<std::size_t>(owners.nodes()));
    std::vector<Index> taken(of_node.size(), 0);
    std::vector<Index> result;
    for (Index i = 0; i < rows; ++i) {
        const auto node = static_cast<std::size_t>(owners.owner({i, 0}).number());
        const auto turn = static_cast<std::size_t>(taken[node]++ % pieces);
        if (turn == of_node[node].size()) of_node[node].push_back(make(i));
        result.push_back(of_node[node][turn]);
    }
    return result;
}

}  // namespace

ResidentTiles::ResidentTiles(Stream& stream, const StreamedSpec& spec) {
    if (spec.values) {
        // Tasks only read it.
        auto* values = const_cast<double*>(spec.values);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        whole_.emplace(
            stream, spec.tiling, spec.compute,
            over_array(values, spec.tiling.size().i, spec.tiling, MatrixOptions{.name = "A", .stored = spec.stored}));
        return;
    }
    if (spec.first_resident() == 0)
        whole_.emplace(stream, spec.tiling, spec.read, MatrixOptions{.name = "D", .stored = spec.stored});
    else
        make_rows(stream, spec);
    if (spec.reading.panel_tiles > 0) make_panels(stream, spec);
}

void ResidentTiles::make_rows(Stream& s, const StreamedSpec& spec) {
    // `like` is a row as long and as high.
    const auto add = [&](Index like, NodeId node, const char* name) {
        std::vector<Index> cuts = spec.tiling.col_cuts();
        cuts.resize(static_cast<std::size_t>(spec.tiles_of_row(like)) + 1);
        const Tiling tiling = Tiling::from_cuts({0, spec.tiling.rows(like)}, std::move(cuts));
        rows_.emplace_back(s, tiling,
                           tabulate(tiling.grid(), spec.compute.nodes(), [&](Index, Index) { return node.number(); }),
                           MatrixOptions{.name = name});
        return std::ssize(rows_) - 1;
    };
    const Index first = spec.first_resident();
    std::vector<Index> kept;
    for (Index i = first; i < spec.tile_rows(); ++i) kept.push_back(add(i, spec.compute.owner({i, 0}), "D"));
    // As long as the longest row that comes there.
    memory_of_ = take_turns(spec.compute, first, spec.passing_rows, [&](Index i) {
        return add(first - 1, spec.compute.owner({i, 0}), "passing rows");
    });
    memory_of_.insert(memory_of_.end(), kept.begin(), kept.end());
}

void ResidentTiles::make_panels(Stream& s, const StreamedSpec& spec) {
    const bool again = spec.step >= StreamingStep::allocation;
    std::vector<Index> owners;
    std::vector<Index> cuts{0};
    const auto add = [&](Index i) {
        owners.push_back(spec.read.owner({i, 0}).number());
        cuts.push_back(cuts.back() + spec.tiling.rows(i));
        return std::ssize(owners) - 1;
    };
    // The last row may be lower than the others, and has memory of its own.
    const Index last = spec.tile_rows() - 1;
    slot_of_ = take_turns(spec.read, last, again ? spec.reading.slots : spec.tile_rows(), add);
    slot_of_.push_back(add(last));
    const Index tiles = spec.tiling.grid().cols;
    for (Index j = 0; j < tiles; j += spec.reading.panel_tiles) {
        const Index end = std::min(j + spec.reading.panel_tiles, tiles);
        const Index width = spec.tiling.col_begin(end) - spec.tiling.col_begin(j);
        panels_.push_back(s.attach(
            {.name = "panels",
             .tiling = Tiling::from_cuts({0, width}, cuts),
             .distribution = tabulate({1, std::ssize(owners)}, spec.read.nodes(),
                                      [&](Index, Index slot) { return owners[static_cast<std::size_t>(slot)]; }),
             .type = spec.reading.type,
             .memory = {},
             .allocation = again ? Allocation::at_once : Allocation::when_written}));
    }
}

TileOf<double> ResidentTiles::tile(Index i, Index j) const {
    if (whole_) return (*whole_)(i, j);
    return rows_[static_cast<std::size_t>(memory_of_[static_cast<std::size_t>(i)])](0, j);
}

TileRef ResidentTiles::panel(Index i, Index column) const {
    return {panels_[static_cast<std::size_t>(column)].get(), {0, slot_of_[static_cast<std::size_t>(i)]}};
}

}  // namespace tesela
