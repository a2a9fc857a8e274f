#pragma once

#include "tesela/algs/priorities.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

struct FactorOptions {
    Priorities priorities = Priorities::critical_path;
    /// Paper 004's hierarchical potrf, of Cholesky: diagonal tiles with more rows than this are factorised as tiles of
    /// so many rows, on the cores of the node that owns them. 0: each by one task.
    Index diagonal_tile = 0;
};

/// A := L with A = L·Lᵀ: only the lower triangle of A is read and written. If A is not positive definite the stream's
/// status says so, with the first bad pivot. Throws Error unless A is square and cut alike in rows and columns, and the
/// options are numbers from 0 on.
template <class T>
void cholesky(Stream& s, const MatrixView<T>& A, const FactorOptions& options = {});

/// Lower triangle of A⁻¹ in place of the factor L of A = L·Lᵀ.
template <class T>
void inverse(Stream& s, const MatrixView<T>& L);

/// A := L⁻¹·A·L⁻ᵀ for a symmetric A of which the tiles of the lower triangle are read and written, those on the
/// diagonal as a whole; L as `cholesky` left it. With L of B it makes A·x = λ·B·x an ordinary eigenvalue problem
/// (LAPACK's dsygst); n³ operations.
template <class T>
void congruence(Stream& s, const MatrixView<T>& L, const MatrixView<T>& A);

extern template void cholesky(Stream&, const MatrixView<float>&, const FactorOptions&);
extern template void cholesky(Stream&, const MatrixView<double>&, const FactorOptions&);
extern template void inverse(Stream&, const MatrixView<float>&);
extern template void inverse(Stream&, const MatrixView<double>&);
extern template void congruence(Stream&, const MatrixView<float>&, const MatrixView<float>&);
extern template void congruence(Stream&, const MatrixView<double>&, const MatrixView<double>&);

}  // namespace tesela
