#include "tesela/algs/lu.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"

namespace tesela {
namespace {

constexpr TriangularArguments left_unit_lower{
    .side = Side::left, .triangle = Triangle::lower, .diagonal = Diagonal::unit};
constexpr TriangularArguments right_upper{.side = Side::right, .triangle = Triangle::upper};

}  // namespace

template <class T>
void lu(Stream& s, const MatrixView<T>& A, const FactorOptions& options) {
    require_factorable(A, "LU");
    require_whole(A, "LU");
    if (options.diagonal_tile != 0) throw Error("smaller tiles on the diagonal are for Cholesky; LU has none");
    const auto phase = s.phase("lu");
    const Index nt = A.tile_rows();
    const PriorityRule priority(options.priorities, nt);
    for (Index k = 0; k < nt; ++k) {
        const auto step = static_cast<std::int32_t>(k);
        s.submit(tasks::getrf(A(k, k)).at(step, priority.potrf(k)).critical());
        s.share_with_owners(A(k, k), {A.block({k + 1, k}, {nt, k + 1}), A.block({k, k + 1}, {k + 1, nt})},
                            priority.trsm(k + 1, k));
        for (Index i = k + 1; i < nt; ++i) {
            s.submit(tasks::trsm(right_upper, A(k, k), A(i, k)).at(step, priority.trsm(i, k)));
            s.share_with_owners(A(i, k), {A.block({i, k + 1}, {i + 1, nt})}, priority.gemm({i, k + 1}, k));
            s.submit(tasks::trsm(left_unit_lower, A(k, k), A(k, i)).at(step, priority.trsm(i, k)));
            s.share_with_owners(A(k, i), {A.block({k + 1, i}, {nt, i + 1})}, priority.gemm({k + 1, i}, k));
        }
        s.retire(A(k, k));
        for (Index j = k + 1; j < nt; ++j)
            for (Index i = k + 1; i < nt; ++i)
                s.submit(tasks::gemm(-1, A(i, k), A(k, j), 1, A(i, j)).at(step, priority.gemm({i, j}, k)));
        for (Index i = k + 1; i < nt; ++i) {
            s.retire(A(i, k));
            s.retire(A(k, i));
        }
    }
}

template void lu(Stream&, const MatrixView<float>&, const FactorOptions&);
template void lu(Stream&, const MatrixView<double>&, const FactorOptions&);

}  // namespace tesela
