#include "tesela/algs/cholesky.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/internal/factorise.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"

namespace tesela {
namespace {

using tasks::step;

constexpr TriangularArguments right_lower{.side = Side::right, .triangle = Triangle::lower};
constexpr TriangularArguments left_lower{.side = Side::left, .triangle = Triangle::lower};

/// L := L⁻¹, lower triangular, column by column from the left: products with inverses of the diagonal tiles, which are
/// there at once and twice as fast as solves with these.
template <class T>
void invert_triangle(Stream& s, const MatrixView<T>& L) {
    const Index nt = L.tile_rows();
    TriangularArguments negated = right_lower;
    negated.alpha = -1;
    for (Index k = 0; k < nt; ++k) {
        s.submit(tasks::trtri(L(k, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i) s.submit(tasks::trmm(negated, L(k, k), L(i, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i)
            for (Index j = 0; j < k; ++j) s.submit(tasks::gemm(1, L(i, k), L(k, j), 1, L(i, j)).at(step(k), 0));
        for (Index j = 0; j < k; ++j) s.submit(tasks::trmm(left_lower, L(k, k), L(k, j)).at(step(k), 0));
        for (Index i = k; i < nt; ++i) s.retire(L(i, k));
        for (Index j = 0; j < k; ++j) s.retire(L(k, j));
    }
}

/// Lower triangle of Lᵀ·L in place of L, row by row.
template <class T>
void multiply_transposed(Stream& s, const MatrixView<T>& L) {
    const Index nt = L.tile_rows();
    const MatrixView<T> Lt = L.transposed();
    for (Index k = 0; k < nt; ++k) {
        for (Index j = 0; j < k; ++j) {
            s.submit(tasks::syrk(1, Lt(j, k), 1, L(j, j)).at(step(k), 0));
            for (Index i = j + 1; i < k; ++i) s.submit(tasks::gemm(1, Lt(i, k), L(k, j), 1, L(i, j)).at(step(k), 0));
        }
        for (Index j = 0; j < k; ++j) s.submit(tasks::trmm(left_lower, Lt(k, k), L(k, j)).at(step(k), 0));
        s.submit(tasks::lauum(L(k, k)).at(step(k), 0));
        for (Index j = 0; j <= k; ++j) s.retire(L(k, j));
    }
}

}  // namespace

template <class T>
void factorise(Stream& s, const MatrixView<T>& A, const FactorMarks& marks, Index diagonal_tile) {
    const Index nt = A.tile_rows();
    for (Index k = 0; k < nt; ++k) {
        if (diagonal_tile > 0 && A.rows(k) > diagonal_tile)
            potrf_in_parts(s, A(k, k), marks.in_parts(k, diagonal_tile));
        else
            s.submit(marks.potrf(tasks::potrf(A(k, k), marks.first_row()), k));
        s.share_with_owners(A(k, k), {A.block({k + 1, k}, {nt, k + 1})}, marks.to_solves(k));
        for (Index i = k + 1; i < nt; ++i) {
            s.submit(marks.trsm(tasks::trsm(right_lower, A.transposed()(k, k), A(i, k)), i, k));
            // Row i and column i of what is left are updated with it.
            s.share_with_owners(A(i, k), {A.block({i, k + 1}, {i + 1, i + 1}), A.block({i, i}, {nt, i + 1})},
                                marks.to_products(i, k));
        }
        s.retire(A(k, k));
        for (Index j = k + 1; j < nt; ++j) {
            s.submit(marks.syrk(tasks::syrk(-1, A(j, k), 1, A(j, j)), j, k));
            for (Index i = j + 1; i < nt; ++i)
                s.submit(marks.gemm(tasks::gemm(-1, A(i, k), A.transposed()(k, j), 1, A(i, j)), {i, j}, k));
        }
        for (Index i = k + 1; i < nt; ++i) s.retire(A(i, k));
    }
}

template <class T>
void cholesky(Stream& s, const MatrixView<T>& A, const FactorOptions& options) {
    require_factorable(A, "Cholesky");
    if (options.diagonal_tile < 0)
        throw Error("the rows of tiles within a diagonal tile must be at least 0, which means none; it is {}",
                    options.diagonal_tile);
    const auto phase = s.phase("cholesky");
    factorise(s, A, FactorMarks(options.priorities, A.tile_rows()), options.diagonal_tile);
}

template <class T>
void inverse(Stream& s, const MatrixView<T>& L) {
    require_factorable(L, "the inverse");
    const auto phase = s.phase("inverse");
    invert_triangle(s, L);
    multiply_transposed(s, L);
}

// Column by column; A(i, k) gets half of its product with A(k, k) before the symmetric update of what is to the right
// and half after it, so that the update is one of rank 2 (LAPACK's dsygst does the same).
template <class T>
void congruence(Stream& s, const MatrixView<T>& L, const MatrixView<T>& A) {
    require_factorable(L, "a congruence");
    require_factorable(A, "a congruence");
    require_same_rows(L, A, "a congruence");
    const auto phase = s.phase("congruence");
    const Index nt = A.tile_rows();
    const MatrixView<T> Lt = L.transposed();
    const MatrixView<T> At = A.transposed();
    for (Index k = 0; k < nt; ++k) {
        const auto add_half_product = [&](Index i) {
            s.submit(tasks::gemm(-0.5, L(i, k), A(k, k).stored(), 1, A(i, k)).at(step(k), 0));
        };
        s.submit(tasks::trsm(left_lower, L(k, k), A(k, k)).at(step(k), 0));
        s.submit(tasks::trsm(right_lower, Lt(k, k), A(k, k)).at(step(k), 0));
        for (Index i = k + 1; i < nt; ++i) {
            s.submit(tasks::trsm(right_lower, Lt(k, k), A(i, k)).at(step(k), 0));
            add_half_product(i);
        }
        for (Index j = k + 1; j < nt; ++j)
            for (Index i = j; i < nt; ++i) {
                s.submit(tasks::gemm(-1, A(i, k), Lt(k, j), 1, A(i, j)).at(step(k), 0));
                s.submit(tasks::gemm(-1, L(i, k), At(k, j), 1, A(i, j)).at(step(k), 0));
            }
        for (Index i = k + 1; i < nt; ++i) add_half_product(i);
        for (Index j = k + 1; j < nt; ++j) {
            s.submit(tasks::trsm(left_lower, L(j, j), A(j, k)).at(step(k), 0));
            for (Index i = j + 1; i < nt; ++i) s.submit(tasks::gemm(-1, L(i, j), A(j, k), 1, A(i, k)).at(step(k), 0));
        }
        for (Index i = k; i < nt; ++i) s.retire(A(i, k));
    }
    for (Index k = 0; k < nt; ++k)
        for (Index i = k; i < nt; ++i) s.retire(L(i, k));
}

template void factorise(Stream&, const MatrixView<float>&, const FactorMarks&, Index);
template void factorise(Stream&, const MatrixView<double>&, const FactorMarks&, Index);
template void cholesky(Stream&, const MatrixView<float>&, const FactorOptions&);
template void cholesky(Stream&, const MatrixView<double>&, const FactorOptions&);
template void inverse(Stream&, const MatrixView<float>&);
template void inverse(Stream&, const MatrixView<double>&);
template void congruence(Stream&, const MatrixView<float>&, const MatrixView<float>&);
template void congruence(Stream&, const MatrixView<double>&, const MatrixView<double>&);

}  // namespace tesela
