#include "tesela/algs/multiply.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"

namespace tesela {

template <class T>
void multiply_triangular(Stream& s, const MatrixView<T>& A, const MatrixView<T>& X, const MatrixView<T>& Y) {
    if (A.part() == Part::all) throw Error("a triangular product needs a lower or upper view of {}", A.matrix().name());
    require_same_rows(A, X, "a triangular product");
    require_same_rows(A, Y, "a triangular product");
    require_same_rows(A, A.transposed(), "a triangular product");
    const auto phase = s.phase("multiply");
    const Index nt = A.tile_rows();
    const bool lower = A.part() == Part::lower;
    const TriangularArguments diagonal{.side = Side::left, .triangle = stored_triangle(A)};
    for (Index i = 0; i < nt; ++i)
        for (Index c = 0; c < X.tile_cols(); ++c) {
            s.submit(tasks::copy(X(i, c), Y(i, c)));
            s.submit(tasks::trmm(diagonal, A(i, i), Y(i, c)));
            for (Index j = lower ? 0 : i + 1; j < (lower ? i : nt); ++j)
                s.submit(tasks::gemm(GemmArguments{}, A(i, j), X(j, c), reduce(Y(i, c))).on(A(i, j).owner()));
        }
}

template void multiply_triangular(Stream&, const MatrixView<float>&, const MatrixView<float>&,
                                  const MatrixView<float>&);
template void multiply_triangular(Stream&, const MatrixView<double>&, const MatrixView<double>&,
                                  const MatrixView<double>&);

template <class T>
void multiply_transposed(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& C) {
    require_product(A.transposed(), B, "a transposed product");
    require_same_rows(A.transposed(), C, "a transposed product");
    require_same_rows(B.transposed(), C.transposed(), "a transposed product");
    const auto phase = s.phase("multiply");
    for (Index i = 0; i < C.tile_rows(); ++i)
        for (Index j = 0; j < C.tile_cols(); ++j) {
            s.submit(tasks::laset({}, C(i, j)));
            for (Index k = 0; k < A.tile_rows(); ++k)
                s.submit(tasks::gemm<T>(GemmArguments{}, A.transposed()(i, k), B(k, j), reduce(C(i, j)))
                             .on(A(k, i).owner()));
        }
}

template void multiply_transposed(Stream&, const MatrixView<float>&, const MatrixView<float>&,
                                  const MatrixView<float>&);
template void multiply_transposed(Stream&, const MatrixView<double>&, const MatrixView<double>&,
                                  const MatrixView<double>&);

}  // namespace tesela
