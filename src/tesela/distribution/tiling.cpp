#include "tesela/distribution/tiling.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

std::vector<Index> uniform_cuts(Index size, Index tile, std::string_view what) {
    if (size < 0) throw Error("a matrix cannot have {} {}", size, what);
    if (tile < 1) throw Error("the tile size must be at least 1; it is {}", tile);
    std::vector<Index> cuts;
    cuts.reserve(static_cast<std::size_t>(size / tile) + 2);
    for (Index at = 0; at < size; at += std::min(tile, size - at)) cuts.push_back(at);
    cuts.push_back(size);
    return cuts;
}

void check_cuts(const std::vector<Index>& cuts, std::string_view what) {
    if (cuts.empty() || cuts.front() != 0) throw Error("the {} cuts of a tiling must begin with 0", what);
    if (std::adjacent_find(cuts.begin(), cuts.end(), std::greater_equal<>{}) != cuts.end())
        throw Error("the {} cuts of a tiling must increase", what);
}

}  // namespace

Tiling Tiling::uniform(ElementIndex size, ElementIndex tile) {
    Tiling tiling;
    tiling.row_cuts_ = uniform_cuts(size.i, tile.i, "rows");
    tiling.col_cuts_ = uniform_cuts(size.j, tile.j, "columns");
    return tiling;
}

Tiling Tiling::from_cuts(std::vector<Index> row_cuts, std::vector<Index> col_cuts) {
    check_cuts(row_cuts, "row");
    check_cuts(col_cuts, "column");
    Tiling tiling;
    tiling.row_cuts_ = std::move(row_cuts);
    tiling.col_cuts_ = std::move(col_cuts);
    return tiling;
}

Tiling Tiling::with_columns(Index cols, Index tile_cols) const {
    Tiling tiling;
    tiling.row_cuts_ = row_cuts_;
    tiling.col_cuts_ = uniform_cuts(cols, tile_cols, "columns");
    return tiling;
}

}  // namespace tesela
