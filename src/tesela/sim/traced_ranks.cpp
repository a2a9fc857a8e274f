#include "tesela/sim/traced_ranks.hpp"

#include "tesela/base/error.hpp"
#include "tesela/kernels/tile.hpp"
#include "tesela/trace/analysis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tesela {
namespace {

/// As its definition has it; one that does not say how large it is has whole tiles everywhere.
Tiling tiling_of(const trace::MatrixRow& matrix) {
    if (matrix.tile[0] < 1 || matrix.tile[1] < 1)
        throw Error("the trace does not say how large the tiles of {} are: it was written by an older version",
                    matrix.name);
    const ElementIndex tile{matrix.tile[0], matrix.tile[1]};
    Tiling said = Tiling::uniform({matrix.size[0], matrix.size[1]}, tile);
    if (said.grid() == GridSize{matrix.tile_rows, matrix.tile_cols}) return said;
    return Tiling::uniform({matrix.tile_rows * tile.i, matrix.tile_cols * tile.j}, tile);
}

RankMap whole_tiles(GridSize grid) {
    const auto count = static_cast<std::size_t>(grid.count());
    return {.grid = grid, .ranks = std::vector<Index>(count, dense_rank), .singles = std::vector<Index>(count, 0)};
}

TracedRanks ranks_of(const trace::MatrixRow& matrix, const std::vector<const trace::TileRanks*>& tiles) {
    const GridSize grid{matrix.tile_rows, matrix.tile_cols};
    TracedRanks result{.matrix = matrix.name,
                       .tiling = tiling_of(matrix),
                       .stored = grid.rows == grid.cols ? Stored::lower : Stored::full,
                       .initial = whole_tiles(grid),
                       .last = whole_tiles(grid)};
    std::vector<bool> written(static_cast<std::size_t>(grid.count()));
    for (const trace::TileRanks* tile : tiles) {
        if (tile->i < 0 || tile->j < 0 || tile->i >= grid.rows || tile->j >= grid.cols) continue;
        const auto at = static_cast<std::size_t>(tile->i * grid.cols + tile->j);
        written[at] = true;
        result.initial.ranks[at] = tile->initial;
        result.last.ranks[at] = tile->last;
        result.initial.singles[at] = tile->initial_singles;
        result.last.singles[at] = tile->last_singles;
        if (tile->i < tile->j) result.stored = Stored::full;
    }
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < (result.stored == Stored::lower ? i + 1 : grid.cols); ++j)
            if (!written[static_cast<std::size_t>(i * grid.cols + j)]) ++result.missing;
    return result;
}

bool is_compressed(const trace::TileRanks* tile) { return tile->initial != dense_rank || tile->last != dense_rank; }

}  // namespace

std::vector<TracedRanks> traced_ranks(const trace::Trace& trace) {
    const std::vector<trace::TileRanks> all = trace::ranks_of_tiles(trace);
    std::map<trace::Code, std::vector<const trace::TileRanks*>> by_matrix;
    for (const trace::TileRanks& tile : all) by_matrix[tile.matrix].push_back(&tile);
    std::vector<TracedRanks> result;
    for (const auto& [code, tiles] : by_matrix) {
        if (std::ranges::none_of(tiles, is_compressed)) continue;
        TracedRanks ranks = ranks_of(trace.matrices[static_cast<std::size_t>(code)], tiles);
        std::erase_if(result, [&](const TracedRanks& before) { return before.matrix == ranks.matrix; });
        result.push_back(std::move(ranks));
    }
    return result;
}

void require_all_tiles(const TracedRanks& ranks, const trace::Trace& trace, const std::string& file) {
    if (ranks.missing == 0) return;
    const GridSize grid = ranks.tiling.grid();
    const Index tiles = ranks.stored == Stored::lower ? grid.rows * (grid.rows + 1) / 2 : grid.count();
    throw Error("{} of the {} tiles of {} are not in {}{}", ranks.missing, tiles, ranks.matrix, file,
                trace.warnings.empty() ? ": no task of the run wrote them"
                                       : fmt::format(". {}", fmt::join(trace.warnings, "; ")));
}

TracedRanks ranks_of_matrix(const trace::Trace& trace, std::string_view matrix, const std::string& file) {
    std::vector<TracedRanks> known = traced_ranks(trace);
    if (known.empty())
        throw Error("{} has no ranks: it is the trace of a run in which no tile was compressed (--method tlr)", file);
    const auto found =
        matrix.empty() && known.size() == 1 ? known.begin() : std::ranges::find(known, matrix, &TracedRanks::matrix);
    if (found != known.end()) {
        require_all_tiles(*found, trace, file);
        return std::move(*found);
    }
    std::vector<std::string> names;
    for (const TracedRanks& one : known) names.push_back(one.matrix);
    if (matrix.empty()) throw Error("{} has ranks of several matrices, {}: say which", file, fmt::join(names, ", "));
    throw Error("{} has no ranks of a matrix \"{}\"; it has those of {}", file, matrix, fmt::join(names, ", "));
}

}  // namespace tesela
