#pragma once

#include "tesela/geo/model.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::geo {

/// What a fit estimated: the parameters of the covariance that the family has and that were not fixed, and the
/// coefficients of the trend.
[[nodiscard]] inline Index estimated_parameters(const Model& model, Index trend_coefficients) {
    const auto estimated = [&](Parameter p) { return uses(model.family, p) && !model.choice(p).fixed; };
    return trend_coefficients + std::ranges::count_if(all_parameters, estimated);
}

/// Akaike's and Schwarz's criteria of a maximum of the likelihood, smaller is better: AIC = 2k − 2ℓ and
/// BIC = k·log n − 2ℓ for k estimated parameters and n observations, less the coefficients of the trend where the
/// likelihood is restricted (as in R's nlme). Comparable between models of the same values.
struct InformationCriteria {
    double aic = 0;
    double bic = 0;
};
[[nodiscard]] inline InformationCriteria information_criteria(const Model& model, double log_likelihood,
                                                              Index trend_coefficients, Index n) {
    const auto k = static_cast<double>(estimated_parameters(model, trend_coefficients));
    const Index degrees = model.estimation == Estimation::reml ? n - trend_coefficients : n;
    return {.aic = 2 * k - 2 * log_likelihood, .bic = k * std::log(static_cast<double>(degrees)) - 2 * log_likelihood};
}

}  // namespace tesela::geo
