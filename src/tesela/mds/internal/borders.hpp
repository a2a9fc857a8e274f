#pragma once

#include "tesela/mds/internal/resident_tiles.hpp"

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace tesela {

/// What stands between H, the tiles of a streamed matrix, and A = diag(l)·(H + U·Vᵀ)·diag(r): sums over the rows and
/// columns of H, the borders U, V, l and r that follow from them, and what those change in products.
class Borders {
public:
    using View = MatrixView<double>;

    /// `spec` outlives it. Of a matrix in the caller's memory, H is A.
    Borders(Stream& stream, const StreamedSpec& spec);

    /// A matrix that products are made with or of: its rows cut as those or as the columns of A, its columns by
    /// column_cuts(), its tiles placed as those of A.
    [[nodiscard]] Matrix<double> beside(BorderSide side, const char* name, Index columns) const;
    [[nodiscard]] std::vector<Index> column_cuts(Index columns) const;

    /// Sets weights, and sums to 0; then each row of H is added; then U, V, l and r are known.
    void begin();
    void add(Index i, const ResidentTiles& H);
    void finish();
    /// H := H + U·Vᵀ (10), which nothing is corrected by from then on.
    void centre(const ResidentTiles& H);
    /// squares := squares + the squares of row i of A.
    void add_squares(Index i, const ResidentTiles& H, const Scalar<double>& squares);

    /// diag(f)·X with the factors of that side, of so many rows of tiles; X itself where nothing is scaled.
    [[nodiscard]] View scaled(BorderSide side, const View& X, Index first, Index rows);
    /// Uᵀ·X or Vᵀ·X, (7) and (8), which correct() needs of the other side.
    void weigh(BorderSide side, const View& X);
    /// Row i of a product: + U·(Vᵀ·X) or V·(Uᵀ·X), (9), and times the factors of that side.
    void correct(BorderSide side, Index i, const View& Y);
    void scale(BorderSide side, Index i, const View& Y);

    /// Means of H by rows and by columns, or sums (`masses`).
    [[nodiscard]] const Matrix<double>& sums(BorderSide side) const { return sides_[at(side)].sums; }
    [[nodiscard]] const Scalar<double>& total() const { return total_; }

private:
    using enum BorderSide;
    struct Side {
        Matrix<double> weights, sums, border, factors;
    };
    /// Of a side and products of so many columns: the border transposed times what is multiplied, and that scaled.
    struct Correction {
        Matrix<double> weights;
        std::optional<Matrix<double>> scaled;
    };
    [[nodiscard]] static std::size_t at(BorderSide side) { return side == rows ? 0 : 1; }
    [[nodiscard]] const std::vector<Index>& cuts(BorderSide side) const {
        return side == rows ? spec_.tiling.row_cuts() : spec_.tiling.col_cuts();
    }
    [[nodiscard]] bool scales() const;
    [[nodiscard]] Matrix<double> placed(const Tiling& tiling, const char* name) const;
    [[nodiscard]] Side make_side(BorderSide side, std::array<const char*, 4> names) const;
    [[nodiscard]] Correction& correction(BorderSide side, const View& X);
    void weigh_elements(BorderSide side);
    void add_up();
    void make_border(BorderSide side, const Matrix<double>& sums);

    Stream& s_;
    const StreamedSpec& spec_;
    std::array<Side, 2> sides_;
    Scalar<double> total_;
    std::map<Index, std::array<Correction, 2>> corrections_;  ///< by columns
    bool centred_ = false;                                    ///< U·Vᵀ is part of the tiles
};

}  // namespace tesela
