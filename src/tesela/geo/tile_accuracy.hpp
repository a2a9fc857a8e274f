#pragma once

#include "tesela/algs/conjugate_gradients.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/geo/covariance.hpp"
#include "tesela/geo/model.hpp"

#include <optional>
#include <string>

namespace tesela::geo {

class Likelihood;

/// How a covariance matrix is compressed (tile low-rank, paper 004).
struct TileAccuracy {
    /// What a tile may differ from the true one, in the Frobenius norm, relative to sigma2.
    double accuracy = 1e-9;
    /// Tiles nearer to the diagonal than this are stored with all their elements.
    Index band = 1;
    /// Above 0: solutions with the factor are refined against the true matrix until residuals are this small, relative
    /// to the right-hand side, by conjugate gradients.
    double refine = 0;
    /// Whether what the accuracy allows of U and V is stored in single precision.
    FactorPrecision precision = FactorPrecision::full;
};

/// The least that `refine` may be, above 0: rounding leaves residuals of solutions no smaller.
inline constexpr double least_refinement = 1e-15;
/// Throws Error where no matrix can be compressed like that: an accuracy that is negative or not finite, no band, a
/// refinement that cannot be reached.
void validate(const TileAccuracy& accuracy);

/// What sigma2 of a compressed matrix may be: squares of elements, and of errors that are rounding, stay in the range
/// of numbers.
inline constexpr double least_compressible_sigma2 = 1e-130;
inline constexpr double most_compressible_sigma2 = 1e130;
/// Throws Error where sigma2 is not between those.
void require_compressible(const CovarianceParameters& theta);

/// The observations in the order of a Hilbert curve through their points, so that tiles are of points that are close
/// together; where() still names them as the caller numbered them.
[[nodiscard]] Observations in_hilbert_order(const Observations& observations, Metric metric);

/// The covariance matrix of points, and a factor of something like it.
struct FactoredCovariance {
    const Covariance& covariance;
    const PointSet& points;
    MatrixView<double> factor;  ///< L, of which the lower triangle is looked at
};

/// Y := Σ·X; elements of Σ are computed as they are needed, and none are stored.
void multiply_covariances(Stream& s, const FactoredCovariance& of, const MatrixView<double>& X,
                          const MatrixView<double>& Y);

/// The same as a SymmetricProduct; what `of` refers to outlives it.
[[nodiscard]] SymmetricProduct product_with(Stream& s, const FactoredCovariance& of);

/// What the product of a factor differs from the covariance matrix, ‖Σ − L·Lᵀ‖₂, by power iterations (see
/// tesela::factor_residual); elements of Σ are computed as they are needed, n² of them in each.
[[nodiscard]] double factor_residual(Stream& s, const FactoredCovariance& of, int iterations);

/// What compression came to, after a good evaluation.
struct CompressionReport {
    double asked = 0;    ///< of a tile, relative to sigma2
    double reached = 0;  ///< ‖Σ − L·Lᵀ‖₂ / sigma2
    std::optional<Convergence> refined{};
    RankSummary ranks{};
};
[[nodiscard]] CompressionReport report_compression(Likelihood& likelihood, int iterations = 3);

/// The accuracy that keeps a matrix of so many tile rows positive definite, if anything does: errors of all tiles
/// together are below the nugget. A power of ten.
[[nodiscard]] double helpful_accuracy(const CovarianceParameters& theta, Index tile_rows, double asked);

}  // namespace tesela::geo
