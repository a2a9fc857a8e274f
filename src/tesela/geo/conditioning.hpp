#pragma once

#include "tesela/geo/likelihood.hpp"

#include <string>

namespace tesela::geo {

/// How far rounding is amplified when systems are solved with a covariance matrix.
struct Conditioning {
    double estimate = 1;    ///< of κ₁(Σ) = ‖Σ‖₁·‖Σ⁻¹‖₁, from below
    double of_inverse = 0;  ///< of ‖Σ⁻¹‖₁ alone
    /// Decimal digits that remain of the 16 of a double: −log₁₀(κ·ε), at least 0.
    [[nodiscard]] double digits() const;
};

/// Estimates κ₁ of Σ at the last, good, evaluation, whose factor is used. ‖Σ⁻¹‖₁ as LAPACK's dpocon does (Hager 1984,
/// Higham 1988): at most nine solves with one column, 2n² each, where the factor itself took n³/3.
/// (max/min)² of the factor's diagonal would be cheaper, but misses a factor of n and more: see the tests. ‖Σ‖₁ is the
/// largest sum of 32 of its columns, which are alike for points that lie about as densely everywhere. Every node calls
/// it and gets the same; 1 on engines without data.
[[nodiscard]] Conditioning estimate_condition(const Likelihood& likelihood);

/// One line for a person if there are not enough digits, with the two closest points and what to do, which are options
/// of fit and loglik; otherwise empty.
[[nodiscard]] std::string explain_conditioning(const Conditioning& conditioning, const Likelihood& likelihood);

/// One line for a person where compression may change Σ by too much beside its smallest eigenvalues, or its nugget, for
/// the log-likelihood to be good to a tenth; otherwise empty.
[[nodiscard]] std::string explain_compression(const Conditioning& conditioning, const Likelihood& likelihood);

}  // namespace tesela::geo
