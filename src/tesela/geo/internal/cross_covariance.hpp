#pragma once

#include "tesela/geo/likelihood.hpp"

namespace tesela::geo {

/// Columns of a tile of such matrices.
inline constexpr Index column_tile = 128;

/// How many new points are computed together: so many that n×points doubles stay small.
[[nodiscard]] Index prediction_block(Index n);

/// A matrix with the rows of Σ and a column for each of `count` points, in the rows of its owners.
[[nodiscard]] Matrix<double> columns_like_sigma(const Likelihood& likelihood, Index count, const char* name);

/// A row for each column of such a matrix and `cols` columns, cut alike: sums over its columns, which live where their
/// first rows do.
[[nodiscard]] Matrix<double> rows_for_columns(Stream& stream, const Matrix<double>& W, Index cols, const char* name);

/// Observations, points, and how they vary together; all outlive the next wait.
struct CrossCovariance {
    const Covariance& covariance;
    const PointSet& rows;
    const PointSet& cols;
    Index first = 0;  ///< the point of the matrix' first column
};
/// K(i, j) := the covariance of the field at observation i and at point first + j.
void generate_cross_covariance(Stream& stream, const Matrix<double>& K, const CrossCovariance& of);

}  // namespace tesela::geo
