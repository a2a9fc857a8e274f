#include "tesela/kernels/spectrum.hpp"

#include "tesela/kernels/internal/singular_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tesela {
namespace {

std::size_t count(Index m, Index n = 1) { return static_cast<std::size_t>(m * n); }

/// The diagonal of Qᵀ·A·Q and what is below it; Q is left in A and `reflectors`.
struct Tridiagonal {
    std::vector<double> diagonal;
    std::vector<double> below;
    std::vector<double> reflectors;
};

Tridiagonal reduce(std::vector<double>& A, int n) {
    Tridiagonal t{std::vector<double>(count(n)), std::vector<double>(count(n)), std::vector<double>(count(n))};
    lapack::with_workspace<double>([&](double* work, const int* size) {
        int info = 0;
        dsytrd_("L", &n, A.data(), &n, t.diagonal.data(), t.below.data(), t.reflectors.data(), work, size, &info);
    });
    return t;
}

/// The smallest first.
std::optional<std::vector<double>> values_of(Tridiagonal t) {
    const int n = static_cast<int>(t.diagonal.size());
    int info = 0;
    dsterf_(&n, t.diagonal.data(), t.below.data(), &info);
    if (info != 0 || !std::all_of(t.diagonal.begin(), t.diagonal.end(), [](double x) { return std::isfinite(x); }))
        return std::nullopt;
    return std::move(t.diagonal);
}

/// Vectors of the `wanted` largest values, that of the smallest of them first.
std::optional<std::vector<double>> by_robust_representations(Tridiagonal t, int wanted) {
    const int n = static_cast<int>(t.diagonal.size());
    const int first = n - wanted + 1;
    const double unused = 0;
    int found = 0;
    int info = 0;
    int try_relative_accuracy = 1;
    std::vector<double> values(count(n));
    std::vector<double> vectors(count(n, wanted));
    std::vector<int> support(2 * count(n));
    std::vector<double> work(18 * count(n));
    std::vector<int> integers(10 * count(n));
    const int work_size = 18 * n;
    const int integer_size = 10 * n;
    dstemr_("V", "I", &n, t.diagonal.data(), t.below.data(), &unused, &unused, &first, &n, &found, values.data(),
            vectors.data(), &n, &wanted, support.data(), &try_relative_accuracy, work.data(), &work_size,
            integers.data(), &integer_size, &info);
    if (info != 0 || found != wanted) return std::nullopt;
    return vectors;
}

/// The same by QR iterations, of all vectors: for the rare matrices on which the representations break down.
std::optional<std::vector<double>> by_iterations(Tridiagonal t, int wanted) {
    const int n = static_cast<int>(t.diagonal.size());
    int info = 0;
    std::vector<double> all(count(n, n));
    std::vector<double> work(2 * count(n));
    dsteqr_("I", &n, t.diagonal.data(), t.below.data(), all.data(), &n, work.data(), &info);
    if (info != 0) return std::nullopt;
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(count(n, wanted)));
    return all;
}

/// Vectors of A from those of Qᵀ·A·Q.
void turn_back(std::vector<double>& A, const Tridiagonal& t, std::vector<double>& vectors, int wanted) {
    const int n = static_cast<int>(t.diagonal.size());
    lapack::with_workspace<double>([&](double* work, const int* size) {
        int info = 0;
        dormtr_("L", "L", "N", &n, &wanted, A.data(), &n, t.reflectors.data(), vectors.data(), &n, work, size, &info);
    });
}

/// The last column first.
void reverse_columns(std::vector<double>& vectors, Index n, Index columns) {
    for (Index j = 0; j < columns / 2; ++j)
        std::swap_ranges(vectors.begin() + j * n, vectors.begin() + (j + 1) * n,
                         vectors.begin() + (columns - 1 - j) * n);
}

}  // namespace

std::optional<SymmetricSpectrum> symmetric_spectrum(std::vector<double> A, Index n, Index wanted) {
    const Tridiagonal t = reduce(A, blas::length(n));
    auto values = values_of(t);
    if (!values) return std::nullopt;
    std::reverse(values->begin(), values->end());
    if (wanted == 0) return SymmetricSpectrum{.values = std::move(*values), .vectors = {}};
    auto vectors = by_robust_representations(t, blas::length(wanted));
    if (!vectors) vectors = by_iterations(t, blas::length(wanted));
    if (!vectors) return std::nullopt;
    turn_back(A, t, *vectors, blas::length(wanted));
    reverse_columns(*vectors, n, wanted);
    return SymmetricSpectrum{.values = std::move(*values), .vectors = std::move(*vectors)};
}

std::optional<SingularSpectrum> singular_spectrum(std::vector<double> A, GridSize size, Index wanted) {
    auto svd = lapack::singular_values(std::move(A), size.rows, size.cols);
    if (!svd) return std::nullopt;
    SingularSpectrum result{.values = std::move(svd->values), .left = std::move(svd->w), .right = {}};
    result.left.resize(count(size.rows, wanted));
    result.right.resize(count(size.cols, wanted));
    for (Index k = 0; k < wanted; ++k)
        for (Index j = 0; j < size.cols; ++j)
            result.right[count(k, size.cols) + count(j)] = svd->zt[count(k) + count(j, svd->order)];
    return result;
}

}  // namespace tesela
