#pragma once

// The slopes of a log-likelihood by differences: what gradients are compared with.

#include "tesela/geo/derivatives.hpp"
#include "unit/geo/meuse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tesela::testing {

/// Central differences of sixth order, with steps of 0.4 % of the parameter.
inline double likelihood_difference(geo::Likelihood& likelihood, const CovarianceParameters& theta, geo::Parameter p) {
    const double h = 4e-3 * geo::value_of(theta, p);
    const auto between = [&](double steps) {
        CovarianceParameters up = theta;
        CovarianceParameters down = theta;
        geo::value_of(up, p) += steps * h;
        geo::value_of(down, p) -= steps * h;
        return likelihood.evaluate(up).log_likelihood - likelihood.evaluate(down).log_likelihood;
    };
    return (45 * between(1) - 9 * between(2) + between(3)) / (60 * h);
}

struct GradientCase {
    CovarianceFamily family;
    CovarianceParameters theta;
};
/// Every family on meuse, away from maxima, where slopes would be differences of equal numbers.
inline std::vector<GradientCase> gradient_cases() {
    const auto at = [](double range, double smoothness) {
        return CovarianceParameters{.sigma2 = 0.6, .range = range, .smoothness = smoothness, .nugget = 0.05};
    };
    return {{CovarianceFamily::matern, at(200, 0.5)},
            {CovarianceFamily::matern, at(150, 1.5)},
            {CovarianceFamily::matern, at(180, 1.0)},
            {CovarianceFamily::matern, at(120, 2.37)},
            {CovarianceFamily::matern, at(300, 0.3)},
            {CovarianceFamily::exponential, at(200, 0.5)},
            {CovarianceFamily::squared_exponential, at(250, 0.5)},
            {CovarianceFamily::powered_exponential, at(250, 1.4)},
            {CovarianceFamily::powered_exponential, at(180, 0.8)}};
}

/// Compares every slope with differences, to 1e-6 of its size.
inline void expect_gradient(Stream& s, const GradientCase& c, const geo::Model& like, Index tile) {
    geo::Model model = like;
    model.family = c.family;
    geo::Likelihood likelihood(s, meuse(), model, {.tile = tile});
    geo::LikelihoodDerivatives derivatives(likelihood);
    const geo::LikelihoodValue value = likelihood.evaluate(c.theta);
    ASSERT_TRUE(value.status.ok());
    const geo::Gradient gradient = derivatives.gradient(value);
    for (const geo::Parameter p : geo::all_parameters) {
        const double got = gradient[static_cast<std::size_t>(p)];
        if (!geo::uses(c.family, p)) {
            EXPECT_EQ(got, 0) << name(p);
            continue;
        }
        const double expected = likelihood_difference(likelihood, c.theta, p);
        EXPECT_NEAR(got, expected, 1e-6 * std::abs(expected)) << geo::describe(c.family, c.theta) << ", slope in "
                                                              << name(p) << ", " << name(c.family) << ", tile " << tile;
    }
}

}  // namespace tesela::testing
