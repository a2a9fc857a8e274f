#pragma once

#include "tesela/mds/decomposition.hpp"

namespace tesela::mds {

/// How much of distances their first dimensions show: GOF of R's cmdscale.
struct GoodnessOfFit {
    Interval of_magnitudes{};  ///< Σ of the first k eigenvalues / Σ|λ| of all
    Interval of_positive{};    ///< the same / Σ max(λ, 0)
    Interval magnitudes{};     ///< Σ|λ|
    [[nodiscard]] bool is_exact() const { return magnitudes.is_exact(); }
};

/// Of the first `dimensions` values (those that are positive) of distances. Exact where all eigenvalues are known.
/// Otherwise intervals: with m known of n, the rest μ (one of them 0, that of the centred direction) have Σμ = t and
/// Σμ² = f, from trace and sum of squares, and |μ| <= c, as far as a c is known. So Σ|μ| is at least max(|t|, √f, f/c)
/// and, by Cauchy and Schwarz, at most √((n-m-1)·f), and at most (n-m-1)·c. Of Euclidean distances all are at least 0,
/// and Σ|μ| is t.
[[nodiscard]] GoodnessOfFit goodness_of_fit(const Decomposition& known, Index dimensions);

/// What values are parts of: for scaling the sum of the positive eigenvalues, otherwise the sum of squares.
[[nodiscard]] Interval variance(const Decomposition& known, Analysis analysis);

/// How much of the variance the k-th value explains, from 0 on; 0 for negative ones.
[[nodiscard]] Interval explained_part(const Decomposition& known, Analysis analysis, Index k);

/// The least number of dimensions that explains this part of the variance, or may do so as far as that is known; `most`
/// at most and at least 1.
[[nodiscard]] Index dimensions_explaining(const Decomposition& known, Analysis analysis, double part, Index most);

/// Eigenvalues of distances below 0: how many of those that are known, the smallest of them, and Σ|λ| of all of them
/// over that of all. Distances between points in a plane or space have none, but for rounding.
struct NegativeEigenvalues {
    Index known = 0;
    double smallest = 0;
    Interval part{};
};
[[nodiscard]] NegativeEigenvalues negative_eigenvalues(const Decomposition& known);

/// Eigenvalues of distances that are not larger are 0 up to rounding.
[[nodiscard]] double rounding_of(const Decomposition& known);

}  // namespace tesela::mds
