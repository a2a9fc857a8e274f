#include "peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::bench::peak_test {
namespace {

using ::testing::ElementsAre;

/// The search on a machine that does products of order n at a rate of peak·n/(n + half): half of its peak at `half`.
PeakSearch on_machine(double peak, double half, double longest_seconds = 10) {
    const auto seconds = [=](Index order) {
        const auto n = static_cast<double>(order);
        return product_flops(order) / (peak * n / (n + half));
    };
    return find_peak(seconds, longest_seconds);
}

TEST(PeakSearch, EndsWhereLargerProductsAreNoFaster) {
    const PeakSearch flat = find_peak([](Index order) { return product_flops(order) / 1e10; }, 1e9);
    EXPECT_EQ(flat.tried.size(), 3U);
    EXPECT_TRUE(flat.settled());
    EXPECT_DOUBLE_EQ(flat.best().rate, 1e10);
}

TEST(PeakSearch, GoesOnAsLongAsTheRateRises) {
    const PeakSearch few_cores = on_machine(6e10, 10, 1e9);
    const PeakSearch many_cores = on_machine(1e12, 400, 1e9);
    EXPECT_TRUE(many_cores.settled());
    EXPECT_GT(many_cores.best().order, few_cores.best().order);
    EXPECT_GT(few_cores.best().rate, 0.97 * 6e10);
    EXPECT_GT(many_cores.best().rate, 0.97 * 1e12);
}

TEST(PeakSearch, GoesOnOverOneOrderThatSuitsTheMachineLess) {
    const auto seconds = [](Index order) {
        const double rate = order == 768 ? 0.5e10 : order < 768 ? 1e10 : 2e10;
        return product_flops(order) / rate;
    };
    const PeakSearch search = find_peak(seconds, 1e9);
    EXPECT_TRUE(search.settled());
    EXPECT_DOUBLE_EQ(search.best().rate, 2e10);
}

TEST(PeakSearch, TriesNoProductThatWouldTakeLongerThanAllowed) {
    const PeakSearch search = on_machine(1e10, 1000, 1);
    EXPECT_FALSE(search.settled());  // 1728³ would be within a second only at the peak itself
    for (const ProductRate& one : search.tried) EXPECT_LE(product_flops(one.order) / one.rate, 1) << one.order;
    EXPECT_EQ(search.tried.size(), 3U);
    EXPECT_EQ(find_peak([](Index) { return 1.0; }, 0).tried.size(), 1U);
}

}  // namespace
}  // namespace tesela::bench::peak_test
