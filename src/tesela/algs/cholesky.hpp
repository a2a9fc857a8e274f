#pragma once

#include "tesela/algs/priorities.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

struct FactorOptions {
    Priorities priorities = Priorities::critical_path;
};

/// A := L with A = L·Lᵀ: only the lower triangle of A is read and written. If A is not positive definite the stream's
/// status says so, with the first bad pivot. Throws Error unless A is square and cut alike in rows and columns.
template <class T>
void cholesky(Stream& s, const MatrixView<T>& A, const FactorOptions& options = {});

/// Lower triangle of A⁻¹ in place of the factor L of A = L·Lᵀ.
template <class T>
void inverse(Stream& s, const MatrixView<T>& L);

extern template void cholesky(Stream&, const MatrixView<float>&, const FactorOptions&);
extern template void cholesky(Stream&, const MatrixView<double>&, const FactorOptions&);
extern template void inverse(Stream&, const MatrixView<float>&);
extern template void inverse(Stream&, const MatrixView<double>&);

}  // namespace tesela
