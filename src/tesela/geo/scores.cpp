#include "tesela/geo/scores.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/prediction_table.hpp"

#include <cmath>
#include <numbers>

namespace tesela::geo {
namespace {

double mean_of(const std::vector<double>& values, double (*of)(double)) {
    double sum = 0;
    for (const double value : values) sum += of(value);
    return sum / static_cast<double>(values.size());
}

double square(double x) { return x * x; }

/// −log of the normal density at an error.
double minus_log_density(double standardised, double sd) {
    return std::log(sd) + 0.5 * std::log(2 * std::numbers::pi) + 0.5 * square(standardised);
}

}  // namespace

Residuals residuals(const std::vector<double>& observed, const Predictions& predictions) {
    const std::size_t n = observed.size();
    if (predictions.mean.size() != n || predictions.variance.size() != n)
        throw Error("there are {} observations and {} predictions of them", n, predictions.mean.size());
    Residuals result{.observed = observed, .predicted = predictions.mean, .sd = {}, .error = {}, .standardised = {}};
    for (std::size_t i = 0; i < n; ++i) {
        if (!(predictions.variance[i] > 0))
            throw Error("the variance of prediction {} (counted from 0) is {}; without one its error has no scale", i,
                        predictions.variance[i]);
        result.sd.push_back(std::sqrt(predictions.variance[i]));
        result.error.push_back(observed[i] - predictions.mean[i]);
        result.standardised.push_back(result.error[i] / result.sd[i]);
    }
    return result;
}

double normal_crps(double error, double sd) {
    const double z = error / sd;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    // 2Φ(z) − 1 = erf(z/√2)
    return sd * (z * std::erf(z / std::numbers::sqrt2) + 2 * density - std::numbers::inv_sqrtpi);
}

Scores score(const Residuals& residuals, double level) {
    validate(TableOptions{.level = level});
    if (residuals.error.empty()) throw Error("there are no predictions to score");
    const double z = normal_interval(level);
    const auto n = static_cast<double>(residuals.error.size());
    Scores result{.rmse = std::sqrt(mean_of(residuals.error, square)),
                  .mae = mean_of(residuals.error, [](double e) { return std::abs(e); }),
                  .mean_error = mean_of(residuals.error, [](double e) { return e; }),
                  .standardised_square = mean_of(residuals.standardised, square),
                  .level = level};
    for (std::size_t i = 0; i < residuals.error.size(); ++i) {
        result.crps += normal_crps(residuals.error[i], residuals.sd[i]) / n;
        result.log_score += minus_log_density(residuals.standardised[i], residuals.sd[i]) / n;
        if (std::abs(residuals.standardised[i]) <= z) result.coverage += 1;
    }
    result.coverage /= n;
    return result;
}

/// By the symmetric interval that ends there.
double normal_quantile(double p) {
    if (p == 0.5) return 0;
    return p < 0.5 ? -normal_interval(1 - 2 * p) : normal_interval(2 * p - 1);
}

std::vector<double> normal_scores(Index n) {
    std::vector<double> result;
    for (Index k = 0; k < n; ++k)
        result.push_back(normal_quantile((static_cast<double>(k) + 0.5) / static_cast<double>(n)));
    return result;
}

}  // namespace tesela::geo
