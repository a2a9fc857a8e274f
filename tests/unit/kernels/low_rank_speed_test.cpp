#include "tesela/kernels/low_rank_speed.hpp"

#include <gtest/gtest.h>

namespace tesela::low_rank_speed_test {
namespace {

TEST(LowRankSpeed, IsMeasured) {
    const LowRankSpeed speed = measure_low_rank_speed();
    EXPECT_GT(speed.product_flops, 1e7) << "slower than any machine that this is built for";
    EXPECT_LT(speed.product_flops, 1e13);
    ASSERT_EQ(speed.recompression.size(), 4U);
    for (const auto& [rank, slowness] : speed.recompression) {
        EXPECT_GT(slowness, 0.3) << "products are the fastest there is; rank " << rank;
        EXPECT_LT(slowness, 1000) << rank;
    }
}

}  // namespace
}  // namespace tesela::low_rank_speed_test
