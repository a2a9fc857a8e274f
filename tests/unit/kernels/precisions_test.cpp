// Every dense kernel in single and double precision beside its definition, as loops in double precision.

#include "tesela/kernels/dense.hpp"

#include "support/array.hpp"
#include "support/lapack.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace tesela::precisions_test {
namespace {

KernelResult run(const Kernel& kernel, std::vector<Tile> tiles, const auto& arguments) {
    return kernel.cpu({tiles, &arguments});
}

/// Whether a has these elements, to rounding of sums of `terms`, and beyond its rows what `before` has.
template <class T>
void expect_elements(Array<T>& a, Array<T> before, Index terms, const std::function<double(Index, Index)>& element) {
    LargestDifference difference;
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.ld; ++i)
            difference.add(a.wide(i, j) - (i < a.rows ? element(i, j) : before.wide(i, j)));
    RC_ASSERT(difference.value() <= testing::tolerance<T>(terms));
}

Index any_size() { return *rc::gen::inRange<Index>(1, 70); }
Op any_op() { return *rc::gen::element(Op::none, Op::transpose); }
double any_factor() { return *rc::gen::element(1.0, -0.5, 0.0); }

/// Of op(A) as a triangle with its diagonal.
template <class T>
double in_triangle(Array<T>& a, const TriangularArguments& t, ElementIndex at) {
    const ElementIndex stored = t.op == Op::none ? at : ElementIndex{at.j, at.i};
    if (stored.i == stored.j && t.diagonal == Diagonal::unit) return 1;
    const bool inside = t.triangle == Triangle::lower ? stored.i >= stored.j : stored.i <= stored.j;
    return inside ? a.wide(stored.i, stored.j) : 0;
}

template <class T>
Array<T> dominant(Index n) {
    Array<T> a(n, n, 5);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a(i, j) = i == j ? T{2} : a(i, j) / static_cast<T>(n);
    return a;
}

template <class T>
void check_products() {
    const Index m = any_size();
    const Index n = *rc::gen::element<Index>(1, any_size());
    const Index k = any_size();
    const GemmArguments g{.op_a = any_op(), .op_b = any_op(), .alpha = any_factor(), .beta = any_factor()};
    Array<T> a = g.op_a == Op::none ? Array<T>(m, k, 1) : Array<T>(k, m, 1);
    Array<T> b = g.op_b == Op::none ? Array<T>(k, n, 2) : Array<T>(n, k, 2);
    Array<T> c(m, n, 3);
    Array<T> before = c;
    const auto product = [&](Index i, Index j) {
        double sum = 0;
        for (Index l = 0; l < k; ++l) sum += a.wide(i, l, g.op_a) * b.wide(l, j, g.op_b);
        return g.alpha * sum + g.beta * before.wide(i, j);
    };
    run(Dense<T>::gemm, {a.tile(), b.tile(), c.tile()}, g);
    expect_elements<T>(c, before, k, product);
    if (n > 1 || g.op_b == Op::transpose) return;
    c = before;
    run(Dense<T>::gemv, {a.tile(), b.tile(), c.tile()}, g);
    expect_elements<T>(c, before, k, product);
}

template <class T>
void check_symmetric_product() {
    const Index n = any_size();
    const Index k = any_size();
    const SyrkArguments y{.triangle = *rc::gen::element(Triangle::lower, Triangle::upper),
                          .op = any_op(),
                          .alpha = any_factor(),
                          .beta = any_factor()};
    Array<T> a = y.op == Op::none ? Array<T>(n, k, 1) : Array<T>(k, n, 1);
    Array<T> c(n, n, 2);
    Array<T> before = c;
    run(Dense<T>::syrk, {a.tile(), c.tile()}, y);
    expect_elements<T>(c, before, k, [&](Index i, Index j) {
        if (y.triangle == Triangle::lower ? i < j : i > j) return before.wide(i, j);
        double sum = 0;
        for (Index l = 0; l < k; ++l) sum += a.wide(i, l, y.op) * a.wide(j, l, y.op);
        return y.alpha * sum + y.beta * before.wide(i, j);
    });
}

/// trmm by its definition; trsm undoes it.
template <class T>
void check_triangular_products() {
    const Index n = any_size();
    const Index other = any_size();
    TriangularArguments t{.side = *rc::gen::element(Side::left, Side::right),
                          .triangle = *rc::gen::element(Triangle::lower, Triangle::upper),
                          .op = any_op(),
                          .diagonal = *rc::gen::element(Diagonal::general, Diagonal::unit),
                          .alpha = *rc::gen::element(1.0, -0.5)};
    Array<T> a = dominant<T>(n);
    Array<T> b = t.side == Side::left ? Array<T>(n, other, 2) : Array<T>(other, n, 2);
    Array<T> before = b;
    run(Dense<T>::trmm, {a.tile(), b.tile()}, t);
    expect_elements<T>(b, before, n, [&](Index i, Index j) {
        double sum = 0;
        for (Index l = 0; l < n; ++l)
            sum += t.side == Side::left ? in_triangle(a, t, {i, l}) * before.wide(l, j)
                                        : before.wide(i, l) * in_triangle(a, t, {l, j});
        return t.alpha * sum;
    });
    t.alpha = 1 / t.alpha;
    run(Dense<T>::trsm, {a.tile(), b.tile()}, t);
    expect_elements<T>(b, before, n, [&](Index i, Index j) { return before.wide(i, j); });
}

/// L·L⁻¹ = 1, and LᵀL; what is above the diagonal stays.
template <class T>
void check_triangles() {
    const Index n = any_size();
    const TriangularArguments lower{};
    Array<T> l = dominant<T>(n);
    Array<T> inverse = l;
    run(Dense<T>::trtri, {inverse.tile()}, NoArguments{});
    Array<T> unit(n, n, 1);
    expect_elements<T>(inverse, l, n, [&](Index i, Index j) { return i < j ? l.wide(i, j) : inverse.wide(i, j); });
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index k = 0; k < n; ++k) sum += in_triangle(l, lower, {i, k}) * in_triangle(inverse, lower, {k, j});
            unit(i, j) = static_cast<T>(sum);
        }
    expect_elements<T>(unit, unit, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });

    Array<T> product = l;
    run(Dense<T>::lauum, {product.tile()}, NoArguments{});
    expect_elements<T>(product, l, n, [&](Index i, Index j) {
        if (i < j) return l.wide(i, j);
        double sum = 0;
        for (Index k = i; k < n; ++k) sum += l.wide(k, i) * l.wide(k, j);
        return sum;
    });
}

/// L·Lᵀ and L·U give the matrix again, or the bad pivot is named.
template <class T>
void check_factorisations() {
    const Index n = any_size();
    const Index bad = *rc::gen::inRange<Index>(-n, n);  // none if negative
    Array<T> a = dominant<T>(n);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) a(i, j) = a(j, i);
    if (bad >= 0) a(bad, bad) = T{-1};
    Array<T> l = a;
    const KernelResult cholesky = run(Dense<T>::potrf, {l.tile()}, PivotArguments{.first_row = 1000});
    RC_ASSERT(cholesky.failure == (bad < 0 ? Failure::none : Failure::not_positive_definite));
    if (bad >= 0) {
        RC_ASSERT(cholesky.index == 1000 + bad);
        for (Index k = 0; k < n; ++k) a(bad, k) = a(k, bad) = T{0};
    }
    Array<T> u = a;
    const KernelResult lu = run(Dense<T>::getrf, {u.tile()}, PivotArguments{.first_row = 1000});
    RC_ASSERT(lu.failure == (bad < 0 ? Failure::none : Failure::zero_pivot));
    if (bad >= 0) {
        RC_ASSERT(lu.index == 1000 + bad);
        return;
    }
    const auto sum = [&](Index i, Index j, const std::function<double(Index)>& term) {
        double result = 0;
        for (Index k = 0; k <= std::min(i, j); ++k) result += term(k);
        return result;
    };
    expect_elements<T>(
        a, a, n, [&](Index i, Index j) { return sum(i, j, [&](Index k) { return l.wide(i, k) * l.wide(j, k); }); });
    expect_elements<T>(a, a, n, [&](Index i, Index j) {
        return sum(i, j, [&](Index k) { return (i == k ? 1 : u.wide(i, k)) * u.wide(k, j); });
    });
}

template <class T>
void check_elementwise() {
    const Index m = any_size();
    const Index n = any_size();
    Array<T> a(m, n, 1);
    Array<T> b(m, n, 2);
    Array<T> before = b;
    const GeaddArguments add{.alpha = any_factor(), .beta = any_factor()};
    run(Dense<T>::geadd, {a.tile(), b.tile()}, add);
    expect_elements<T>(b, before, 2,
                       [&](Index i, Index j) { return add.alpha * a.wide(i, j) + add.beta * before.wide(i, j); });
    b(m - 1, n - 1) = std::numeric_limits<T>::quiet_NaN();
    run(Dense<T>::geadd, {a.tile(), b.tile()}, GeaddArguments{.alpha = 2, .beta = 0});
    expect_elements<T>(b, before, 1, [&](Index i, Index j) { return 2 * a.wide(i, j); });
    before = b;
    run(Dense<T>::scale, {b.tile()}, ScaleArguments{.factor = -3});
    expect_elements<T>(b, before, 1, [&](Index i, Index j) { return -3 * before.wide(i, j); });
    run(Dense<T>::laset, {b.tile()}, LasetArguments{.off_diagonal = 0.1, .diagonal = 7});
    expect_elements<T>(b, before, 1, [](Index i, Index j) { return i == j ? 7 : 0.1; });
    const auto element = [](const void*, ElementIndex at) {
        return std::sin(static_cast<double>(at.i)) * static_cast<double>(at.j % 2);
    };
    run(Dense<T>::generate, {b.tile()}, GenerateArguments{.element = element, .first = {40, 7}});
    expect_elements<T>(b, before, 1, [&](Index i, Index j) { return element(nullptr, {40 + i, 7 + j}); });
}

template <class T>
void check_sums() {
    const Index m = any_size();
    const Index n = any_size();
    Array<T> a(m, n, 1);
    Array<T> b(m, n, 2);
    Array<T> sum(1, 1, 3);
    Array<T> before = sum;
    run(Dense<T>::dot, {a.tile(), b.tile(), sum.tile()}, NoArguments{});
    double expected = before.wide(0, 0);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) expected += a.wide(i, j) * b.wide(i, j);
    expect_elements<T>(sum, before, m * n, [&](Index, Index) { return expected; });
    Array<T> l = dominant<T>(m);
    before = sum;
    run(Dense<T>::logdet, {l.tile(), sum.tile()}, NoArguments{});
    expected = before.wide(0, 0);
    for (Index i = 0; i < m; ++i) expected += 2 * std::log(l.wide(i, i));
    const Index largest = 16;  // of the terms
    expect_elements<T>(sum, before, largest * m, [&](Index, Index) { return expected; });
}

RC_GTEST_PROP(DenseKernels, ProductsAreTheirDefinitionInBothPrecisions, ()) {
    check_products<double>();
    check_products<float>();
    check_symmetric_product<double>();
    check_symmetric_product<float>();
}

RC_GTEST_PROP(DenseKernels, TrianglesAreTheirDefinitionInBothPrecisions, ()) {
    check_triangular_products<double>();
    check_triangular_products<float>();
    check_triangles<double>();
    check_triangles<float>();
}

RC_GTEST_PROP(DenseKernels, FactorsGiveTheMatrixAgainInBothPrecisions, ()) {
    check_factorisations<double>();
    check_factorisations<float>();
}

RC_GTEST_PROP(DenseKernels, ElementwiseOperationsAndSumsAreTheirDefinitionInBothPrecisions, ()) {
    check_elementwise<double>();
    check_elementwise<float>();
    check_sums<double>();
    check_sums<float>();
}

}  // namespace
}  // namespace tesela::precisions_test
