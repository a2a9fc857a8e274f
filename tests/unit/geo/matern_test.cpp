#include "tesela/geo/matern.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tesela::matern_test {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;

Real prefactor(double nu) { return pow(Real(2), 1 - Real(nu)) / boost::math::tgamma(Real(nu)); }

Real reference(double nu, double x) {
    return prefactor(nu) * pow(Real(x), Real(nu)) * boost::math::cyl_bessel_k(Real(nu), Real(x));
}

Real reference_slope(double nu, double x) {
    return -prefactor(nu) * pow(Real(x), Real(nu)) * boost::math::cyl_bessel_k(abs(Real(nu) - 1), Real(x));
}

double relative_error(double value, const Real& exact) {
    return static_cast<double>(abs((Real(value) - exact) / exact));
}

/// The ends, the seams between octaves and pieces with their neighbours, and points log-uniform and uniform between.
std::vector<double> arguments(std::size_t random_points) {
    std::vector<double> x{1e-10, 700};
    for (const double seam : {0x1p-33, 0x1p-10, 0.5, 1.0, 1.0 + 1.0 / 32, 2.0, 2.0 + 1.0 / 16, 4.0, 64.0 + 3.0 / 16})
        for (const double neighbour : {std::nextafter(seam, 0.0), seam, std::nextafter(seam, 1e3)})
            x.push_back(neighbour);
    std::mt19937_64 generator(20240229);
    std::uniform_real_distribution<double> log_uniform(std::log(1e-10), std::log(700.0)), uniform(1e-10, 700);
    for (std::size_t i = 0; i < random_points; ++i)
        x.push_back(i % 3 == 0 ? uniform(generator) : std::min(700.0, std::exp(log_uniform(generator))));
    return x;
}

class MaternAccuracy : public ::testing::TestWithParam<double> {};

TEST_P(MaternAccuracy, IsWithinOneInTenToTheThirteenOfMultiprecision) {
    const double nu = GetParam();
    const MaternTable table(nu, 700);
    for (const double x : arguments(150))
        ASSERT_LE(relative_error(table(x), reference(nu, x)), 1e-13) << "nu = " << nu << ", x = " << x;
}

INSTANTIATE_TEST_SUITE_P(Smoothness, MaternAccuracy,
                         ::testing::Values(0.01, 0.05, 0.1, 0.3, 0.4999, 0.5, 0.75, 0.9, 1 - 1e-9, 1.0, 1 + 1e-9, 1.23,
                                           1.5, 2.0, 2.5, 3.3, 4.0, 5.0, 7.77, 10.0));

TEST(Matern, SlopeOfTheFunctionIsItsDerivative) {
    for (const double nu : {0.05, 0.5, 1.0, 1.23, 4.0}) {
        const MaternFunction function(nu);
        for (const double x : {1e-8, 0.03, 0.7, 1.99, 2.01, 30.0, 600.0})
            EXPECT_LE(relative_error(function(x).slope, reference_slope(nu, x)), 1e-13) << "nu " << nu << ", x " << x;
    }
}

TEST(Matern, IsExactlyOneAtZero) {
    for (const double nu : {0.01, 0.3, 0.5, 1.0, 1.23, 10.0, 50.0}) EXPECT_EQ(MaternTable(nu, 10)(0), 1.0);
}

TEST(Matern, AgreesWithClosedFormsOfHalfIntegerSmoothness) {
    const MaternTable half(0.5, 100), three_halves(1.5, 100), five_halves(2.5, 100);
    for (double x = 0.001; x < 100; x *= 1.07) {
        EXPECT_NEAR(half(x) / std::exp(-x), 1, 1e-14);
        EXPECT_NEAR(three_halves(x) / ((1 + x) * std::exp(-x)), 1, 1e-14);
        EXPECT_NEAR(five_halves(x) / ((1 + x + x * x / 3) * std::exp(-x)), 1, 1e-14);
    }
}

TEST(Matern, FollowsItsSeriesBelowTheTable) {
    constexpr double smallest = std::numeric_limits<double>::denorm_min();
    // rho = 1 - Gamma(1-nu)/Gamma(1+nu) (x/2)^(2 nu) + O(x²) for nu < 1
    for (const double nu : {0.01, 0.1, 0.3, 0.5, 0.75}) {
        const MaternTable table(nu, 1);
        const Real ratio = boost::math::tgamma(1 - Real(nu)) / boost::math::tgamma(1 + Real(nu));
        for (const double x : {smallest, 1e-300, 1e-100, 1e-20, 5e-11})
            EXPECT_LE(relative_error(table(x), 1 - ratio * pow(Real(x) / 2, 2 * Real(nu))), 1e-13) << nu << ' ' << x;
    }
    for (const double nu : {1.0, 1.23, 5.0})
        for (const double x : {smallest, 1e-300, 1e-20, 5e-11}) EXPECT_NEAR(MaternTable(nu, 1)(x), 1, 1e-14);
}

TEST(Matern, IsRightBeyondItsLargestArgument) {
    for (const double nu : {0.05, 0.5, 1.23, 4.0}) {
        const MaternTable table(nu, 3);
        for (const double x : {3.0, 3.1, 10.0, 100.0, 700.0})
            EXPECT_LE(relative_error(table(x), reference(nu, x)), 1e-13) << "nu " << nu << ", x " << x;
        for (const double x : {1600.0, 1e6, 1e300, std::numeric_limits<double>::infinity()}) EXPECT_EQ(table(x), 0);
    }
}

TEST(Matern, IsZeroOnlyWhereItIsBelowTheNormalNumbers) {
    for (const double nu : {0.05, 0.5, 1.23, 10.0}) {
        const MaternTable table(nu, std::numeric_limits<double>::infinity());
        EXPECT_GT(table(table.x_max()), 0);
        EXPECT_LT(static_cast<double>(reference(nu, table.x_max() + 0.25)), std::numeric_limits<double>::min());
        for (const double x : {800.0, 1e6, 1e300, std::numeric_limits<double>::infinity()}) EXPECT_EQ(table(x), 0);
    }
}

TEST(Matern, IsNotANumberOutsideItsDomain) {
    const MaternTable table(1.23, 10);
    EXPECT_TRUE(std::isnan(table(std::numeric_limits<double>::quiet_NaN())));
    EXPECT_TRUE(std::isnan(table(-1.0)));
}

TEST(Matern, RefusesSmoothnessItCannotTabulate) {
    for (const double nu : {0.0, -1.0, 51.0, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(MaternTable(nu, 1), Error) << nu;
    EXPECT_THROW(MaternTable(1, -1), Error);
    EXPECT_THROW(MaternTable(1, std::numeric_limits<double>::quiet_NaN()), Error);
}

RC_GTEST_PROP(MaternProperties, ABatchGivesTheBitsOfSingleEvaluations, ()) {
    const double nu = 0.01 * *rc::gen::inRange(1, 1000);
    const MaternTable table(nu, 5);
    const auto thousandths =
        *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(0, 700), rc::gen::inRange(0, 6000));
    std::vector<double> x, out(thousandths.size());
    for (const int t : thousandths) x.push_back(t * 1e-3);
    table.evaluate(x, 1.7, out.data());
    for (std::size_t i = 0; i < x.size(); ++i) RC_ASSERT(out[i] == 1.7 * table(x[i]));
}

RC_GTEST_PROP(MaternProperties, DecreasesFromOneToZero, ()) {
    const double nu = 0.01 * *rc::gen::inRange(1, 1000);
    const MaternTable table(nu, 50);
    double previous = 1;
    for (double x = 1e-9; x < 50; x *= 1.3) {
        const double rho = table(x);
        RC_ASSERT(rho > 0);
        RC_ASSERT(rho <= previous * (1 + 1e-14));
        previous = rho;
    }
}

}  // namespace
}  // namespace tesela::matern_test
