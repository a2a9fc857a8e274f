#include "tesela/kernels/low_rank_speed.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tesela {
namespace {

TEST(LowRankSpeed, LiesBetweenTheRanksThatWereMeasured) {
    const LowRankSpeed speed{.recompression = {6, 4, 2}};
    EXPECT_EQ(speed.recompression_at(16), 6);
    EXPECT_EQ(speed.recompression_at(64), 4);
    EXPECT_EQ(speed.recompression_at(192), 2);
    EXPECT_NEAR(speed.recompression_at(32), 5, 1e-12) << "half way by logarithms";
    EXPECT_NEAR(speed.recompression_at(64 * std::sqrt(3.0)), 3, 1e-12);
    EXPECT_EQ(speed.recompression_at(0), 6);
    EXPECT_EQ(speed.recompression_at(5000), 2);
}

TEST(LowRankSpeed, IsMeasured) {
    const LowRankSpeed speed = measure_low_rank_speed();
    EXPECT_GT(speed.product_flops, 1e7) << "slower than any machine that this is built for";
    EXPECT_LT(speed.product_flops, 1e13);
    for (const double slowness : speed.recompression) {
        EXPECT_GT(slowness, 0.3) << "no faster than a product by much, since products are the fastest there is";
        EXPECT_LT(slowness, 1000);
    }
}

}  // namespace
}  // namespace tesela
