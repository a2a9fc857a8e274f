#include "tesela/base/largest_difference.hpp"

#include <gtest/gtest.h>

namespace tesela::largest_difference_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(LargestDifference, IsTheLargestWhereverItStands) {
    const std::vector<double> zero(3, 0);
    EXPECT_EQ(largest_difference(zero, {3, -1, 2}), 3);
    EXPECT_EQ(largest_difference(zero, {1, -3, 2}), 3);
    EXPECT_EQ(largest_difference(zero, {1, 2, -3}), 3);
    EXPECT_EQ(largest_difference(zero, zero), 0);
}

TEST(LargestDifference, ANanIsNotHiddenByWhatComesAfterIt) {
    const std::vector<double> zero(3, 0);
    EXPECT_EQ(largest_difference(zero, {nan, 0, 0}), infinity);
    EXPECT_EQ(largest_difference(zero, {5, nan, 1}), infinity);
    EXPECT_EQ(largest_difference(zero, {5, 1, nan}), infinity);
    EXPECT_EQ(largest_difference<double>({infinity}, {infinity}), infinity);
}

TEST(LargestDifference, OfOtherSizesIsInfinite) { EXPECT_EQ(largest_difference<float>({1, 2}, {1}), infinity); }

}  // namespace
}  // namespace tesela::largest_difference_test
