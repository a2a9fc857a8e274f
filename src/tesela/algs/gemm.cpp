#include "tesela/algs/gemm.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"

namespace tesela {
namespace {

/// C := beta·C; with beta = 0 it need not have been written.
template <class T>
void scale(Stream& s, const MatrixView<T>& C, double beta) {
    for (Index i = 0; i < C.tile_rows(); ++i)
        for (Index j = 0; j < C.tile_cols(); ++j) {
            if (beta == 0)
                s.submit(tasks::laset({}, C(i, j)));
            else if (beta != 1)
                s.submit(Task(Dense<T>::scale, {beta}, read_write(C(i, j))));
        }
}

}  // namespace

template <class T>
void gemm(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const MatrixView<T>& C, const Scaling& scaling) {
    if (C.op() != Op::none) throw Error("the result {} of a product cannot be a transposed view", C.matrix().name());
    for (const MatrixView<T>& view : {A, B, C}) require_whole(view, "a product");
    require_product(A, B, "a product");
    require_same_rows(A, C, "a product");
    require_same_rows(B.transposed(), C.transposed(), "a product");
    const auto phase = s.phase("gemm");
    if (A.tile_cols() == 0) return scale(s, C, scaling.beta);  // nothing is added
    for (Index k = 0; k < A.tile_cols(); ++k) {
        const double beta = k == 0 ? scaling.beta : 1;
        const auto step = static_cast<std::int32_t>(k);
        for (Index i = 0; i < C.tile_rows(); ++i)
            s.share_with_owners(A(i, k), {C.block({i, 0}, {i + 1, C.tile_cols()})});
        for (Index j = 0; j < C.tile_cols(); ++j)
            s.share_with_owners(B(k, j), {C.block({0, j}, {C.tile_rows(), j + 1})});
        for (Index i = 0; i < C.tile_rows(); ++i)
            for (Index j = 0; j < C.tile_cols(); ++j)
                s.submit(tasks::gemm(scaling.alpha, A(i, k), B(k, j), beta, C(i, j)).at(step, 0));
        for (Index i = 0; i < C.tile_rows(); ++i) s.retire(A(i, k));
        for (Index j = 0; j < C.tile_cols(); ++j) s.retire(B(k, j));
    }
}

template void gemm(Stream&, const MatrixView<float>&, const MatrixView<float>&, const MatrixView<float>&,
                   const Scaling&);
template void gemm(Stream&, const MatrixView<double>&, const MatrixView<double>&, const MatrixView<double>&,
                   const Scaling&);

}  // namespace tesela
