#include "tesela/algs/cholesky.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"

namespace tesela {
namespace {

constexpr TriangularArguments right_lower{.side = Side::right, .triangle = Triangle::lower};
constexpr TriangularArguments left_lower{.side = Side::left, .triangle = Triangle::lower};

std::int32_t step(Index k) { return static_cast<std::int32_t>(k); }

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
void cholesky(Stream& s, const MatrixView<T>& A, const FactorOptions& options) {
    require_factorable(A, "Cholesky");
    const auto phase = s.phase("cholesky");
    const Index nt = A.tile_rows();
    const PriorityRule priority(options.priorities, nt);
    for (Index k = 0; k < nt; ++k) {
        s.submit(tasks::potrf(A(k, k)).at(step(k), priority.potrf(k)).critical());
        s.share_with_owners(A(k, k), {A.block({k + 1, k}, {nt, k + 1})}, priority.trsm(k + 1, k));
        for (Index i = k + 1; i < nt; ++i) {
            s.submit(tasks::trsm(right_lower, A.transposed()(k, k), A(i, k)).at(step(k), priority.trsm(i, k)));
            // Row i and column i of what is left are updated with it.
            s.share_with_owners(A(i, k), {A.block({i, k + 1}, {i + 1, i + 1}), A.block({i, i}, {nt, i + 1})},
                                priority.gemm({i, k + 1}, k));
        }
        s.retire(A(k, k));
        for (Index j = k + 1; j < nt; ++j) {
            s.submit(tasks::syrk(-1, A(j, k), 1, A(j, j)).at(step(k), priority.syrk(j, k)));
            for (Index i = j + 1; i < nt; ++i)
                s.submit(
                    tasks::gemm(-1, A(i, k), A.transposed()(k, j), 1, A(i, j)).at(step(k), priority.gemm({i, j}, k)));
        }
        for (Index i = k + 1; i < nt; ++i) s.retire(A(i, k));
    }
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
            s.submit(tasks::gemm(-0.5, L(i, k), A(k, k), 1, A(i, k)).at(step(k), 0));
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

template void cholesky(Stream&, const MatrixView<float>&, const FactorOptions&);
template void cholesky(Stream&, const MatrixView<double>&, const FactorOptions&);
template void inverse(Stream&, const MatrixView<float>&);
template void inverse(Stream&, const MatrixView<double>&);
template void congruence(Stream&, const MatrixView<float>&, const MatrixView<float>&);
template void congruence(Stream&, const MatrixView<double>&, const MatrixView<double>&);

}  // namespace tesela
