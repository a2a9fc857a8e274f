#include "tesela/algs/solve.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"

namespace tesela {
namespace {

/// B(i, c) -= A(i, k)·B(k, c), where the right-hand side lives or where the matrix tile lives.
template <class T>
Task update(const SolveOptions& options, TileOf<T> a, TileOf<T> b, TileOf<T> c) {
    const GemmArguments minus{.alpha = -1};
    if (options.form == SolveForm::classical) return tasks::gemm(minus, a, b, read_write(c));
    return tasks::gemm(minus, a, b, reduce(c)).on(a.owner());
}

}  // namespace

template <class T>
void solve_triangular(Stream& s, const MatrixView<T>& A, const MatrixView<T>& B, const SolveOptions& options) {
    if (A.part() == Part::all) throw Error("a triangular solve needs a lower or upper view of {}", A.matrix().name());
    require_same_rows(A, B, "a triangular solve");
    require_same_rows(A, A.transposed(), "a triangular solve");
    const auto phase = s.phase("solve");
    const Index nt = A.tile_rows();
    const PriorityRule priority(options.priorities, nt);
    const TriangularArguments diagonal{
        .side = Side::left, .triangle = stored_triangle(A), .diagonal = options.diagonal};
    // Forward from the first row for a lower triangle, backward from the last for an upper one.
    const auto row = [&](Index position) { return A.part() == Part::lower ? position : nt - 1 - position; };
    for (Index p = 0; p < nt; ++p) {
        const Index k = row(p);
        const auto step = static_cast<std::int32_t>(p);
        for (Index c = 0; c < B.tile_cols(); ++c)
            s.submit(tasks::trsm(diagonal, A(k, k), B(k, c)).at(step, priority.solve_trsm(p)));
        s.retire(A(k, k));
        // What is left of B is updated with it, there or where the tiles of A are.
        const Index first = A.part() == Part::lower ? k + 1 : 0;
        const Index last = A.part() == Part::lower ? nt : k;
        for (Index c = 0; c < B.tile_cols(); ++c)
            s.share_with_owners(B(k, c),
                                {options.form == SolveForm::classical ? B.block({first, c}, {last, c + 1})
                                                                      : A.block({first, k}, {last, k + 1})},
                                priority.solve_gemm(p + 1, p));
        for (Index q = p + 1; q < nt; ++q) {
            const Index i = row(q);
            for (Index c = 0; c < B.tile_cols(); ++c)
                s.submit(update(options, A(i, k), B(k, c), B(i, c)).at(step, priority.solve_gemm(q, p)));
            s.retire(A(i, k));
        }
        for (Index c = 0; c < B.tile_cols(); ++c) s.retire(B(k, c));
    }
}

template <class T>
void solve_cholesky(Stream& s, const MatrixView<T>& L, const MatrixView<T>& B, const SolveOptions& options) {
    require_factorable(L, "a solve with a Cholesky factor");
    const MatrixView<T> lower = L.as(Part::lower);
    solve_triangular(s, lower, B, options);
    solve_triangular(s, lower.transposed(), B, options);
}

template <class T>
void solve_lu(Stream& s, const MatrixView<T>& LU, const MatrixView<T>& B, const SolveOptions& options) {
    require_factorable(LU, "a solve with the factors of LU");
    SolveOptions unit = options;
    unit.diagonal = Diagonal::unit;
    solve_triangular(s, LU.as(Part::lower), B, unit);
    solve_triangular(s, LU.as(Part::upper), B, options);
}

#define TESELA_INSTANTIATE_SOLVE(T)                                                                           \
    template void solve_triangular(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&); \
    template void solve_cholesky(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&);   \
    template void solve_lu(Stream&, const MatrixView<T>&, const MatrixView<T>&, const SolveOptions&)
TESELA_INSTANTIATE_SOLVE(float);
TESELA_INSTANTIATE_SOLVE(double);
#undef TESELA_INSTANTIATE_SOLVE

}  // namespace tesela
