#pragma once

#include "tesela/geo/derivatives.hpp"
#include "tesela/geo/internal/local_search.hpp"
#include "tesela/geo/search_space.hpp"

#include <optional>

namespace tesela::geo {

/// The bounds of a space and first steps, in logarithms.
[[nodiscard]] SearchBox box_of(const SearchSpace& space);

/// The log-likelihood of some observations as a function of the logarithms of a search's variables. With sigma2
/// profiled out, Σ = σ²·R, it is greatest at σ² = rᵀR⁻¹r / n, or n less the coefficients of the trend where it is
/// restricted.
class Objective {
public:
    Objective(Likelihood& likelihood, const SearchSpace& space) : likelihood_(likelihood), space_(&space) {}
    /// From now on as a function of the variables of another space.
    void search_in(const SearchSpace& space) { space_ = &space; }

    [[nodiscard]] SearchPoint at(const std::vector<double>& logs, Wanted wanted);

    [[nodiscard]] Likelihood& likelihood() const { return likelihood_; }
    [[nodiscard]] Index points() const { return likelihood_.observations().size(); }
    /// About the last point where Σ was not positive definite.
    [[nodiscard]] std::string explain_failure() const { return likelihood_.explain(failure_, failed_at_); }

private:
    [[nodiscard]] SearchPoint found(const LikelihoodValue& value, const CovarianceParameters& theta) const;
    [[nodiscard]] std::vector<double> slope(const LikelihoodValue& value, const CovarianceParameters& theta);
    [[nodiscard]] SmallMatrix information(const LikelihoodValue& value, const CovarianceParameters& theta);
    [[nodiscard]] double profiled_sigma2(const LikelihoodValue& value) const;

    Likelihood& likelihood_;
    const SearchSpace* space_;
    std::optional<LikelihoodDerivatives> derivatives_;  ///< made when first asked for: it holds another matrix
    Index arrangement_ = 0;                             ///< of the likelihood, that they were made for
    Status failure_{};
    CovarianceParameters failed_at_{};
};

}  // namespace tesela::geo
