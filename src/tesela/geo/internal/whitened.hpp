#pragma once

#include "tesela/geo/likelihood.hpp"

namespace tesela::geo {

/// The elements of a tile that is being fetched; 0 on engines without data.
[[nodiscard]] SmallMatrix elements_of(Fetched& fetched, Index rows, Index cols);

/// result := Σ⁻¹ of the last, good, evaluation, in its lower triangle.
void invert_sigma(const Likelihood& likelihood, const Matrix<double>& result);

/// A column of tiles with the rows of Σ, on the owners of its diagonal; its tiles are not written yet.
[[nodiscard]] Matrix<double> column_like_sigma(const Likelihood& likelihood, Index columns, const char* name);

/// Y·C for Y = L⁻¹·[z X] of the last, good, evaluation and a small matrix C, as a column of tiles.
[[nodiscard]] Matrix<double> combine_whitened(const Likelihood& likelihood, const SmallMatrix& C, const char* name);

/// Σ⁻¹(z − Xβ) = L⁻ᵀ·Y·(1, −β), β by generalised least squares: Q·z, see orthonormal_trend().
[[nodiscard]] Matrix<double> weighted_residual(const Likelihood& likelihood, const LeastSquares& fit);

/// M with M·Mᵀ = (XᵀΣ⁻¹X)⁻¹, for a trend of at least one function.
[[nodiscard]] SmallMatrix trend_root(const LeastSquares& fit);

/// U = L⁻¹·X·M for that M, whose columns are orthonormal: with it
///     Q = Σ⁻¹ − Σ⁻¹X(XᵀΣ⁻¹X)⁻¹XᵀΣ⁻¹ = L⁻ᵀ(I − U·Uᵀ)L⁻¹.
[[nodiscard]] Matrix<double> orthonormal_trend(const Likelihood& likelihood, const SmallMatrix& M);

}  // namespace tesela::geo
