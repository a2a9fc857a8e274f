#include "tesela/apps/mds/goodness_of_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::mds {
namespace {

struct Sums {
    double plain = 0;
    double magnitudes = 0;
    double squares = 0;
};

Sums sums_of(const std::vector<double>& values) {
    Sums sums;
    for (const double value : values) {
        sums.plain += value;
        sums.magnitudes += std::abs(value);
        sums.squares += value * value;
    }
    return sums;
}

/// Σ|μ| of the values that are not known.
Interval rest_of_magnitudes(const Decomposition& known, const Sums& sums) {
    const auto rest = static_cast<double>(known.rows - static_cast<Index>(known.values.size()) - 1);
    if (rest <= 0) return {};
    // Known values are as good as this, so what is left of the sums is uncertain by as much.
    const double relative =
        std::max(known.error_estimate, static_cast<double>(known.rows) * std::numeric_limits<double>::epsilon());
    const double trace_error = relative * (std::abs(known.trace) + sums.magnitudes);
    const double squares_error = relative * (known.frobenius + 2 * sums.squares);
    const double t = std::max(0.0, std::abs(known.trace - sums.plain) - trace_error);
    const double least_f = std::max(0.0, known.frobenius - sums.squares - squares_error);
    const double most_f = std::max(0.0, known.frobenius - sums.squares) + squares_error;
    const double c = known.rest_at_most * (1 + relative);
    const double low = std::max({t, std::sqrt(least_f), c > 0 ? least_f / c : 0.0});
    const double high = std::min(std::sqrt(rest * most_f), rest * c);
    // A bound that is not quite one, as of vectors that have not settled, must not turn the interval round.
    return {low, std::max(low, high)};
}

Interval part_of(double first, const Interval& all) {
    return {all.high > 0 ? first / all.high : 0, all.low > 0 ? first / all.low : 0};
}

}  // namespace

GoodnessOfFit goodness_of_fit(const Decomposition& known, Index dimensions) {
    const Sums sums = sums_of(known.values);
    const bool all = static_cast<Index>(known.values.size()) >= known.rows;
    const Interval rest = all ? Interval{} : rest_of_magnitudes(known, sums);
    double first = 0;
    for (Index k = 0; k < dimensions; ++k) first += std::max(0.0, known.values[static_cast<std::size_t>(k)]);
    double positive = 0;
    for (const double value : known.values) positive += std::max(0.0, value);
    // Σ max(μ, 0) = (Σμ + Σ|μ|)/2.
    const double t = all ? 0 : known.trace - sums.plain;
    const Interval of_positive{positive + std::max(0.0, t + rest.low) / 2, positive + std::max(0.0, t + rest.high) / 2};
    const Interval magnitudes{sums.magnitudes + rest.low, sums.magnitudes + rest.high};
    return {.of_magnitudes = part_of(first, magnitudes),
            .of_positive = part_of(first, of_positive),
            .magnitudes = magnitudes};
}

}  // namespace tesela::mds
