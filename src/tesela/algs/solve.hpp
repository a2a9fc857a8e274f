#pragma once

#include "tesela/algs/priorities.hpp"
#include "tesela/flow/matrix.hpp"

#include <cstdint>

namespace tesela {

/// Where the products of a triangular solve run. `classical`: where the right-hand side lives, so that matrix tiles
/// travel. `local` (paper 000, Algorithm 1): where the matrix tile lives, so that only small sums travel.
enum class SolveForm : std::uint8_t { local, classical };

struct SolveOptions {
    SolveForm form = SolveForm::local;
    Diagonal diagonal = Diagonal::general;
    Priorities priorities = Priorities::critical_path;
};

/// B := A⁻¹·B for a triangular view A (lower or upper, possibly transposed). Throws Error unless the rows of A and B
/// are cut alike.
template <class T>
void solve_triangular(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const SolveOptions& options = {});

/// B := A⁻¹·B from the Cholesky factor L of A.
template <class T>
void solve_cholesky(Stream& s, const MatrixView<T>& L, const MatrixView<T>& B, const SolveOptions& options = {});

/// B := A⁻¹·B from the factors L and U that `lu` left in A.
template <class T>
void solve_lu(Stream& s, const MatrixView<T>& LU, const MatrixView<T>& B, const SolveOptions& options = {});

#define TESELA_DECLARE_SOLVE(T)                                                                                      \
    extern template void solve_triangular(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&); \
    extern template void solve_cholesky(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&);   \
    extern template void solve_lu(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&)
TESELA_DECLARE_SOLVE(float);
TESELA_DECLARE_SOLVE(double);
#undef TESELA_DECLARE_SOLVE

}  // namespace tesela
