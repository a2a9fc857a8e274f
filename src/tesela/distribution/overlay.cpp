#include "tesela/distribution/overlay.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <utility>

namespace tesela {
namespace {

bool is_same(const OverlayProblem& problem) { return problem.orientation == Orientation::same; }

void check_inside(const char* what, ElementIndex first, ElementIndex size, ElementIndex matrix) {
    if (first.i >= 0 && first.j >= 0 && first.i <= matrix.i - size.i && first.j <= matrix.j - size.j) return;
    throw Error("a submatrix of {} x {} elements at ({}, {}) is not inside the {}, which has {} x {}", size.i, size.j,
                first.i, first.j, what, matrix.i, matrix.j);
}

void check(const OverlayProblem& problem) {
    const ElementIndex size = problem.size;
    if (size.i < 0 || size.j < 0) throw Error("a submatrix of {} x {} elements cannot be", size.i, size.j);
    check_inside("source", problem.from_offset, size, problem.from.size());
    check_inside("target", problem.to_offset, is_same(problem) ? size : ElementIndex{size.j, size.i},
                 problem.to.size());
}

/// First piece of each target tile that is touched, and the end.
template <class Piece>
std::vector<std::size_t> first_of_tiles(const std::vector<Piece>& pieces) {
    std::vector<std::size_t> first;
    for (std::size_t p = 0; p < pieces.size(); ++p)
        if (p == 0 || pieces[p].to_tile != pieces[p - 1].to_tile) first.push_back(p);
    first.push_back(pieces.size());
    return first;
}

/// 0, 1, 2 for one, two, three and more.
int third(std::size_t count) { return static_cast<int>(std::min<std::size_t>(count, 3)) - 1; }

}  // namespace

std::string_view segment_kind_name(SegmentKind kind) {
    constexpr std::array<std::string_view, 9> names{"NW", "N", "NE", "W", "I", "E", "SW", "S", "SE"};
    return names[static_cast<std::size_t>(kind)];
}

Overlay::Overlay(OverlayProblem problem) : problem_(std::move(problem)) {
    check(problem_);
    const Tiling& from = problem_.from;
    const Tiling& to = problem_.to;
    const Trapezoid as_source{problem_.size.i, problem_.size.j, problem_.part, problem_.diagonal};
    const Cuts source_rows{from.row_cuts(), problem_.from_offset.i};
    const Cuts source_cols{from.col_cuts(), problem_.from_offset.j};
    region_ = is_same(problem_) ? as_source : as_source.transposed();
    row_pieces_ =
        overlay(is_same(problem_) ? source_rows : source_cols, {to.row_cuts(), problem_.to_offset.i}, region_.rows);
    col_pieces_ =
        overlay(is_same(problem_) ? source_cols : source_rows, {to.col_cuts(), problem_.to_offset.j}, region_.cols);
    row_first_ = first_of_tiles(row_pieces_);
    col_first_ = first_of_tiles(col_pieces_);
}

std::vector<Overlay::Piece> Overlay::overlay(const Cuts& from, const Cuts& to, Index length) {
    const auto tile_at = [](const Cuts& cuts) {
        return std::upper_bound(cuts.positions.begin(), cuts.positions.end(), cuts.offset) - cuts.positions.begin() - 1;
    };
    std::vector<Piece> pieces;
    if (length == 0) return pieces;
    Index from_tile = tile_at(from);
    Index to_tile = tile_at(to);
    for (Index begin = 0; begin < length;) {
        const Index from_begin = from.positions[static_cast<std::size_t>(from_tile)] - from.offset;
        const Index to_begin = to.positions[static_cast<std::size_t>(to_tile)] - to.offset;
        const Index from_end = from.positions[static_cast<std::size_t>(from_tile) + 1] - from.offset;
        const Index to_end = to.positions[static_cast<std::size_t>(to_tile) + 1] - to.offset;
        const Index end = std::min({from_end, to_end, length});
        if (end > begin)
            pieces.push_back({begin, end - begin, from_tile, to_tile, begin - from_begin, begin - to_begin});
        if (from_end == end) ++from_tile;
        if (to_end == end) ++to_tile;
        begin = end;
    }
    return pieces;
}

Segment Overlay::make(const Piece& row, const Piece& col) const {
    Segment segment{.from = {row.from_tile, col.from_tile},
                    .to = {row.to_tile, col.to_tile},
                    .from_at = {row.from_at, col.from_at},
                    .to_at = {row.to_at, col.to_at},
                    .shape = {row.length, col.length, region_.part, region_.diagonal + col.begin - row.begin}};
    if (!is_same(problem_)) {
        std::swap(segment.from.i, segment.from.j);
        std::swap(segment.from_at.i, segment.from_at.j);
    }
    if (segment.shape.full()) segment.shape = {row.length, col.length};
    return segment;
}

std::pair<std::size_t, std::size_t> Overlay::rows_of(Index tile_row) const {
    const auto t = static_cast<std::size_t>(tile_row - row_pieces_.front().to_tile);
    return {row_first_[t], row_first_[t + 1]};
}

std::pair<std::size_t, std::size_t> Overlay::cols_of(Index tile_col) const {
    const auto t = static_cast<std::size_t>(tile_col - col_pieces_.front().to_tile);
    return {col_first_[t], col_first_[t + 1]};
}

Overlay::TileRange Overlay::target_tiles() const {
    if (empty()) return {};
    return {{row_pieces_.front().to_tile, col_pieces_.front().to_tile},
            {row_pieces_.back().to_tile + 1, col_pieces_.back().to_tile + 1}};
}

Overlay::TileRange Overlay::source_tiles() const {
    if (empty()) return {};
    TileRange range{{row_pieces_.front().from_tile, col_pieces_.front().from_tile},
                    {row_pieces_.back().from_tile + 1, col_pieces_.back().from_tile + 1}};
    if (!is_same(problem_)) {
        std::swap(range.first.i, range.first.j);
        std::swap(range.last.i, range.last.j);
    }
    return range;
}

int Overlay::category(TileIndex target) const {
    const auto [row_first, row_last] = rows_of(target.i);
    const auto [col_first, col_last] = cols_of(target.j);
    return 3 * third(row_last - row_first) + third(col_last - col_first);
}

SegmentKind Overlay::kind(const Segment& segment) const {
    // 0 first, 1 between, 2 last; a single one counts as first.
    const auto where = [](const std::vector<Piece>& pieces, std::pair<std::size_t, std::size_t> range, Index to_at) {
        if (pieces[range.first].to_at == to_at) return 0;
        return pieces[range.second - 1].to_at == to_at ? 2 : 1;
    };
    const int row = where(row_pieces_, rows_of(segment.to.i), segment.to_at.i);
    const int col = where(col_pieces_, cols_of(segment.to.j), segment.to_at.j);
    return static_cast<SegmentKind>(3 * row + col);
}

std::array<Index, 9> Overlay::count_categories() const {
    std::array<Index, 9> counts{};
    const TileRange tiles = target_tiles();
    for (Index j = tiles.first.j; j < tiles.last.j; ++j)
        for (Index i = tiles.first.i; i < tiles.last.i; ++i) ++counts[static_cast<std::size_t>(category({i, j}))];
    return counts;
}

Trapezoid Overlay::part_in(TileIndex target) const {
    const auto [row_first, row_last] = rows_of(target.i);
    const auto [col_first, col_last] = cols_of(target.j);
    const Piece& top = row_pieces_[row_first];
    const Piece& bottom = row_pieces_[row_last - 1];
    const Piece& left = col_pieces_[col_first];
    const Piece& right = col_pieces_[col_last - 1];
    return {bottom.begin + bottom.length - top.begin, right.begin + right.length - left.begin, region_.part,
            region_.diagonal + left.begin - top.begin};
}

bool Overlay::touches(TileIndex target) const { return !part_in(target).empty(); }

bool Overlay::covers(TileIndex target) const {
    const Trapezoid part = part_in(target);
    return part.full() && part.rows == problem_.to.rows(target.i) && part.cols == problem_.to.cols(target.j);
}

bool Overlay::whole_tiles() const {
    if (!is_same(problem_) || problem_.part != Part::all) return false;
    const auto whole = [](const std::vector<Piece>& pieces, const std::vector<Index>& from,
                          const std::vector<Index>& to) {
        return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
            const auto f = static_cast<std::size_t>(p.from_tile);
            const auto t = static_cast<std::size_t>(p.to_tile);
            return p.length == from[f + 1] - from[f] && p.length == to[t + 1] - to[t];
        });
    };
    return whole(row_pieces_, problem_.from.row_cuts(), problem_.to.row_cuts()) &&
           whole(col_pieces_, problem_.from.col_cuts(), problem_.to.col_cuts());
}

}  // namespace tesela
