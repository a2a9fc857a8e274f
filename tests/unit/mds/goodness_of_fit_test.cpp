#include "tesela/mds/goodness_of_fit.hpp"

#include "tesela/base/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace tesela::mds::mds_goodness_of_fit_test {
namespace {

/// What an algorithm would know that has found the `found` largest in magnitude of a spectrum.
Decomposition partly_known(const std::vector<double>& spectrum, std::size_t found) {
    std::vector<double> values = spectrum;
    std::ranges::sort(values, [](double a, double b) { return std::abs(a) > std::abs(b); });
    Decomposition known{.rows = static_cast<Index>(spectrum.size()), .cols = static_cast<Index>(spectrum.size())};
    for (const double value : values) {
        known.trace += value;
        known.frobenius += value * value;
    }
    known.rest_at_most = std::abs(values[found - 1]);
    values.resize(found);
    std::ranges::sort(values, std::greater<>());
    known.values = values;
    known.error_estimate = 1e-12;
    return known;
}

std::vector<double> random_spectrum(std::size_t n, std::uint64_t seed, double decay, double negative) {
    const Random random(seed);
    std::vector<double> spectrum{0};  // of the direction that is centred away
    for (std::uint64_t k = 1; k < n; ++k) {
        const double size = std::pow(static_cast<double>(k), -decay) * (0.5 + random.uniform({.i = k}));
        spectrum.push_back(random.uniform({.i = k, .j = 1}) < negative ? -size : size);
    }
    std::ranges::sort(spectrum, std::greater<>());
    return spectrum;
}

RC_GTEST_PROP(GoodnessOfFit, IntervalsHoldWhatTheWholeSpectrumGives, ()) {
    const auto n = static_cast<std::size_t>(*rc::gen::inRange(5, 80));
    const auto found = static_cast<std::size_t>(*rc::gen::inRange<int>(2, static_cast<int>(n) - 1));
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const double decay = *rc::gen::element(0.0, 0.5, 1.0, 2.0, 4.0);
    const double negative = *rc::gen::element(0.0, 0.1, 0.5);
    const std::vector<double> spectrum = random_spectrum(n, seed, decay, negative);
    const auto size = static_cast<Index>(n);
    const GoodnessOfFit truth = goodness_of_fit({.rows = size, .cols = size, .values = spectrum}, 2);
    RC_ASSERT(truth.is_exact());
    Decomposition known = partly_known(spectrum, found);
    RC_PRE(known.values.size() >= 2 && known.values[1] > 0 && known.values[0] == spectrum[0] &&
           known.values[1] == spectrum[1]);
    for (int bounded = 0; bounded < 2; ++bounded) {
        const GoodnessOfFit got = goodness_of_fit(known, 2);
        const auto holds = [](const Interval& interval, double value) {
            return interval.low <= value * (1 + 1e-12) && value <= interval.high * (1 + 1e-12);
        };
        RC_ASSERT(holds(got.magnitudes, truth.magnitudes.low));
        RC_ASSERT(holds(got.of_magnitudes, truth.of_magnitudes.low));
        RC_ASSERT(holds(got.of_positive, truth.of_positive.low));
        const Decomposition all{.rows = size, .cols = size, .values = spectrum};
        RC_ASSERT(holds(explained_part(known, Analysis::scaling, 1), explained_part(all, Analysis::scaling, 1).low));
        const NegativeEigenvalues negatives = negative_eigenvalues(known);
        const double part = negative_eigenvalues(all).part.low;
        RC_ASSERT(negatives.part.low <= part + 1e-9 && part <= negatives.part.high + 1e-9);
        // Where few could explain it, no more are taken than in truth.
        RC_ASSERT(dimensions_explaining(known, Analysis::scaling, 0.3, 2) <=
                  dimensions_explaining(all, Analysis::scaling, 0.3, 2));
        known.rest_at_most = std::numeric_limits<double>::infinity();
    }
}

// Points have no negative ones, so that the trace says what is left.
TEST(GoodnessOfFit, OfDistancesBetweenPointsIsKnown) {
    std::vector<double> spectrum(40, 0.25);
    spectrum[0] = 3;
    spectrum[1] = 1;
    spectrum[39] = 0;
    Decomposition known = partly_known(spectrum, 2);
    EXPECT_FALSE(goodness_of_fit(known, 1).is_exact());
    known.distances = DistanceKind::euclidean;
    const GoodnessOfFit got = goodness_of_fit(known, 1);
    EXPECT_TRUE(got.is_exact());
    EXPECT_NEAR(got.of_positive.low, 3 / 13.25, 1e-14);
    EXPECT_EQ(negative_eigenvalues(known).part, exactly(0));
}

// Where what is not known is nothing, the interval is a number up to rounding.
TEST(GoodnessOfFit, IsSharpWhereNothingIsLeft) {
    std::vector<double> spectrum(50, 0.0);
    spectrum[0] = 3;
    spectrum[1] = 1;
    const GoodnessOfFit got = goodness_of_fit(partly_known(spectrum, 2), 1);
    EXPECT_FALSE(got.is_exact());
    EXPECT_NEAR(got.of_magnitudes.high, 0.75, 1e-12);
    EXPECT_NEAR(got.of_magnitudes.low, 0.75, 1e-4);
}

// Equal values meet the upper bound, and a bound on their size the lower one.
TEST(GoodnessOfFit, BoundsAreMet) {
    std::vector<double> spectrum(21, 1.0);
    spectrum[0] = 5;
    spectrum[20] = 0;
    Decomposition known = partly_known(spectrum, 2);
    const GoodnessOfFit got = goodness_of_fit(known, 1);
    EXPECT_NEAR(got.magnitudes.high, 24, 1e-9);
    EXPECT_NEAR(got.magnitudes.low, 24, 1e-9);
    // Half of them below 0, so that their sum says nothing.
    for (std::size_t k = 2; k < 20; k += 2) spectrum[k] = -1;
    known = partly_known(spectrum, 2);
    EXPECT_NEAR(goodness_of_fit(known, 1).magnitudes.low, 24, 1e-9);
    known.rest_at_most = std::numeric_limits<double>::infinity();
    EXPECT_NEAR(goodness_of_fit(known, 1).magnitudes.low, 6 + std::sqrt(18), 1e-9);
}

}  // namespace
}  // namespace tesela::mds::mds_goodness_of_fit_test
