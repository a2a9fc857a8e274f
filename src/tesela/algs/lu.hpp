#pragma once

#include "tesela/algs/cholesky.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

/// A := L and U in one, with A = L·U, L unit lower triangular, by tiles and WITHOUT PIVOTING: meant for diagonally
/// dominant matrices, where that is stable. A zero pivot is the stream's status. Throws Error unless A is square and
/// cut alike.
template <class T>
void lu(Stream& s, const MatrixView<T>& A, const FactorOptions& options = {});
template <class T>
void lu(Stream& s, const Matrix<T>& A, const FactorOptions& options = {}) {
    lu(s, A.view(), options);
}

extern template void lu(Stream&, const MatrixView<float>&, const FactorOptions&);
extern template void lu(Stream&, const MatrixView<double>&, const FactorOptions&);

}  // namespace tesela
