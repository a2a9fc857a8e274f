#include "tesela/geo/internal/whitened.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <cstring>

namespace tesela::geo {

SmallMatrix elements_of(Fetched& fetched, Index rows, Index cols) {
    fetched.wait();
    SmallMatrix result(rows, cols);
    if (fetched.has_value())
        std::memcpy(result.values.data(), fetched.bytes().data(), result.values.size() * sizeof(double));
    return result;
}

void invert_sigma(const Likelihood& likelihood, const Matrix<double>& result) {
    copy(likelihood.stream(), likelihood.factor(), result.lower());
    inverse(likelihood.stream(), result.lower());
}

Matrix<double> column_like_sigma(const Likelihood& likelihood, Index columns, const char* name) {
    const Attachment& sigma = likelihood.factor().matrix();
    return {likelihood.stream(),
            sigma.tiling().with_columns(columns, columns),
            along_diagonal(sigma.distribution(), 1),
            {.name = name}};
}

Matrix<double> combine_whitened(const Likelihood& likelihood, const SmallMatrix& C, const char* name) {
    Stream& s = likelihood.stream();
    const ElementIndex size{C.rows, C.cols};
    const Matrix<double> small(s, Tiling::uniform(size, size), Distribution({1, 1}, s.engine().node_count(), {0}),
                               {.name = "C"});
    generate(s, small.view(), [C](Index i, Index j) { return C(i, j); });
    Matrix<double> result = column_like_sigma(likelihood, C.cols, name);
    gemm(s, likelihood.whitened(), small.view(), result.view());
    return result;
}

Matrix<double> weighted_residual(const Likelihood& likelihood, const LeastSquares& fit) {
    SmallMatrix C(1 + likelihood.basis().size(), 1);
    C(0, 0) = 1;
    for (Index k = 1; k < C.rows; ++k) C(k, 0) = -fit.coefficients[static_cast<std::size_t>(k - 1)];
    Matrix<double> result = combine_whitened(likelihood, C, "w");
    solve_triangular(likelihood.stream(), likelihood.factor().transposed(), result.view());
    return result;
}

SmallMatrix trend_root(const LeastSquares& fit) {
    std::optional<SmallMatrix> M = small_cholesky(fit.covariance, 0);
    if (!M) throw Error("the coefficients of the trend are not determined by the data; use a simpler trend");
    return *std::move(M);
}

Matrix<double> orthonormal_trend(const Likelihood& likelihood, const SmallMatrix& M) {
    SmallMatrix C(1 + M.rows, M.cols);  // nothing of z
    for (Index j = 0; j < M.cols; ++j)
        for (Index i = 0; i < M.rows; ++i) C(1 + i, j) = M(i, j);
    return combine_whitened(likelihood, C, "U");
}

}  // namespace tesela::geo
