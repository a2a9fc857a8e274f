#pragma once

#include "tesela/base/trapezoid.hpp"
#include "tesela/distribution/tiling.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tesela {

/// Whether the target of a redistribution is the source or its transpose.
enum class Orientation : std::uint8_t { same, transposed };

/// A submatrix that goes from one tiling into another: paper 002 §3.1, and beyond it triangles and transposition.
struct OverlayProblem {
    Tiling from;
    Tiling to;
    /// First element of the submatrix in the source and in the target.
    ElementIndex from_offset{};
    ElementIndex to_offset{};
    /// Rows and columns of the submatrix, as it stands in the source.
    ElementIndex size{};
    /// What of the submatrix moves, as it stands in the source: all of it, or one side of a diagonal (see Trapezoid).
    Part part = Part::all;
    Index diagonal = 0;
    Orientation orientation = Orientation::same;
};

/// What one source tile gives to one target tile.
struct Segment {
    TileIndex from;
    TileIndex to;
    /// Where it begins in each tile.
    ElementIndex from_at;
    ElementIndex to_at;
    /// Its elements as they stand in the target.
    Trapezoid shape;

    friend bool operator==(const Segment&, const Segment&) = default;
};

/// Where a segment lies in its target tile, paper 002 figure 2.
enum class SegmentKind : std::uint8_t { nw, n, ne, w, i, e, sw, s, se };
[[nodiscard]] std::string_view segment_kind_name(SegmentKind kind);

/// Two tilings laid over each other: the segments of a redistribution, without data and without owners. Takes memory
/// for the cuts only, however many segments there are.
class Overlay {
public:
    /// Throws Error if the submatrix is not inside the source or the target, or a size is negative.
    explicit Overlay(OverlayProblem problem);

    [[nodiscard]] const OverlayProblem& problem() const { return problem_; }
    [[nodiscard]] bool empty() const { return row_pieces_.empty() || col_pieces_.empty(); }

    /// Tile rows and columns of the target that the submatrix touches: [first, last).
    struct TileRange {
        TileIndex first;
        TileIndex last;
    };
    [[nodiscard]] TileRange target_tiles() const;
    [[nodiscard]] TileRange source_tiles() const;

    /// Calls visit(segment) for the segments of one target tile, column by column; empty ones are left out.
    template <class Visit>
    void for_each_in(TileIndex target, Visit&& visit) const {
        const auto [row_first, row_last] = rows_of(target.i);
        const auto [col_first, col_last] = cols_of(target.j);
        for (std::size_t c = col_first; c < col_last; ++c)
            for (std::size_t r = row_first; r < row_last; ++r) {
                const Segment segment = make(row_pieces_[r], col_pieces_[c]);
                if (!segment.shape.empty()) visit(segment);
            }
    }
    /// Calls visit(segment) for all segments, target tile by target tile, column of tiles by column of tiles.
    template <class Visit>
    void for_each(Visit&& visit) const {
        const TileRange tiles = target_tiles();
        for (Index j = tiles.first.j; j < tiles.last.j; ++j)
            for (Index i = tiles.first.i; i < tiles.last.i; ++i) for_each_in({i, j}, visit);
    }

    /// Which of 002's nine categories (figure 3) a target tile belongs to: 3·(rows) + columns of source tiles under it,
    /// each counted as one, two, or three and more.
    [[nodiscard]] int category(TileIndex target) const;
    [[nodiscard]] SegmentKind kind(const Segment& segment) const;
    /// Target tiles in each category.
    [[nodiscard]] std::array<Index, 9> count_categories() const;
    /// Whether a target tile within target_tiles() gets anything: outside the triangle it does not.
    [[nodiscard]] bool touches(TileIndex target) const;
    /// Whether the submatrix fills the whole target tile.
    [[nodiscard]] bool covers(TileIndex target) const;
    /// Whether every segment is one whole tile of the source and one whole tile of the target, in place.
    [[nodiscard]] bool whole_tiles() const;

private:
    /// A stretch of rows (columns) that lies in one tile row (column) of both.
    struct Piece {
        Index begin, length;
        Index from_tile, to_tile;
        Index from_at, to_at;
    };
    struct Cuts {
        const std::vector<Index>& positions;
        Index offset;
    };
    static std::vector<Piece> overlay(const Cuts& from, const Cuts& to, Index length);
    /// What of the submatrix lies in a target tile.
    [[nodiscard]] Trapezoid part_in(TileIndex target) const;
    [[nodiscard]] Segment make(const Piece& row, const Piece& col) const;
    [[nodiscard]] std::pair<std::size_t, std::size_t> rows_of(Index tile_row) const;
    [[nodiscard]] std::pair<std::size_t, std::size_t> cols_of(Index tile_col) const;

    OverlayProblem problem_;
    Trapezoid region_;  // the submatrix as it stands in the target
    std::vector<Piece> row_pieces_, col_pieces_;
    std::vector<std::size_t> row_first_, col_first_;  // first piece of each target tile row (column) that is touched
};

}  // namespace tesela
