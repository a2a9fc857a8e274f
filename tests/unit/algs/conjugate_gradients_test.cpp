#include "tesela/algs/conjugate_gradients.hpp"

#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/generated_product.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela::conjugate_gradients_test {
namespace {

constexpr Index order = 90;
constexpr Index tile = 17;

double element(Index i, Index j) {
    return std::exp(-std::abs(static_cast<double>(i - j)) / 20) + (i == j ? 0.05 : 0.0);
}

/// A matrix, the factor of one that differs from it by at most `off` on the diagonal, and three right-hand sides.
struct Problem {
    explicit Problem(Stream& s, double off)
        : tiling(Tiling::square(order, tile)),
          owners(squarest_block_cyclic(tiling.grid(), s.engine().node_count())),
          A(s, tiling, owners),
          L(s, tiling, owners),
          B(s, tiling.with_columns(3, 3), along_diagonal(owners, 1)),
          X(s, tiling.with_columns(3, 3), along_diagonal(owners, 1)) {
        generate(s, A.view(), element);
        generate(s, L.view(), [off](Index i, Index j) {
            return element(i, j) + (i == j ? off * std::abs(std::sin(static_cast<double>(i))) : 0.0);
        });
        cholesky(s, L.lower());
        generate(s, B.view(), [](Index i, Index j) { return std::cos(static_cast<double>(i * (j + 1))); });
        fill(s, X.view(), {});
    }
    [[nodiscard]] SymmetricProduct product(Stream& s) const {
        return
            [this, &s](const MatrixView<double>& from, const MatrixView<double>& to) { gemm(s, A.view(), from, to); };
    }
    Tiling tiling;
    Distribution owners;
    Matrix<double> A, L, B, X;
};

double largest_residual(Stream& s, const Problem& p) {
    const std::vector<double> b = gather(s, p.B.view());
    const std::vector<double> x = gather(s, p.X.view());
    double largest = 0;
    for (Index c = 0; c < 3; ++c)
        for (Index i = 0; i < order; ++i) {
            double residual = b[static_cast<std::size_t>(i + c * order)];
            for (Index j = 0; j < order; ++j) residual -= element(i, j) * x[static_cast<std::size_t>(j + c * order)];
            largest = std::max(largest, std::abs(residual));
        }
    return largest;
}

TEST(ConjugateGradients, SolveToTheToleranceOnEveryNumberOfNodes) {
    for (const Index nodes : {1, 2, 3}) {
        InlineEngine engine(nodes);
        Stream s(engine);
        Problem p(s, 0.2);
        const Convergence found = conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view());
        EXPECT_TRUE(found.converged);
        EXPECT_GT(found.iterations, 2);
        EXPECT_LE(found.residual, 1e-10);
        EXPECT_LE(largest_residual(s, p), 1e-8);
    }
}

TEST(GeneratedProduct, IsThatOfTheStoredMatrixOnEveryNumberOfNodes) {
    for (const Index nodes : {1, 3}) {
        InlineEngine engine(nodes);
        Stream s(engine);
        const Problem p(s, 0);
        const Matrix<double> stored(s, p.B.tiling(), p.B.distribution());
        const Matrix<double> generated(s, p.B.tiling(), p.B.distribution());
        p.product(s)(p.B.view(), stored.view());
        generated_product(s, element)(p.B.view(), generated.view());
        const std::vector<double> a = gather(s, stored.view());
        const std::vector<double> b = gather(s, generated.view());
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
        ASSERT_TRUE(s.wait().ok());
        const Convergence solved = conjugate_gradients(s, generated_product(s, element), p.L.lower(), p.B.view(),
                                                       p.X.view(), {.tolerance = 1e-11});
        EXPECT_TRUE(solved.converged);
        EXPECT_THROW(generated_product(s, element)(p.B.view(), p.A.view()), Error);
    }
}

TEST(GeneratedProduct, OfAFunctionThatThrowsFailsTheStream) {
    InlineEngine engine;
    Stream s(engine);
    const Problem p(s, 0);
    generated_product(s, [](Index i, Index) -> double { throw Error("row {}", i); })(p.B.view(), p.X.view());
    EXPECT_EQ(s.wait().failure, Failure::stated);
}

TEST(FactorResidual, IsWhatTheFactorIsOffBy) {
    InlineEngine engine;
    Stream s(engine);
    const Problem exact(s, 0);
    EXPECT_LT(factor_residual(s, generated_product(s, element), exact.L.view(), 3), 1e-13);
    // The difference is diagonal, with elements up to 0.02: ‖·‖₂ is the largest of them.
    const Problem off(s, 0.02);
    double largest = 0;
    for (Index i = 0; i < order; ++i) largest = std::max(largest, 0.02 * std::abs(std::sin(static_cast<double>(i))));
    const double found = factor_residual(s, generated_product(s, element), off.L.view(), 200);
    EXPECT_LE(found, largest * (1 + 1e-12));
    EXPECT_GE(found, 0.95 * largest);
}

TEST(ConjugateGradients, NeedFewerIterationsWithABetterFactor) {
    InlineEngine engine;
    Stream s(engine);
    Index before = order;
    for (const double off : {1.0, 0.01, 1e-6}) {
        Problem p(s, off);
        const Convergence found = conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view());
        EXPECT_TRUE(found.converged);
        EXPECT_LT(found.iterations, before) << off;
        before = found.iterations;
    }
    Problem exact(s, 0);
    EXPECT_LE(conjugate_gradients(s, exact.product(s), exact.L.lower(), exact.B.view(), exact.X.view()).iterations, 2);
}

TEST(ConjugateGradients, AreDoneAtOnceFromTheSolution) {
    InlineEngine engine;
    Stream s(engine);
    Problem p(s, 0.1);
    (void)conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view(), {.tolerance = 1e-12});
    const Convergence again = conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view());
    EXPECT_EQ(again.iterations, 0);
    EXPECT_TRUE(again.converged);
}

TEST(ConjugateGradients, SolveColumnsThatAreZeroOrConvergeEarly) {
    InlineEngine engine(2);
    Stream s(engine);
    Problem p(s, 0.3);
    // The second column is zero, the third is A·e.
    generate(s, p.B.view(), [](Index i, Index j) { return j == 1 ? 0.0 : j == 2 ? element(i, 4) : 1.0; });
    generate(s, p.X.view(), [](Index i, Index j) { return j == 2 && i == 4 ? 1.0 : 0.0; });
    EXPECT_TRUE(conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view()).converged);
    EXPECT_LE(largest_residual(s, p), 1e-8);
    const std::vector<double> x = gather(s, p.X.view());
    for (Index i = 0; i < order; ++i) EXPECT_EQ(x[static_cast<std::size_t>(i + order)], 0);
}

TEST(ConjugateGradients, SayThatAMatrixIsNotPositiveDefinite) {
    InlineEngine engine;
    Stream s(engine);
    Problem p(s, 0.1);
    const SymmetricProduct negative = [&](const MatrixView<double>& from, const MatrixView<double>& to) {
        gemm(s, p.A.view(), from, to, {.alpha = -1});
    };
    const Convergence found = conjugate_gradients(s, negative, p.L.lower(), p.B.view(), p.X.view());
    EXPECT_FALSE(found.converged);
    EXPECT_TRUE(found.status.ok());
}

TEST(ConjugateGradients, EndWhenTheyHaveTakenTheIterationsTheyMay) {
    InlineEngine engine;
    Stream s(engine);
    Problem p(s, 1);
    const Convergence found =
        conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view(), {.max_iterations = 2});
    EXPECT_EQ(found.iterations, 2);
    EXPECT_FALSE(found.converged);
    EXPECT_GT(found.residual, 1e-10);
}

TEST(ConjugateGradients, AreNotDoneWithWhatIsNoNumber) {
    for (const Index bad : {0, 1}) {
        InlineEngine engine;
        Stream s(engine);
        Problem p(s, 0.1);
        generate(s, p.B.view(), [bad](Index i, Index j) { return i == 3 && j == bad ? std::nan("") : 1.0; });
        const Convergence found = conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view());
        EXPECT_FALSE(found.converged);
        EXPECT_FALSE(std::isfinite(found.residual));
    }
}

TEST(ConjugateGradients, RefuseWhatDoesNotFit) {
    InlineEngine engine;
    Stream s(engine);
    Problem p(s, 1);
    const Tiling three = Tiling::square(order, 30);
    const Matrix<double> other(s, three.with_columns(3, 3), along_diagonal(squarest_block_cyclic(three.grid(), 1), 1));
    EXPECT_THROW((void)conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), other.view()), Error);
    EXPECT_THROW((void)conjugate_gradients(s, p.product(s), p.L.lower(), p.B.view(), p.X.view(), {.tolerance = 0}),
                 Error);
}

}  // namespace
}  // namespace tesela::conjugate_gradients_test
