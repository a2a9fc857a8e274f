#include "tesela/algs/conjugate_gradients.hpp"

#include "tesela/algs/checks.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tesela {
namespace {

using Columns = std::vector<double>;  ///< a number for each column

/// B := alpha·A + beta·B.
void add(Stream& s, double alpha, const MatrixView<double>& A, double beta, const MatrixView<double>& B) {
    for (Index i = 0; i < A.tile_rows(); ++i)
        s.submit(Task(Dense<double>::geadd, GeaddArguments{.alpha = alpha, .beta = beta}, read(A(i, 0)),
                      read_write(B(i, 0))));
}

/// Preconditioned conjugate gradients, column by column side by side (Saad, Iterative Methods for Sparse Linear
/// Systems, algorithm 9.1).
class Iteration {
public:
    Iteration(Stream& s, const SymmetricProduct& A, const MatrixView<double>& L, const MatrixView<double>& B,
              const MatrixView<double>& X)
        : s_(s),
          A_(A),
          L_(L),
          B_(B),
          X_(X),
          columns_(B.cols(0)),
          r_(like("r")),
          z_(like("z")),
          p_(like("p")),
          q_(like("q")),
          gram_(small("products")),
          factors_(small("factors")) {}

    [[nodiscard]] Convergence run(const ConjugateGradientOptions& options) {
        Convergence result;
        norms_ = products(B_, B_);
        for (double& norm : norms_) norm = norm == 0 ? 1 : std::sqrt(norm);
        compute_residual();
        result.residual = residual();
        // Residuals along the way may be off by rounding: then it begins again from where it is.
        for (int round = 0; round < rounds && result.residual > options.tolerance; ++round) {
            const double before = result.residual;
            iterate(options, result);
            compute_residual();
            result.residual = residual();
            if (!(result.residual < before)) break;
        }
        result.status = s_.wait();
        result.converged = result.status.ok() && result.residual <= options.tolerance;
        return result;
    }

private:
    static constexpr int rounds = 4;

    void iterate(const ConjugateGradientOptions& options, Convergence& result) {
        precondition();
        copy(s_, z_.view(), p_.view());
        rho_ = products(r_.view(), z_.view());
        double reached = result.residual;
        while (reached > options.tolerance && result.iterations < options.max_iterations) {
            if (!advance(options.tolerance)) break;
            ++result.iterations;
            reached = residual();
        }
    }
    [[nodiscard]] Matrix<double> like(const char* name) const {
        return {s_, B_.matrix().tiling(), B_.matrix().distribution(), {.name = name}};
    }
    [[nodiscard]] Matrix<double> small(const char* name) const {
        return {s_,
                Tiling::square(columns_, columns_),
                Distribution({1, 1}, s_.engine().node_count(), {0}),
                {.name = name}};
    }
    /// pᵀ·q of every column.
    [[nodiscard]] Columns products(const MatrixView<double>& P, const MatrixView<double>& Q) {
        multiply_columns(s_, P, Q, gram_.view());
        const std::vector<double> all = gather(s_, gram_.view());
        Columns result;
        for (Index c = 0; c < columns_; ++c) result.push_back(all[static_cast<std::size_t>(c + c * columns_)]);
        return result;
    }
    /// To := to + from·diag(factors).
    void add_multiples(const MatrixView<double>& from, const Columns& factors, const MatrixView<double>& to) {
        generate(s_, factors_.view(),
                 [factors](Index i, Index j) { return i == j ? factors[static_cast<std::size_t>(i)] : 0.0; });
        gemm(s_, from, factors_.view(), to, {.alpha = 1, .beta = 1});
    }
    void compute_residual() {
        A_(X_, r_.view());
        add(s_, 1, B_, -1, r_.view());
    }
    /// The largest of a column; infinite if one is no number.
    [[nodiscard]] double residual() {
        relative_ = products(r_.view(), r_.view());
        double largest = 0;
        for (std::size_t c = 0; c < relative_.size(); ++c) {
            relative_[c] = std::sqrt(relative_[c]) / norms_[c];
            if (!std::isfinite(relative_[c])) relative_[c] = std::numeric_limits<double>::infinity();
            largest = std::max(largest, relative_[c]);
        }
        return largest;
    }
    void precondition() {
        copy(s_, r_.view(), z_.view());
        solve_cholesky(s_, L_, z_.view());
    }
    /// False where no direction leads on.
    [[nodiscard]] bool advance(double tolerance) {
        A_(p_.view(), q_.view());
        const Columns curvature = products(p_.view(), q_.view());
        Columns alpha(curvature.size(), 0);
        Columns minus_alpha(curvature.size(), 0);
        for (std::size_t c = 0; c < curvature.size(); ++c) {
            if (relative_[c] <= tolerance) continue;  // this column is there
            if (!(curvature[c] > 0) || !(rho_[c] > 0)) return false;
            alpha[c] = rho_[c] / curvature[c];
            minus_alpha[c] = -alpha[c];
        }
        add_multiples(p_.view(), alpha, X_);
        add_multiples(q_.view(), minus_alpha, r_.view());
        precondition();
        const Columns next = products(r_.view(), z_.view());
        Columns beta(next.size(), 0);
        for (std::size_t c = 0; c < next.size(); ++c)
            if (rho_[c] > 0) beta[c] = next[c] / rho_[c];
        add_multiples(p_.view(), beta, z_.view());  // p := z + beta·p
        copy(s_, z_.view(), p_.view());
        rho_ = next;
        return true;
    }

    Stream& s_;
    const SymmetricProduct& A_;
    MatrixView<double> L_, B_, X_;
    Index columns_;
    Matrix<double> r_, z_, p_, q_;
    Matrix<double> gram_, factors_;
    Columns norms_, rho_, relative_;
};

}  // namespace

void multiply_columns(Stream& s, const MatrixView<double>& P, const MatrixView<double>& Q,
                      const MatrixView<double>& G) {
    const MatrixView<double> Pt = P.transposed();
    s.submit(tasks::laset({}, G(0, 0)));
    for (Index k = 0; k < P.tile_rows(); ++k)
        s.submit(tasks::gemm(GemmArguments{}, Pt(0, k), Q(k, 0), reduce(G(0, 0)))
                     .on(P(k, 0).owner())
                     .at(static_cast<std::int32_t>(k), 0));
}

Convergence conjugate_gradients(Stream& s, const SymmetricProduct& A, const MatrixView<double>& L,
                                const MatrixView<double>& B, const MatrixView<double>& X,
                                const ConjugateGradientOptions& options) {
    require_same_rows(L, B, "a solve");
    require_same_rows(B, X, "a solve");
    if (B.tile_cols() != 1 || X.tile_cols() != 1)
        throw Error("a right-hand side of conjugate gradients is one tile wide");
    if (!(options.tolerance > 0)) throw Error("a tolerance must be above 0; it is {}", options.tolerance);
    const auto phase = s.phase("conjugate gradients");
    return Iteration(s, A, L, B, X).run(options);
}

}  // namespace tesela
