#include "tesela/mds/goodness_of_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::mds {
namespace {

struct ValueSums {
    double plain = 0;
    double magnitudes = 0;
    double squares = 0;
};

ValueSums sums_of(const std::vector<double>& values) {
    ValueSums sums;
    for (const double value : values) {
        sums.plain += value;
        sums.magnitudes += std::abs(value);
        sums.squares += value * value;
    }
    return sums;
}

bool knows_all(const Decomposition& known) {
    return static_cast<Index>(known.values.size()) >= std::min(known.rows, known.cols);
}

/// What a value adds to the variance.
double share_of(double value, Analysis analysis) {
    return analysis == Analysis::scaling ? std::max(value, 0.0) : value * value;
}

/// Σ|μ| of the values that are not known.
Interval rest_of_magnitudes(const Decomposition& known, const ValueSums& sums) {
    const auto rest = static_cast<double>(known.rows - static_cast<Index>(known.values.size()) - 1);
    if (rest <= 0) return {};
    // Known values are as good as this, so what is left of the sums is uncertain by as much.
    const double relative =
        std::max(known.error_estimate, static_cast<double>(known.rows) * std::numeric_limits<double>::epsilon());
    const double trace_error = relative * (std::abs(known.trace) + sums.magnitudes);
    const double squares_error = relative * (known.frobenius + 2 * sums.squares);
    if (known.distances == DistanceKind::euclidean) {
        const double t = std::max(0.0, known.trace - sums.plain);
        return {t, t};
    }
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

/// ValueSums over all eigenvalues of distances.
struct AllEigenvalues {
    Interval magnitudes;
    Interval positive;
};

AllEigenvalues add_up(const Decomposition& known) {
    const ValueSums sums = sums_of(known.values);
    const bool all = knows_all(known);
    const Interval rest = all ? Interval{} : rest_of_magnitudes(known, sums);
    double positive = 0;
    for (const double value : known.values) positive += std::max(0.0, value);
    // Σ max(μ, 0) = (Σμ + Σ|μ|)/2.
    const double t = all ? 0 : known.trace - sums.plain;
    return {.magnitudes = {sums.magnitudes + rest.low, sums.magnitudes + rest.high},
            .positive = {positive + std::max(0.0, t + rest.low) / 2, positive + std::max(0.0, t + rest.high) / 2}};
}

}  // namespace

GoodnessOfFit goodness_of_fit(const Decomposition& known, Index dimensions) {
    const AllEigenvalues all = add_up(known);
    double first = 0;
    for (Index k = 0; k < dimensions; ++k) first += std::max(0.0, known.values[static_cast<std::size_t>(k)]);
    return {.of_magnitudes = part_of(first, all.magnitudes),
            .of_positive = part_of(first, all.positive),
            .magnitudes = all.magnitudes};
}

Interval variance(const Decomposition& known, Analysis analysis) {
    if (analysis != Analysis::scaling) return {known.frobenius, known.frobenius};
    return add_up(known).positive;
}

Interval explained_part(const Decomposition& known, Analysis analysis, Index k) {
    return part_of(share_of(known.values[static_cast<std::size_t>(k)], analysis), variance(known, analysis));
}

Index dimensions_explaining(const Decomposition& known, Analysis analysis, double part, Index most) {
    const double all = variance(known, analysis).low;
    const Index last = std::min(most, static_cast<Index>(known.values.size()));
    double sum = 0;
    for (Index k = 0; k < last; ++k) {
        sum += share_of(known.values[static_cast<std::size_t>(k)], analysis);
        // All of them together are all there is, whatever rounding says.
        if (sum >= part * all * (1 - 1e-12)) return k + 1;
    }
    return std::max<Index>(last, 1);
}

double rounding_of(const Decomposition& known) {
    double largest = 0;
    for (const double value : known.values) largest = std::max(largest, std::abs(value));
    return static_cast<double>(known.rows) * std::numeric_limits<double>::epsilon() * largest;
}

NegativeEigenvalues negative_eigenvalues(const Decomposition& known) {
    NegativeEigenvalues found;
    double all = 0;
    double negative = 0;
    const double rounding = rounding_of(known);
    for (const double value : known.values) {
        all += std::abs(value);
        if (value >= -rounding) continue;
        ++found.known;
        found.smallest = std::min(found.smallest, value);
        negative -= value;
    }
    if (knows_all(known)) {
        found.part.low = found.part.high = all > 0 ? negative / all : 0;
        return found;
    }
    // Σ|λ| of the negative ones = (Σ|λ| - Σλ)/2.
    const auto part = [&](double magnitudes) {
        return magnitudes > 0 ? std::max(0.0, 0.5 * (1 - known.trace / magnitudes)) : 0.0;
    };
    const Interval magnitudes = add_up(known).magnitudes;
    const auto [low, high] = std::minmax({part(magnitudes.low), part(magnitudes.high)});
    found.part = {low, high};
    return found;
}

}  // namespace tesela::mds
