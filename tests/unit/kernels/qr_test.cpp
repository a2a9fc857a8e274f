#include "tesela/kernels/qr.hpp"

#include "support/array.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/kernels/internal/lapack.hpp"

#include TESELA_BLAS_HEADER

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tesela::qr_test {
namespace {

template <class Arguments = NoArguments>
KernelResult run(const Kernel& kernel, std::vector<Tile> tiles, const Arguments& arguments = {}) {
    return kernel.cpu({tiles, &arguments});
}

template <class T>
double tolerance(Index n) {
    return 32 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Rows of A above rows of B.
template <class T>
Array<T> stacked(Array<T>& a, Array<T>& b) {
    Array<T> all(a.rows + b.rows, a.cols, 0);
    for (Index j = 0; j < a.cols; ++j) {
        for (Index i = 0; i < a.rows; ++i) all(i, j) = a(i, j);
        for (Index i = 0; i < b.rows; ++i) all(a.rows + i, j) = b(i, j);
    }
    return all;
}

template <class T>
void make_triangle(Array<T>& a) {
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = j + 1; i < a.rows; ++i) a(i, j) = 0;
}

/// The largest difference of |R| from LAPACK's of A, in double precision.
template <class T>
double from_lapack(Array<T> a, Array<T>& r) {
    std::vector<double> wide(a.elements.begin(), a.elements.end());
    const int m = static_cast<int>(a.rows);
    const int n = static_cast<int>(a.cols);
    const int ld = static_cast<int>(a.ld);
    const int room = 64 * n;
    std::vector<double> tau(static_cast<std::size_t>(std::min(m, n)));
    std::vector<double> work(static_cast<std::size_t>(room));
    int info = 0;
    dgeqrf_(&m, &n, wide.data(), &ld, tau.data(), work.data(), &room, &info);
    LargestDifference worst;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < r.rows; ++i) {
            const bool inside = i <= j && i < a.rows;
            const double expected = inside ? wide[static_cast<std::size_t>(i + j * a.ld)] : 0;
            worst.add(std::abs(r.wide(i, j)) - std::abs(expected));
        }
    return worst.value();
}

template <class T>
double difference(Array<T>& a, Array<T>& b) {
    return largest_difference(a.elements, b.elements);
}

/// The sizes of one case; columns dominate what is above and below so that R is well determined.
struct Sizes {
    Index rows, cols, block, others;
    static Sizes any(Index least_rows_per_column) {
        const Index cols = *rc::gen::inRange<Index>(1, 90);
        return {.rows = least_rows_per_column * cols + *rc::gen::inRange<Index>(1, 90),
                .cols = cols,
                .block = *rc::gen::inRange<Index>(1, 60),
                .others = *rc::gen::inRange<Index>(1, 50)};
    }
};

template <class T>
Array<T> dominant(Index rows, Index cols, std::uint64_t seed) {
    Array<T> a(rows, cols, seed);
    for (Index j = 0; j < std::min(rows, cols); ++j) a(j, j) += static_cast<T>(rows);
    return a;
}

template <class T>
void check_geqrt(const Sizes& size) {
    Array<T> a = dominant<T>(size.rows, size.cols, 1);
    Array<T> original = a;
    Array<T> r(size.cols + 2, size.cols, 2);
    Array<T> t(size.block, size.cols, 3);
    RC_ASSERT(run(Qr<T>::geqrt, {a.tile(), r.tile(), t.tile()}).failure == Failure::none);
    const double allowed = tolerance<T>(size.rows + size.cols) * static_cast<double>(size.rows);
    RC_ASSERT(from_lapack(original, r) <= allowed);
    // Qᵀ·A = [R; 0], and Q·(Qᵀ·A) = A.
    Array<T> c = original;
    RC_ASSERT(run(Qr<T>::gemqrt, {a.tile(), t.tile(), c.tile()}, QArguments{.op = Op::transpose}).failure ==
              Failure::none);
    LargestDifference worst;
    for (Index j = 0; j < c.cols; ++j)
        for (Index i = 0; i < c.rows; ++i) worst.add(c.wide(i, j) - (i < r.rows ? r.wide(i, j) : 0));
    RC_ASSERT(worst.value() <= allowed);
    RC_ASSERT(run(Qr<T>::gemqrt, {a.tile(), t.tile(), c.tile()}, QArguments{}).failure == Failure::none);
    RC_ASSERT(difference(c, original) <= allowed);
}

RC_GTEST_PROP(QrKernels, GeqrtGivesLapacksTriangleAndGemqrtItsQ, ()) {
    const Sizes size = Sizes::any(*rc::gen::element<Index>(0, 1));
    check_geqrt<double>(size);
    check_geqrt<float>(size);
}

template <class T>
void check_pair(const Sizes& size, bool triangles) {
    Array<T> r = dominant<T>(size.cols, size.cols, 1);
    make_triangle(r);
    Array<T> b(triangles ? size.cols : size.rows, size.cols, 2);
    if (triangles) make_triangle(b);
    Array<T> r_before = r;
    Array<T> b_before = b;
    Array<T> v = b;
    Array<T> t(size.block, size.cols, 3);
    const KernelResult result = triangles ? run(Qr<T>::ttqrt, {b.tile(), r.tile(), v.tile(), t.tile()})
                                          : run(Qr<T>::tsqrt, {v.tile(), r.tile(), t.tile()});
    RC_ASSERT(result.failure == Failure::none);
    const double allowed = tolerance<T>(size.rows + size.cols) * static_cast<double>(size.cols);
    RC_ASSERT(from_lapack(stacked(r_before, b_before), r) <= allowed);
    if (triangles) {
        RC_ASSERT(difference(b, b_before) == 0);
        for (Index j = 0; j < v.cols; ++j)
            for (Index i = j + 1; i < v.rows; ++i) RC_ASSERT(v(i, j) == T{0});
    }
    // Qᵀ·[R; B] = [R'; 0] and back; tiles of C may be higher than the triangle, and keep what is below.
    Array<T> c(size.cols + 2, size.cols, 7);
    for (Index j = 0; j < size.cols; ++j)
        for (Index i = 0; i < size.cols; ++i) c(i, j) = r_before(i, j);
    Array<T> expected_c = c;
    for (Index j = 0; j < size.cols; ++j)
        for (Index i = 0; i < size.cols; ++i) expected_c(i, j) = r(i, j);
    Array<T> c_before = c;
    Array<T> d = b_before;
    const auto apply = [&](Op op) {
        const QArguments args{.op = op};
        return triangles ? run(Qr<T>::ttmqr, {v.tile(), t.tile(), c.tile(), d.tile()}, args)
                         : run(Qr<T>::tsmqr, {v.tile(), t.tile(), d.tile(), c.tile()}, args);
    };
    RC_ASSERT(apply(Op::transpose).failure == Failure::none);
    RC_ASSERT(difference(c, expected_c) <= allowed);
    for (Index j = 0; j < d.cols; ++j)
        for (Index i = 0; i < d.rows; ++i) RC_ASSERT(std::abs(d.wide(i, j)) <= allowed);
    RC_ASSERT(apply(Op::none).failure == Failure::none);
    RC_ASSERT(difference(c, c_before) <= allowed);
    RC_ASSERT(difference(d, b_before) <= allowed);
}

RC_GTEST_PROP(QrKernels, ATileUnderATriangleIsAddedToIt, ()) {
    const Sizes size = Sizes::any(0);
    check_pair<double>(size, false);
    check_pair<float>(size, false);
}

RC_GTEST_PROP(QrKernels, ATriangleUnderATriangleIsAddedToIt, ()) {
    const Sizes size = Sizes::any(0);
    check_pair<double>(size, true);
    check_pair<float>(size, true);
}

RC_GTEST_PROP(QrKernels, ColumnsFromTheDiagonalOnAreAllThatChangesUnderAnIdentity, ()) {
    const Sizes size = Sizes::any(1);
    Array<double> a = dominant<double>(size.rows, size.cols, 1);
    Array<double> r(size.cols, size.cols, 2);
    Array<double> t(size.block, size.cols, 3);
    run(Qr<double>::geqrt, {a.tile(), r.tile(), t.tile()});
    Array<double> b(size.rows, size.cols, 4);
    Array<double> t_b(size.block, size.cols, 5);
    run(Qr<double>::tsqrt, {b.tile(), r.tile(), t_b.tile()});
    const auto first_columns = [&](QColumns columns) {
        Array<double> c(size.rows, size.cols, 0);
        Array<double> d(size.rows, size.cols, 0);
        for (double& x : c.elements) x = 0;
        for (double& x : d.elements) x = 0;
        for (Index j = 0; j < size.cols; ++j) c(j, j) = 1;
        const QArguments args{.op = Op::none, .columns = columns};
        run(Qr<double>::tsmqr, {b.tile(), t_b.tile(), d.tile(), c.tile()}, args);
        run(Qr<double>::gemqrt, {a.tile(), t.tile(), c.tile()}, args);
        return stacked(c, d);
    };
    Array<double> all = first_columns(QColumns::all);
    Array<double> some = first_columns(QColumns::from_diagonal);
    for (Index j = 0; j < size.cols; ++j)
        for (Index i = 0; i < all.rows; ++i)
            RC_ASSERT(std::abs(all(i, j) - some(i, j)) <= tolerance<double>(size.rows));
}

TEST(QrKernels, ColumnsOfZerosAndTinyOrHugeNumbersAreNoTrouble) {
    for (const double scale : {0.0, 1e-300, 1e-160, 1e150, 1e300}) {
        Array<double> a(40, 20, 1);
        for (double& x : a.elements) x *= scale;
        for (Index i = 0; i < 40; ++i) a(i, 3) = 0;
        Array<double> original = a;
        Array<double> r(20, 20, 2);
        Array<double> t(8, 20, 3);
        run(Qr<double>::geqrt, {a.tile(), r.tile(), t.tile()});
        run(Qr<double>::gemqrt, {a.tile(), t.tile(), original.tile()}, QArguments{.op = Op::transpose});
        for (Index j = 0; j < 20; ++j)
            for (Index i = 0; i < 40; ++i)
                EXPECT_LE(std::abs(original(i, j) - (i < 20 ? r(i, j) : 0)), 1e-13 * scale)
                    << scale << ' ' << i << ' ' << j;
    }
}

TEST(QrKernels, NumbersBelowTheSmallestNormalOneGiveAnOrthogonalQ) {
    for (const double scale : {1e-320, 1e-312, 1e-305, 1e-290}) {
        Array<double> a(40, 20, 1);
        for (double& x : a.elements) x *= scale;
        Array<double> r(20, 20, 2);
        Array<double> t(8, 20, 3);
        Array<double> b(40, 40, 4);
        Array<double> there_and_back = b;
        run(Qr<double>::geqrt, {a.tile(), r.tile(), t.tile()});
        EXPECT_NE(r(19, 19), 0);
        for (const Op op : {Op::transpose, Op::none})
            run(Qr<double>::gemqrt, {a.tile(), t.tile(), there_and_back.tile()}, QArguments{.op = op});
        for (Index j = 0; j < 40; ++j)
            for (Index i = 0; i < 40; ++i) EXPECT_NEAR(there_and_back(i, j), b(i, j), 1e-13) << scale;
    }
}

TEST(QrKernels, CostsAreThoseOfTheTextbook) {
    const auto flops = [](const Kernel& kernel, std::vector<TileShape> shapes, const QArguments& args = {}) {
        return kernel.cost(shapes, &args).flops;
    };
    const TileShape square{60, 60};
    const TileShape t{16, 60};
    const double cube = 60.0 * 60 * 60;
    EXPECT_DOUBLE_EQ(flops(Qr<double>::geqrt, {square, square, t}), 4 * cube / 3);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::tsqrt, {square, square, t}), 2 * cube);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::ttqrt, {square, square, square, t}), 2 * cube / 3);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::gemqrt, {square, t, square}), 2 * cube);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::tsmqr, {square, t, square, square}), 4 * cube);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::ttmqr, {square, t, square, square}), 2 * cube);
    EXPECT_DOUBLE_EQ(flops(Qr<double>::tsmqr, {square, t, square, square}, {.columns = QColumns::from_diagonal}),
                     2 * cube);
}

}  // namespace
}  // namespace tesela::qr_test
