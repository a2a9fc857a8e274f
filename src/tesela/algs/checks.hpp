#pragma once

#include "tesela/base/error.hpp"
#include "tesela/flow/matrix.hpp"

#include <string_view>

namespace tesela {

/// Throws Error unless the view is square with rows and columns cut alike, and not transposed.
template <class T>
void require_factorable(const MatrixView<T>& a, std::string_view what) {
    if (a.op() != Op::none)
        throw Error("{} takes a matrix as it is, not a transposed view of {}", what, a.matrix().name());
    if (a.tile_rows() != a.tile_cols())
        throw Error("{} needs a square matrix; {} has {}x{} tiles", what, a.matrix().name(), a.tile_rows(),
                    a.tile_cols());
    for (Index i = 0; i < a.tile_rows(); ++i)
        if (a.rows(i) != a.cols(i))
            throw Error("{} needs square diagonal tiles; tile ({}, {}) of {} is {}x{}", what, i, i, a.matrix().name(),
                        a.rows(i), a.cols(i));
}

/// Throws Error if the view means a triangle only.
template <class T>
void require_whole(const MatrixView<T>& a, std::string_view what) {
    if (a.part() != Part::all)
        throw Error("{} takes all of {}, not its {} triangle only", what, a.matrix().name(),
                    a.part() == Part::lower ? "lower" : "upper");
}

/// Throws Error unless the columns of A are cut as the rows of B: rows and columns of the views, which it names as
/// those of their matrices.
template <class T>
void require_product(const MatrixView<T>& a, const MatrixView<T>& b, std::string_view what) {
    bool fits = a.tile_cols() == b.tile_rows();
    for (Index k = 0; fits && k < a.tile_cols(); ++k) fits = a.cols(k) == b.rows(k);
    if (!fits)
        throw Error("{}: the {} of {} are not cut into tiles as the {} of {} are", what,
                    a.op() == Op::none ? "columns" : "rows", a.matrix().name(), b.op() == Op::none ? "rows" : "columns",
                    b.matrix().name());
}

/// Throws Error unless the rows of A are cut as the rows of B.
template <class T>
void require_same_rows(const MatrixView<T>& a, const MatrixView<T>& b, std::string_view what) {
    require_product(a.transposed(), b, what);
}

/// The triangle that holds the elements of a triangular view in memory.
template <class T>
[[nodiscard]] Triangle stored_triangle(const MatrixView<T>& A) {
    const Triangle seen = A.part() == Part::lower ? Triangle::lower : Triangle::upper;
    return A.op() == Op::none ? seen : flip(seen);
}

}  // namespace tesela
