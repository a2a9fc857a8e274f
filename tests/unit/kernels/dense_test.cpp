#include "tesela/kernels/dense.hpp"

#include "support/array.hpp"
#include "support/lapack.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

namespace tesela::dense_test {
namespace {

/// A triangle that can be solved with: it dominates its off-diagonal, which is small.
template <class T>
Array<T> triangle(Index n) {
    Array<T> a(n, n, 1);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a(i, j) = i == j ? T{2} + a(i, j) : a(i, j) / static_cast<T>(n);
    return a;
}

template <class T>
KernelResult run(const Kernel& kernel, std::vector<Tile> tiles, const auto& arguments) {
    return kernel.cpu({tiles, &arguments});
}

void reference_trsm(const TriangularArguments& t, Array<double>& a, Array<double>& b) {
    cblas_dtrsm(CblasColMajor, t.side == Side::left ? CblasLeft : CblasRight,
                t.triangle == Triangle::lower ? CblasLower : CblasUpper, t.op == Op::none ? CblasNoTrans : CblasTrans,
                t.diagonal == Diagonal::unit ? CblasUnit : CblasNonUnit, static_cast<int>(b.rows),
                static_cast<int>(b.cols), t.alpha, a.elements.data(), static_cast<int>(a.ld), b.elements.data(),
                static_cast<int>(b.ld));
}

RC_GTEST_PROP(DenseKernels, TrsmSolvesAsBlasDoesFromEitherSide, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 180);
    const Index other = *rc::gen::inRange<Index>(1, 90);
    const TriangularArguments t{.side = *rc::gen::element(Side::left, Side::right),
                                .triangle = *rc::gen::element(Triangle::lower, Triangle::upper),
                                .op = *rc::gen::element(Op::none, Op::transpose),
                                .diagonal = *rc::gen::element(Diagonal::general, Diagonal::unit),
                                .alpha = *rc::gen::element(1.0, -0.5)};
    const auto shape = [&](std::uint64_t seed) {
        return t.side == Side::left ? Array<double>(n, other, seed) : Array<double>(other, n, seed);
    };
    Array<double> a = triangle<double>(n);
    Array<double> b = shape(2);
    Array<double> expected = shape(2);
    run<double>(Dense<double>::trsm, {a.tile(), b.tile()}, t);
    reference_trsm(t, a, expected);
    RC_ASSERT(largest_difference(b.elements, expected.elements) <=
              32 * static_cast<double>(n) * std::numeric_limits<double>::epsilon());
    // What lies beyond the rows of the tile stays as it was, so comparing all elements covers it.

    Array<float> small = triangle<float>(n);
    Array<float> x = t.side == Side::left ? Array<float>(n, other, 2) : Array<float>(other, n, 2);
    run<float>(Dense<float>::trsm, {small.tile(), x.tile()}, t);
    const std::vector<float> narrowed(expected.elements.begin(), expected.elements.end());
    RC_ASSERT(largest_difference(x.elements, narrowed) <=
              32 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<float>::epsilon()));
}

RC_GTEST_PROP(DenseKernels, PotrfFactorsAsLapackDoesAndNamesTheSameBadPivot, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 400);
    const Index bad = *rc::gen::inRange<Index>(-n, n);  // none if negative
    Array<double> a(n, n, 3);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a(i, j) = testing::spd_element(nullptr, {i, j});
    if (bad >= 0) a(bad, bad) = -1;
    Array<double> expected = a;
    const KernelResult result = run<double>(Dense<double>::potrf, {a.tile()}, PivotArguments{.first_row = 1000});
    const int order = static_cast<int>(n);
    const int ld = static_cast<int>(expected.ld);
    int info = 0;
    dpotrf_("L", &order, expected.elements.data(), &ld, &info);
    RC_ASSERT((result.failure == Failure::none) == (info == 0));
    if (info > 0) {
        RC_ASSERT(result.index == 1000 + info - 1);
        RC_ASSERT(result.index == 1000 + bad);
        return;
    }
    LargestDifference difference;
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) difference.add(a(i, j) - expected(i, j));
    RC_ASSERT(difference.value() <= 8 * static_cast<double>(n) * std::numeric_limits<double>::epsilon());
}

TEST(DenseKernels, PotrfNamesTheFirstBadPivotWhereSeveralAre) {
    for (const Index n : {40, 130, 300}) {
        Array<double> a(n, n, 3);
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < n; ++i) a(i, j) = i == j ? 4 : 0;
        a(24, 24) = std::numeric_limits<double>::infinity();
        a(35, 35) = -1;
        const KernelResult result = run<double>(Dense<double>::potrf, {a.tile()}, PivotArguments{.first_row = 0});
        EXPECT_EQ(result.failure, Failure::not_positive_definite);
        EXPECT_EQ(result.index, 24) << n;
    }
}

double flops(const Kernel& kernel, const std::vector<TileShape>& shapes, const auto& arguments) {
    return kernel.cost(shapes, &arguments).flops;
}

TEST(DenseKernels, OperationsOnTilesOfLowRankAreThoseOfPaper004) {
    const double nb = 1000;
    const double k = 10;
    const TileShape whole{1000, 1000};
    const TileShape low{1000, 1000, 10};
    const TileShape lower{1000, 1000, 4};
    const Kernel& gemm = Dense<double>::gemm;
    const GemmArguments product{.op_b = Op::transpose};
    EXPECT_DOUBLE_EQ(flops(gemm, {low, low, low}, product), 36 * nb * k * k);
    EXPECT_DOUBLE_EQ(flops(gemm, {low, low, whole}, product), 2 * nb * nb * k + 4 * nb * k * k);
    // A product has the least rank of its factors, and what is recompressed that of the product and of the tile.
    EXPECT_DOUBLE_EQ(flops(gemm, {low, lower, low}, product), 36 * nb * 7 * 7);
    EXPECT_DOUBLE_EQ(flops(gemm, {low, lower, whole}, product), 2 * nb * nb * 4 + 4 * nb * 10 * 4);
    // One factor is first multiplied by a tile with all its elements; two such are a dense product.
    EXPECT_DOUBLE_EQ(flops(gemm, {whole, lower, low}, product), 2 * nb * nb * 4 + 36 * nb * 7 * 7);
    EXPECT_DOUBLE_EQ(flops(gemm, {whole, whole, low}, product), 2 * nb * nb * nb + 36 * nb * 5 * 5);
    EXPECT_DOUBLE_EQ(flops(Dense<double>::syrk, {low, whole}, SyrkArguments{}), nb * nb * k + 4 * nb * k * k);
    EXPECT_DOUBLE_EQ(flops(Dense<double>::trsm, {whole, low}, TriangularArguments{.side = Side::right}), nb * nb * k);
    EXPECT_DOUBLE_EQ(flops(Dense<double>::geadd, {low, lower}, GeaddArguments{}), 36 * nb * 7 * 7);
    EXPECT_DOUBLE_EQ(flops(Dense<double>::geadd, {low, whole}, GeaddArguments{}), 2 * nb * nb * k);
}

TEST(DenseKernels, OperationsOnTilesOfLowRankFollowTheSidesOfTiles) {
    const TileShape low{300, 200, 10};
    // V first, which is as long as x: 2·200·10, then U: 2·300·10.
    EXPECT_DOUBLE_EQ(flops(Dense<double>::gemv, {low, {200, 1}, {300, 1}}, GemmArguments{}), 2 * 10 * (200 + 300));
    EXPECT_DOUBLE_EQ(flops(Dense<double>::gemv, {low, {300, 1}, {200, 1}}, GemmArguments{.op_a = Op::transpose}),
                     2 * 10 * (200 + 300));
    EXPECT_DOUBLE_EQ(flops(Dense<double>::trsm, {{200, 200}, low}, TriangularArguments{.side = Side::right}),
                     200.0 * 200 * 10);
    EXPECT_DOUBLE_EQ(flops(Dense<double>::trsm, {{300, 300}, low}, TriangularArguments{}), 300.0 * 300 * 10);
}

TEST(DenseKernels, OperationsWithoutArgumentsAreThoseOfTheCost) {
    const std::vector<TileShape> product{{60, 50, 3}, {50, 40, dense_rank}, {60, 40, 7}};
    const std::vector<TileShape> two{{60, 60}, {60, 40, 7}};
    EXPECT_EQ(Dense<double>::gemm.low_rank_flops(product), flops(Dense<double>::gemm, product, GemmArguments{}));
    EXPECT_EQ(Dense<double>::trsm.low_rank_flops(two), flops(Dense<double>::trsm, two, TriangularArguments{}));
    EXPECT_EQ(Dense<double>::trmm.low_rank_flops(two), flops(Dense<double>::trmm, two, TriangularArguments{}));
    EXPECT_EQ(Dense<float>::geadd.low_rank_flops(two), flops(Dense<float>::geadd, two, GeaddArguments{}));
}

TEST(DenseKernels, SayWhatTheyRecompress) {
    const TileShape dense{60, 60};
    const TileShape low{60, 60, 3};
    const TileShape target{60, 60, 7};
    const auto product = [](const std::vector<TileShape>& shapes) { return Dense<double>::gemm.recompression(shapes); };
    EXPECT_EQ(product({low, dense, target}).rank, 10);
    EXPECT_EQ(product({low, dense, target}).flops, 36 * 60 * 5 * 5) << "without the product with the dense tile";
    EXPECT_EQ(product({low, target, target}).rank, 10);
    EXPECT_EQ(product({dense, dense, target}).rank, 67);
    EXPECT_EQ(product({low, low, dense}).rank, 0) << "which has all its elements";
    EXPECT_EQ(product({low, low, dense}).flops, 0);
    const auto sum = [](const std::vector<TileShape>& shapes) { return Dense<double>::geadd.recompression(shapes); };
    EXPECT_EQ(sum({low, target}).rank, 10);
    EXPECT_EQ(sum({low, target}).flops, Dense<double>::geadd.low_rank_flops(std::vector{low, target}));
    EXPECT_EQ(sum({dense, target}).rank, 67);
    EXPECT_EQ(sum({low, dense}).rank, 0);
    EXPECT_EQ(Dense<double>::trsm.recompression, nullptr);
}

}  // namespace
}  // namespace tesela::dense_test
