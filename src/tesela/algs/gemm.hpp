#pragma once

#include "tesela/flow/matrix.hpp"

namespace tesela {

struct Scaling {
    double alpha = 1;
    double beta = 0;
};

/// C := alpha·A·B + beta·C, each of A and B possibly a transposed view. With beta = 0 C need not have been written.
/// Throws Error unless the cuts fit.
template <class T>
void gemm(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& C,
          const Scaling& scaling = {});

extern template void gemm(Stream&, const MatrixView<float>&, const MatrixView<float>&, const MatrixView<float>&,
                          const Scaling&);
extern template void gemm(Stream&, const MatrixView<double>&, const MatrixView<double>&, const MatrixView<double>&,
                          const Scaling&);

}  // namespace tesela
