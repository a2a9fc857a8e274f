#pragma once

// Singular values by LAPACK, in both precisions. Private to src/tesela/kernels.

#include "tesela/kernels/internal/blas.hpp"
#include "tesela/kernels/internal/lapack.hpp"

#include <optional>
#include <vector>

namespace tesela::lapack {

/// A = W·diag(values)·Zᵀ of m×n: W is m×order, Zᵀ is order×n.
template <class T>
struct SingularValues {
    Index order = 0;
    std::vector<T> values, w, zt;
};

template <class T>
int gesdd(std::vector<T>& a, const int m, const int n, SingularValues<T>& out) {
    const int k = blas::length(out.order);
    std::vector<int> integers(8 * static_cast<std::size_t>(k));
    int info = 0;
    with_workspace<T>([&](T* work, const int* size) {
        if constexpr (sizeof(T) == 8)
            dgesdd_("S", &m, &n, a.data(), &m, out.values.data(), out.w.data(), &m, out.zt.data(), &k, work, size,
                    integers.data(), &info);
        else
            sgesdd_("S", &m, &n, a.data(), &m, out.values.data(), out.w.data(), &m, out.zt.data(), &k, work, size,
                    integers.data(), &info);
    });
    return info;
}

template <class T>
int gesvd(std::vector<T>& a, const int m, const int n, SingularValues<T>& out) {
    const int k = blas::length(out.order);
    int info = 0;
    with_workspace<T>([&](T* work, const int* size) {
        if constexpr (sizeof(T) == 8)
            dgesvd_("S", "S", &m, &n, a.data(), &m, out.values.data(), out.w.data(), &m, out.zt.data(), &k, work, size,
                    &info);
        else
            sgesvd_("S", "S", &m, &n, a.data(), &m, out.values.data(), out.w.data(), &m, out.zt.data(), &k, work, size,
                    &info);
    });
    return info;
}

/// Nothing if LAPACK finds none: then an element is not finite.
template <class T>
std::optional<SingularValues<T>> singular_values(std::vector<T> a, Index rows, Index cols) {
    SingularValues<T> out{.order = std::min(rows, cols)};
    out.values.resize(static_cast<std::size_t>(out.order));
    out.w.resize(static_cast<std::size_t>(rows * out.order));
    out.zt.resize(static_cast<std::size_t>(out.order * cols));
    std::vector<T> copy = a;
    if (gesdd(copy, blas::length(rows), blas::length(cols), out) == 0) return out;
    // Divide and conquer fails on rare matrices that the QR iteration takes.
    if (gesvd(a, blas::length(rows), blas::length(cols), out) == 0) return out;
    return std::nullopt;
}

}  // namespace tesela::lapack
