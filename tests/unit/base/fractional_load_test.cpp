#include "support/brute_force_lp.hpp"

#include "tesela/base/random.hpp"

#include <gtest/gtest.h>

namespace tesela::fractional_load_test {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

TEST(FractionalLoad, OfOneKindIsWorkDividedByMachines) {
    EXPECT_DOUBLE_EQ(least_seconds({{3, 1}, {{30}, {10}}, {2}}), 50);
    EXPECT_EQ(least_seconds({{}, {}, {2}}), 0);
}

TEST(FractionalLoad, OfTwoKindsIsTheBestDivision) {
    // gemm: 100 on the core, 10 on the GPU; potrf: 40 and 20; io: 30 on the core only. By a fine search over the
    // shares.
    double best = never;
    for (int g = 0; g <= 1000; ++g)
        for (int p = 0; p <= 1000; ++p) {
            const double gemm = 3 * g * 1e-3;
            const double potrf = 2 * p * 1e-3;
            best = std::min(best, std::max(30 + 100 * gemm + 40 * potrf, 10 * (3 - gemm) + 20 * (2 - potrf)));
        }
    EXPECT_NEAR(least_seconds({{3, 2, 1}, {{100, 10}, {40, 20}, {30, never}}, {1, 1}}), best, 0.02);
}

TEST(FractionalLoad, WithoutMachinesForItNeverEnds) {
    EXPECT_EQ(least_seconds({{1}, {{never, 2}}, {3, 0}}), never);
    EXPECT_EQ(least_seconds({{1}, {{never, 2}}, {3, 1}}), 2);
    EXPECT_EQ(least_seconds({{1}, {{1}}, {0}}), never);
}

TEST(FractionalLoad, IsTheOptimumOfItsLinearProgram) {
    const Random random(20261116);
    for (std::uint64_t draw = 0; draw < 300; ++draw) {
        const std::size_t kinds = 1 + random.below(3, {draw, 0});
        const std::size_t works = 1 + random.below(3, {draw, 1});
        FractionalLoad load;
        for (std::size_t g = 0; g < kinds; ++g)
            load.machines.push_back(1 + static_cast<double>(random.below(9, {draw, 10 + g})));
        for (std::size_t w = 0; w < works; ++w) {
            load.amounts.push_back(1 + static_cast<double>(random.below(50, {draw, 20 + w})));
            load.seconds.emplace_back();
            for (std::size_t g = 0; g < kinds; ++g) {
                const bool can = g == w % kinds || random.below(5, {draw, 100 + 10 * w + g}) > 0;
                load.seconds.back().push_back(can ? 0.1 + random.uniform({draw, 200 + 10 * w + g}) : never);
            }
        }
        const double optimum = testing::by_brute_force(load);
        EXPECT_NEAR(least_seconds(load), optimum, 1e-9 * optimum) << "draw " << draw;
    }
}

}  // namespace
}  // namespace tesela::fractional_load_test
