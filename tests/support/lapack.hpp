#pragma once

// Oracles for tests: matrices with closed-form elements, and LAPACK or plain loops applied to whole arrays.

#include "tesela/algs/elementwise.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/random.hpp"
#include "tesela/kernels/internal/lapack.hpp"

#include TESELA_BLAS_HEADER

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tesela::testing {

/// Symmetric positive definite: 1/(1+|i-j|) off the diagonal, and enough on it.
inline double spd_element(const void*, ElementIndex at) {
    const auto gap = static_cast<double>(std::abs(at.i - at.j));
    return 1.0 / (1.0 + gap) + (at.i == at.j ? 2.0 : 0.0);
}
/// A general matrix of random numbers in [-1, 1), a function of seed and position.
inline double random_element(const void* seed, ElementIndex at) {
    const Random random(*static_cast<const std::uint64_t*>(seed));
    return 2 * random.uniform({static_cast<std::uint64_t>(at.i), static_cast<std::uint64_t>(at.j)}) - 1;
}
/// Diagonally dominant for orders up to `large`, and not symmetric.
inline double dominant_element(const void*, ElementIndex at) {
    const double wave = std::sin(0.7 * static_cast<double>(at.i) + 1.3 * static_cast<double>(at.j));
    const auto gap = static_cast<double>(std::abs(at.i - at.j));
    return at.i == at.j ? 8.0 : wave / (1.0 + gap);
}

template <class T>
std::vector<T> dense(ElementIndex size, const Elements& elements) {
    std::vector<T> a(static_cast<std::size_t>(size.i * size.j));
    for (Index j = 0; j < size.j; ++j)
        for (Index i = 0; i < size.i; ++i)
            a[static_cast<std::size_t>(i + j * size.i)] = static_cast<T>(elements.function(elements.context, {i, j}));
    return a;
}

template <class T>
int reference_cholesky(Index n, std::vector<T>& a) {
    const int order = static_cast<int>(n);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dpotrf_("L", &order, a.data(), &order, &info);
    else
        spotrf_("L", &order, a.data(), &order, &info);
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < j; ++i) a[static_cast<std::size_t>(i + j * n)] = 0;
    return info;
}

/// Lower triangle of the inverse, from a Cholesky factor.
template <class T>
void reference_inverse(Index n, std::vector<T>& l) {
    const int order = static_cast<int>(n);
    int info = 0;
    if constexpr (sizeof(T) == 8)
        dpotri_("L", &order, l.data(), &order, &info);
    else
        spotri_("L", &order, l.data(), &order, &info);
}

/// L\U by LAPACK in double precision. Its pivoting must find nothing to exchange, as where columns are diagonally
/// dominant: false otherwise.
template <class T>
[[nodiscard]] bool reference_lu(Index n, std::vector<T>& a) {
    const int order = static_cast<int>(n);
    std::vector<double> w(a.begin(), a.end());
    std::vector<int> pivots(static_cast<std::size_t>(n));
    int info = 0;
    dgetrf_(&order, &order, w.data(), &order, pivots.data(), &info);
    std::transform(w.begin(), w.end(), a.begin(), [](double x) { return static_cast<T>(x); });
    for (int k = 0; k < order; ++k)
        if (pivots[static_cast<std::size_t>(k)] != k + 1) return false;
    return info == 0;
}

/// C := op(A)·op(B) by BLAS on whole arrays; A is m×k after op, B is k×n after op.
template <class T>
std::vector<T> reference_product(ElementIndex size, Index inner, const std::vector<T>& a, const std::vector<T>& b) {
    std::vector<T> c(static_cast<std::size_t>(size.i * size.j), T{0});
    for (Index j = 0; j < size.j; ++j)
        for (Index k = 0; k < inner; ++k)
            for (Index i = 0; i < size.i; ++i)
                c[static_cast<std::size_t>(i + j * size.i)] +=
                    a[static_cast<std::size_t>(i + k * size.i)] * b[static_cast<std::size_t>(k + j * inner)];
    return c;
}

/// c·n·eps for matrices whose elements are of order one.
template <class T>
double tolerance(Index n, double c = 8) {
    return c * static_cast<double>(std::max<Index>(n, 4)) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

}  // namespace tesela::testing
