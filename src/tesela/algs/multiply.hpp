#pragma once

#include "tesela/flow/matrix.hpp"

namespace tesela {

/// Y := A·X for a triangular view A (lower or upper, possibly transposed); products run where the tiles of A live, so
/// that only small sums travel. Throws Error unless the rows of A, X and Y are cut alike.
template <class T>
void multiply_triangular(Stream& s, const MatrixView<T>& A, const MatrixView<T>& X, const MatrixView<T>& Y);

extern template void multiply_triangular(Stream&, const MatrixView<float>&, const MatrixView<float>&,
                                         const MatrixView<float>&);
extern template void multiply_triangular(Stream&, const MatrixView<double>&, const MatrixView<double>&,
                                         const MatrixView<double>&);

/// C := Aᵀ·B for tall A and B whose rows are cut alike; products run where the tiles of A live, so that only sums of
/// the size of C travel. Throws Error unless the cuts fit.
template <class T>
void multiply_transposed(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& C);

extern template void multiply_transposed(Stream&, const MatrixView<float>&, const MatrixView<float>&,
                                         const MatrixView<float>&);
extern template void multiply_transposed(Stream&, const MatrixView<double>&, const MatrixView<double>&,
                                         const MatrixView<double>&);

}  // namespace tesela
