#include "tesela/geo/matern_derivatives.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace tesela::matern_derivatives_test {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

Real correlation(const Real& nu, const Real& x) {
    return pow(Real(2), 1 - nu) / boost::math::tgamma(nu) * pow(x, nu) * boost::math::cyl_bessel_k(nu, x);
}
Real slope(const Real& nu, const Real& x) {
    return -pow(Real(2), 1 - nu) / boost::math::tgamma(nu) * pow(x, nu) * boost::math::cyl_bessel_k(abs(nu - 1), x);
}
/// Central differences with 50 digits: 30 of them are right.
Real smoothness_slope(double nu, double x) {
    const Real h = 1e-15;
    return (correlation(nu + h, x) - correlation(nu - h, x)) / (2 * h);
}

struct Derivatives {
    double rho = 0;
    double decline = 0;
    double smoothness = 0;
};
Derivatives evaluate(const MaternDerivativeTable& table, double x) {
    Derivatives result;
    table.evaluate({&x, 1}, {.rho = &result.rho, .decline = &result.decline, .smoothness = &result.smoothness});
    return result;
}

/// Ends, seams between pieces, and a geometric sequence between.
std::vector<double> arguments() {
    std::vector<double> x{1e-10, 0x1p-34, 0.5, 2, std::nextafter(2.0, 0.0), 2.0625, 17.3, 600};
    for (double at = 3e-9; at < 80; at *= 2.7) x.push_back(at);
    return x;
}

class MaternDerivativeAccuracy : public ::testing::TestWithParam<double> {};

TEST_P(MaternDerivativeAccuracy, IsWithinOneInTenToTheTwelveOfMultiprecision) {
    const double nu = GetParam();
    const MaternDerivativeTable table(nu, 50);  // some arguments are beyond
    for (const double x : arguments()) {
        const Derivatives got = evaluate(table, x);
        const auto rho = static_cast<double>(correlation(nu, x));
        const auto decline = static_cast<double>(-x * slope(nu, x));
        const auto smoothness = static_cast<double>(smoothness_slope(nu, x));
        EXPECT_NEAR(got.rho, rho, 1e-13 * rho) << "nu " << nu << ", x " << x;
        EXPECT_NEAR(got.decline, decline, 1e-12 * decline) << "nu " << nu << ", x " << x;
        EXPECT_NEAR(got.smoothness, smoothness, 1e-12 * (rho + std::abs(smoothness))) << "nu " << nu << ", x " << x;
    }
}

INSTANTIATE_TEST_SUITE_P(Smoothness, MaternDerivativeAccuracy,
                         ::testing::Values(0.01, 0.1, 0.4999, 0.5, 0.9, 1 - 1e-9, 1.0, 1.23, 1.5, 2.0, 2.5, 5.0, 10.0,
                                           30.0, 50.0));

TEST(MaternDerivatives, HaveTheirLimitsAtZeroAndFarAway) {
    for (const double nu : {0.05, 0.5, 1.0, 2.3}) {
        const MaternDerivativeTable table(nu, 3);
        const Derivatives at_zero = evaluate(table, 0);
        EXPECT_EQ(at_zero.rho, 1);
        EXPECT_EQ(at_zero.decline, 0);
        EXPECT_EQ(at_zero.smoothness, 0);
        for (const double x : {1600.0, 1e300, std::numeric_limits<double>::infinity()}) {
            const Derivatives far = evaluate(table, x);
            EXPECT_EQ(far.rho, 0);
            EXPECT_EQ(far.decline, 0);
            EXPECT_EQ(far.smoothness, 0);
        }
    }
}

TEST(MaternDerivatives, AreFiniteForTheSmallestDistances) {
    for (const double nu : {0.01, 0.5, 1.0, 50.0}) {
        const MaternDerivativeTable table(nu, 3);
        for (const double x : {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-40}) {
            const Derivatives near = evaluate(table, x);
            EXPECT_GE(near.decline, 0);
            EXPECT_LE(near.decline, 0.1);
            EXPECT_LE(std::abs(near.smoothness), nu < 0.5 ? 100 : 1e-10);
        }
    }
}

TEST(MaternDerivatives, RefuseWhatTheTableRefuses) {
    EXPECT_THROW(MaternDerivativeTable(0, 1), Error);
    EXPECT_THROW(MaternDerivativeTable(51, 1), Error);
    EXPECT_THROW(MaternDerivativeTable(1, -1), Error);
}

RC_GTEST_PROP(MaternDerivatives, ABatchGivesTheBitsOfSingleEvaluations, ()) {
    const double nu = 0.01 * *rc::gen::inRange(1, 1000);
    const MaternDerivativeTable table(nu, 5);
    const auto thousandths =
        *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(0, 700), rc::gen::inRange(0, 6000));
    std::vector<double> x, rho(thousandths.size()), decline(thousandths.size()), smoothness(thousandths.size());
    for (const int t : thousandths) x.push_back(t * 1e-3);
    table.evaluate(x, {.rho = rho.data(), .decline = decline.data(), .smoothness = smoothness.data()});
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Derivatives one = evaluate(table, x[i]);
        RC_ASSERT(rho[i] == one.rho && decline[i] == one.decline && smoothness[i] == one.smoothness);
    }
}

}  // namespace
}  // namespace tesela::matern_derivatives_test
