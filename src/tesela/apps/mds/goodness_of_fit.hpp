#pragma once

#include "tesela/apps/mds/decomposition.hpp"

namespace tesela::mds {

/// From the least to the greatest that a number can be; equal where it is known.
struct Interval {
    double low = 0;
    double high = 0;
    [[nodiscard]] bool is_exact() const { return low == high; }
    friend bool operator==(const Interval&, const Interval&) = default;
};

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
/// and, by Cauchy and Schwarz, at most √((n-m-1)·f), and at most (n-m-1)·c.
[[nodiscard]] GoodnessOfFit goodness_of_fit(const Decomposition& known, Index dimensions);

}  // namespace tesela::mds
