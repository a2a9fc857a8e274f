#pragma once

#include "tesela/base/index.hpp"

#include <optional>
#include <vector>

namespace tesela::geo {

/// A small dense matrix, column by column.
struct SmallMatrix {
    Index rows = 0;
    Index cols = 0;
    std::vector<double> values;

    SmallMatrix() = default;
    SmallMatrix(Index m, Index n) : rows(m), cols(n), values(static_cast<std::size_t>(m * n), 0.0) {}
    [[nodiscard]] double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
    [[nodiscard]] double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

[[nodiscard]] SmallMatrix product(const SmallMatrix& A, const SmallMatrix& B);

/// L of A = L·Lᵀ, from A's lower triangle; nothing if a pivot falls below `smallest` times its diagonal element of A.
[[nodiscard]] std::optional<SmallMatrix> small_cholesky(const SmallMatrix& A, double smallest);

/// A⁻¹ from L of A = L·Lᵀ.
[[nodiscard]] SmallMatrix small_inverse(const SmallMatrix& L);

/// log |det A| of a square matrix, by elimination with pivots; −infinity where it is singular.
[[nodiscard]] double log_abs_determinant(SmallMatrix A);

}  // namespace tesela::geo
