#pragma once

#include "tesela/flow/matrix.hpp"

namespace tesela {

/// What generates a matrix: a pure function of the global index, and the caller's data for it, which outlives the work.
struct Elements {
    ElementFunction function = nullptr;
    const void* context = nullptr;
};

/// A(i, j) := elements(i, j), for the part of the matrix that the view means.
template <class T>
void generate(Stream& s, const MatrixView<T>& A, const Elements& elements);

/// A := value off the diagonal, diagonal value on it, in the part that the view means.
template <class T>
void fill(Stream& s, const MatrixView<T>& A, const LasetArguments& values);

/// sum := Σ A(i, j)·B(i, j), sum 1×1; products run where A lives.
template <class T>
void dot(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& sum);

/// sum := log det(L·Lᵀ) = 2·Σ log L(i, i), sum 1×1.
template <class T>
void log_determinant(Stream& s, const MatrixView<T>& L, const MatrixView<T>& sum);

#define TESELA_DECLARE_ELEMENTWISE(T)                                                                    \
    extern template void generate(Stream&, const MatrixView<T>&, const Elements&);                       \
    extern template void fill(Stream&, const MatrixView<T>&, const LasetArguments&);                     \
    extern template void dot(Stream&, const MatrixView<T>&, const MatrixView<T>&, const MatrixView<T>&); \
    extern template void log_determinant(Stream&, const MatrixView<T>&, const MatrixView<T>&)
TESELA_DECLARE_ELEMENTWISE(float);
TESELA_DECLARE_ELEMENTWISE(double);
#undef TESELA_DECLARE_ELEMENTWISE

}  // namespace tesela
