#pragma once

#include "tesela/geo/predict.hpp"

#include <span>
#include <vector>

namespace tesela::geo {

/// How predictions compare with what was observed: the error is observed − predicted, and standardised it is divided by
/// the standard deviation that was predicted.
struct Residuals {
    std::vector<double> observed;
    std::vector<double> predicted;
    std::vector<double> sd;
    std::vector<double> error;
    std::vector<double> standardised;
};
/// Throws Error if sizes differ or a variance is not positive.
[[nodiscard]] Residuals residuals(const std::vector<double>& observed, const Predictions& predictions);

/// Means over all predictions. Those of the error tell how far off predictions are; the others also whether the
/// standard deviations that come with them can be believed.
struct Scores {
    double rmse = 0;                 ///< root of the mean squared error
    double mae = 0;                  ///< mean absolute error
    double mean_error = 0;           ///< bias: 0 at best
    double standardised_square = 0;  ///< mean squared standardised error: 1 at best; above, deviations are too small
    double crps = 0;                 ///< continuous ranked probability score, smaller is better
    double log_score = 0;            ///< mean of −log of the predictive density, smaller is better
    double coverage = 0;             ///< share of the observations inside the interval of the level
    double level = 0.95;
};
/// Throws Error without predictions or unless the level is between 0 and 1.
[[nodiscard]] Scores score(const Residuals& residuals, double level);

/// ∫ (F(x) − [x >= observed])² dx for a normal F whose mean is off by error = observed − mean:
/// sd·(z·(2Φ(z) − 1) + 2φ(z) − 1/√π) with z = error/sd (Gneiting and Raftery, JASA 102 (2007) 359, equation 21).
[[nodiscard]] double normal_crps(double error, double sd);

/// The p-quantile of the standard normal distribution, 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// The quantiles at (k − ½)/n, k = 1, …, n: what n sorted standardised errors are compared with.
[[nodiscard]] std::vector<double> normal_scores(Index n);

}  // namespace tesela::geo
