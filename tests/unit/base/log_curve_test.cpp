#include "tesela/base/log_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela::log_curve_test {
namespace {

TEST(LogCurve, LiesBetweenItsPointsByLogarithms) {
    const LogCurve curve{{16, 6}, {64, 4}, {192, 2}};
    EXPECT_EQ(value_at(curve, 16), 6);
    EXPECT_EQ(value_at(curve, 64), 4);
    EXPECT_EQ(value_at(curve, 192), 2);
    EXPECT_NEAR(value_at(curve, 32), 5, 1e-12);
    EXPECT_NEAR(value_at(curve, 64 * std::sqrt(3.0)), 3, 1e-12);
}

TEST(LogCurve, StaysAsItIsBeyondItsPoints) {
    const LogCurve curve{{16, 6}, {64, 4}};
    EXPECT_EQ(value_at(curve, 0), 6);
    EXPECT_EQ(value_at(curve, 5000), 4);
    EXPECT_EQ(value_at({{10, 3}}, 7), 3);
    EXPECT_EQ(value_at({}, 7), 1) << "without points it is 1";
}

}  // namespace
}  // namespace tesela::log_curve_test
