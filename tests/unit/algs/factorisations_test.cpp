#include "support/cases.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::factorisations_test {
namespace {

using testing::Case;
using testing::Family;

Case any_case() {
    return {.n = *rc::gen::inRange<Index>(1, 120),
            .tile = *rc::gen::inRange<Index>(1, 50),
            .family = *rc::gen::element(Family::block_cyclic, Family::random),
            .seed = *rc::gen::inRange<std::uint64_t>(0, 1000),
            .form = *rc::gen::element(SolveForm::local, SolveForm::classical),
            .priorities = *rc::gen::element(Priorities::critical_path, Priorities::none),
            .right_hand_sides = *rc::gen::inRange<Index>(1, 6),
            .diagonal_tile = *rc::gen::inRange<Index>(0, 20)};
}

RC_GTEST_PROP(Cholesky, FactorSolutionAndInverseEqualLapack, ()) {
    const Case c = any_case();
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 7));
    RC_ASSERT(testing::run_cholesky<double>(engine, c).worst() <= 1);
    RC_ASSERT(testing::run_cholesky<float>(engine, c).worst() <= 1);
}

RC_GTEST_PROP(Lu, FactorAndSolutionEqualLapack, ()) {
    const Case c = any_case();
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 7));
    RC_ASSERT(testing::run_lu<double>(engine, c).worst() <= 1);
    RC_ASSERT(testing::run_lu<float>(engine, c).worst() <= 1);
}

TEST(Cholesky, ASingleElementIsItsSquareRoot) {
    InlineEngine engine;
    EXPECT_LE(testing::run_cholesky<double>(engine, {.n = 1, .tile = 7}).worst(), 1);
}

TEST(Cholesky, ATileLargerThanTheMatrixIsOneTile) {
    InlineEngine engine;
    EXPECT_LE(testing::run_cholesky<double>(engine, {.n = 30, .tile = 1000}).worst(), 1);
}

TEST(Cholesky, AnEmptyMatrixIsDoneAtOnce) {
    InlineEngine engine;
    Stream s(engine);
    Matrix<double> A(s, Tiling::square(0, 5), Distribution({0, 0}, 1, {}));
    cholesky(s, A);
    EXPECT_TRUE(s.wait().ok());
}

double indefinite_at(const void* pivot, ElementIndex at) {
    if (at.i != at.j) return 0;
    return at.i == *static_cast<const Index*>(pivot) ? -1 : 4;
}

/// How the factorisation of a matrix with these elements ends.
template <class T>
Status status_of(void (*factorise)(Stream&, const MatrixView<T>&, const FactorOptions&), const Tiling& tiling,
                 const Elements& elements, const FactorOptions& options = {}) {
    InlineEngine engine;
    Stream s(engine);
    const Matrix<T> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    generate(s, A.view(), elements);
    factorise(s, A.view(), options);
    return s.wait();
}

RC_GTEST_PROP(Cholesky, AMatrixThatIsNotPositiveDefiniteGivesItsFirstBadPivot, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 80);
    const Index pivot = *rc::gen::inRange<Index>(0, n);
    const Tiling tiling = Tiling::square(n, *rc::gen::inRange<Index>(1, 30));
    const Status expected{Failure::not_positive_definite, pivot};
    const FactorOptions options{.diagonal_tile = *rc::gen::inRange<Index>(0, 12)};
    RC_ASSERT(status_of<double>(cholesky, tiling, {indefinite_at, &pivot}, options) == expected);
    RC_ASSERT(status_of<float>(cholesky, tiling, {indefinite_at, &pivot}, options) == expected);
}

double nan_at(const void* pivot, ElementIndex at) {
    if (at.i != at.j) return 0;
    return at.i == *static_cast<const Index*>(pivot) ? std::numeric_limits<double>::quiet_NaN() : 4;
}

TEST(Cholesky, ANanOnTheDiagonalIsABadPivotAndNotAResult) {
    const Index pivot = 13;
    const Status expected{Failure::not_positive_definite, pivot};
    EXPECT_EQ(status_of<double>(cholesky, Tiling::square(40, 9), {nan_at, &pivot}), expected);
    EXPECT_EQ(status_of<float>(cholesky, Tiling::square(40, 9), {nan_at, &pivot}), expected);
}

TEST(Lu, AZeroPivotIsReportedWithItsIndex) {
    const auto zero_at_ten = [](const void*, ElementIndex at) { return at.i == at.j && at.i != 10 ? 1.0 : 0.0; };
    const Status expected{Failure::zero_pivot, 10};
    EXPECT_EQ(status_of<double>(lu, Tiling::square(25, 4), {zero_at_ten}), expected);
    EXPECT_EQ(status_of<float>(lu, Tiling::square(25, 4), {zero_at_ten}), expected);
}

TEST(Cholesky, AStreamCanBeUsedAgainAfterAFailure) {
    const Index pivot = 3;
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(20, 6);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    generate(s, A.view(), {indefinite_at, &pivot});
    cholesky(s, A);
    ASSERT_FALSE(s.wait().ok());
    generate(s, A.view(), {testing::spd_element});
    cholesky(s, A);
    EXPECT_TRUE(s.wait().ok());
}

TEST(Checks, SwitchesThatMeanNothingAreRefused) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(12, 4);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    fill(s, A.view(), {.off_diagonal = 0, .diagonal = 1});
    EXPECT_THROW(cholesky(s, A, {.diagonal_tile = -1}), Error);
    EXPECT_THROW(lu(s, A, {.diagonal_tile = 2}), Error);
}

TEST(Checks, AMatrixThatIsNotSquareIsRefusedBeforeAnythingIsSubmitted) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::uniform({10, 12}, {4, 4});
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    EXPECT_THROW(cholesky(s, A), Error);
    EXPECT_THROW(lu(s, A), Error);
}

TEST(Checks, ARightHandSideWithOtherCutsIsRefused) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(12, 4);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    Matrix<double> B(s, Tiling::uniform({12, 1}, {3, 1}), squarest_block_cyclic({4, 1}, 1));
    fill(s, A.view(), {.off_diagonal = 0, .diagonal = 1});
    fill(s, B.view(), {});
    EXPECT_THROW(solve_cholesky(s, A.view(), B.view()), Error);
}

template <class T>
void check_product() {
    const Index m = *rc::gen::inRange<Index>(1, 40);
    const Index n = *rc::gen::inRange<Index>(1, 40);
    const Index k = *rc::gen::inRange<Index>(1, 40);
    const Index tile = *rc::gen::inRange<Index>(1, 15);
    const auto nodes = *rc::gen::inRange<Index>(1, 5);
    const Op op_a = *rc::gen::element(Op::none, Op::transpose);
    const Op op_b = *rc::gen::element(Op::none, Op::transpose);
    const std::uint64_t seed_a = 1;
    const std::uint64_t seed_b = 2;
    InlineEngine engine(nodes);
    Stream s(engine);
    const auto make = [&](Index rows, Index cols, Op op) {
        const ElementIndex size = op == Op::none ? ElementIndex{rows, cols} : ElementIndex{cols, rows};
        const Tiling tiling = Tiling::uniform(size, {tile, tile});
        return Matrix<T>(s, tiling, random_distribution(tiling.grid(), nodes, 3));
    };
    Matrix<T> A = make(m, k, op_a);
    Matrix<T> B = make(k, n, op_b);
    Matrix<T> C = make(m, n, Op::none);
    generate(s, A.view(), {testing::random_element, &seed_a});
    generate(s, B.view(), {testing::random_element, &seed_b});
    const auto view_a = op_a == Op::none ? A.view() : A.view().transposed();
    const auto view_b = op_b == Op::none ? B.view() : B.view().transposed();
    gemm(s, view_a, view_b, C.view(), {.alpha = 1, .beta = 0});
    const auto expected = testing::reference_product<T>({m, n}, k, gather(s, view_a), gather(s, view_b));
    RC_ASSERT(largest_difference(gather(s, C.view()), expected) <= testing::tolerance<T>(k));
}

RC_GTEST_PROP(Gemm, TheProductOfTransposedViewsEqualsLoops, ()) {
    check_product<double>();
    check_product<float>();
}

/// A whole symmetric matrix from its lower triangle.
template <class T>
std::vector<T> mirrored(std::vector<T> a, Index n) {
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) a[static_cast<std::size_t>(i + j * n)] = a[static_cast<std::size_t>(j + i * n)];
    return a;
}
template <class T>
std::vector<T> transposed(const std::vector<T>& a, Index n) {
    std::vector<T> result(a.size());
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
            result[static_cast<std::size_t>(j + i * n)] = a[static_cast<std::size_t>(i + j * n)];
    return result;
}

double symmetric_element(const void*, ElementIndex at) {
    return std::sin(static_cast<double>(at.i + at.j)) + (at.i == at.j ? 2 : 0);
}

template <class T>
void check_congruence() {
    const Case c = any_case();
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 7));
    Stream s(engine);
    const Tiling tiling = Tiling::square(c.n, c.tile);
    const auto make = [&] {
        return Matrix<T>(s, tiling, distribution_of(c, tiling.grid(), engine.node_count()), {.stored = Stored::lower});
    };
    Matrix<T> L = make();
    Matrix<T> A = make();
    generate(s, L.view(), {testing::spd_element});
    generate(s, A.view(), {symmetric_element});
    cholesky(s, L);
    congruence(s, L.view(), A.view());
    const std::vector<T> factor = gather(s, L.lower());
    const std::vector<T> got = mirrored(gather(s, A.lower()), c.n);
    RC_ASSERT(s.wait().ok());
    const auto half = testing::reference_product<T>({c.n, c.n}, c.n, factor, got);
    const auto back = testing::reference_product<T>({c.n, c.n}, c.n, half, transposed(factor, c.n));
    const auto before = testing::dense<T>({c.n, c.n}, {symmetric_element});
    RC_ASSERT(largest_difference(back, before) <= testing::tolerance<T>(c.n, 8));
}

RC_GTEST_PROP(Congruence, MultipliedWithTheFactorOnBothSidesGivesTheMatrixAgain, ()) {
    check_congruence<double>();
    check_congruence<float>();
}

TEST(Copy, IsEqualTileByTileAndOfATriangleIsATriangle) {
    InlineEngine engine(3);
    Stream s(engine);
    const Tiling tiling = Tiling::square(40, 11);
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), 3, 1));
    Matrix<double> B(s, tiling, random_distribution(tiling.grid(), 3, 2), {.name = "B"});
    Matrix<double> C(s, tiling, random_distribution(tiling.grid(), 3, 3), {.name = "C", .stored = Stored::lower});
    generate(s, A.view(), {symmetric_element});
    copy(s, A.view(), B.view());
    copy(s, A.lower(), C.lower());
    EXPECT_EQ(gather(s, A.view()), gather(s, B.view()));
    EXPECT_EQ(gather(s, A.lower()), gather(s, C.lower()));
    EXPECT_THROW(copy(s, A.view().transposed(), B.view()), Error);
    Matrix<double> other(s, Tiling::square(40, 10), squarest_block_cyclic({4, 4}, 3), {.name = "other"});
    EXPECT_THROW(copy(s, A.view(), other.view()), Error);
}

template <class T>
void check_reductions() {
    InlineEngine engine(5);
    Stream s(engine);
    const Tiling tiling = Tiling::square(50, 7);
    Matrix<T> A(s, tiling, random_distribution(tiling.grid(), 5, 1));
    const auto identity_times_four = [](const void*, ElementIndex at) { return at.i == at.j ? 4.0 : 0.0; };
    generate(s, A.view(), {identity_times_four});
    Matrix<T> sum(s, Tiling::square(1, 1), Distribution({1, 1}, 5, {2}), {.name = "sum"});
    cholesky(s, A);
    log_determinant(s, A.lower(), sum.view());
    const auto determinant = s.read<T>(sum(0, 0), 0);

    const Tiling column = tiling.with_columns(1, 1);
    Matrix<T> z(s, column, along_diagonal(A.distribution(), 1), {.name = "z"});
    generate(s, z.view(), {[](const void*, ElementIndex at) { return static_cast<double>(at.i); }});
    dot(s, z.view(), z.view(), sum.view());
    const auto squares = s.read<T>(sum(0, 0), 0);
    ASSERT_TRUE(s.wait().ok());
    EXPECT_NEAR(static_cast<double>(determinant.get()), 50 * std::log(4.0), testing::tolerance<T>(50));
    EXPECT_EQ(static_cast<double>(squares.get()), 49.0 * 50.0 * 99.0 / 6.0);  // 40425, exact in both
}

TEST(Reductions, DotAndLogDeterminantEqualClosedForms) {
    check_reductions<double>();
    check_reductions<float>();
}

}  // namespace
}  // namespace tesela::factorisations_test
