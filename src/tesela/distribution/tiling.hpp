#pragma once

#include "tesela/base/index.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// The row and column cuts of a matrix. Ragged last tiles are ordinary; tiles may differ in size anywhere.
class Tiling {
public:
    /// The tiling of an empty matrix.
    Tiling() = default;
    /// m x n elements in tiles of tile_rows x tile_cols, the last ones smaller where the sizes do not divide.
    /// A tile larger than the matrix gives one tile. Throws Error for a negative size or a tile smaller than 1.
    static Tiling uniform(ElementIndex size, ElementIndex tile);
    /// n x n elements in square tiles.
    static Tiling square(Index n, Index tile) { return uniform({n, n}, {tile, tile}); }
    /// Cuts given as increasing positions that begin with 0 and end with the size.
    static Tiling from_cuts(std::vector<Index> row_cuts, std::vector<Index> col_cuts);

    [[nodiscard]] ElementIndex size() const { return {row_cuts_.back(), col_cuts_.back()}; }
    [[nodiscard]] GridSize grid() const {
        return {static_cast<Index>(row_cuts_.size()) - 1, static_cast<Index>(col_cuts_.size()) - 1};
    }
    /// First row (column) of tile row i (tile column j).
    [[nodiscard]] Index row_begin(Index i) const { return row_cuts_[static_cast<std::size_t>(i)]; }
    [[nodiscard]] Index col_begin(Index j) const { return col_cuts_[static_cast<std::size_t>(j)]; }
    /// Rows (columns) of tile row i (tile column j).
    [[nodiscard]] Index rows(Index i) const { return row_begin(i + 1) - row_begin(i); }
    [[nodiscard]] Index cols(Index j) const { return col_begin(j + 1) - col_begin(j); }

    [[nodiscard]] const std::vector<Index>& row_cuts() const { return row_cuts_; }
    [[nodiscard]] const std::vector<Index>& col_cuts() const { return col_cuts_; }

    /// The same row cuts, and `cols` columns in tiles of `tile_cols`.
    [[nodiscard]] Tiling with_columns(Index cols, Index tile_cols) const;

    friend bool operator==(const Tiling&, const Tiling&) = default;

private:
    std::vector<Index> row_cuts_{0};
    std::vector<Index> col_cuts_{0};
};

/// Which tiles of a grid are stored: all, or those on and below the diagonal.
enum class Stored : std::uint8_t { full, lower };

[[nodiscard]] constexpr bool is_stored(TileIndex tile, Stored stored) {
    return stored == Stored::full || tile.i >= tile.j;
}

}  // namespace tesela
