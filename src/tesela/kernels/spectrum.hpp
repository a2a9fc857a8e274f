#pragma once

#include "tesela/base/index.hpp"

#include <optional>
#include <vector>

namespace tesela {

/// A symmetric matrix of order n: all its eigenvalues, the largest first, and vectors of length 1 of the first ones.
struct SymmetricSpectrum {
    std::vector<double> values;
    std::vector<double> vectors;  ///< n x wanted, columns one after the other
};

/// By LAPACK: reduction to three diagonals, all values from them by QR, and the wanted vectors (at most n) by
/// relatively robust representations. `A` is n x n, column by column, of which the lower triangle counts. Nothing if
/// LAPACK finds none: then an element is not finite.
[[nodiscard]] std::optional<SymmetricSpectrum> symmetric_spectrum(std::vector<double> A, Index n, Index wanted);

/// An m x n matrix: all min(m, n) singular values, the largest first, and vectors of length 1 of the first ones.
struct SingularSpectrum {
    std::vector<double> values;
    std::vector<double> left;   ///< m x wanted, columns one after the other
    std::vector<double> right;  ///< n x wanted
};

/// By LAPACK, from `A` itself and not from its Gram matrix, whose small values would have half the digits. `A` is
/// column by column, wanted at most min(m, n). Nothing if LAPACK finds none: then an element is not finite.
[[nodiscard]] std::optional<SingularSpectrum> singular_spectrum(std::vector<double> A, GridSize size, Index wanted);

}  // namespace tesela
