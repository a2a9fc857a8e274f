#include "tesela/base/error.hpp"
#include "tesela/base/index.hpp"
#include "tesela/base/median.hpp"
#include "tesela/base/random.hpp"
#include "tesela/base/units.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

namespace tesela::base_test {
namespace {

TEST(Median, IsTheMiddleOneOrTheMeanOfTheTwoInTheMiddle) {
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 4}), 4);
    EXPECT_EQ(median({9, 1, 4, 7}), 5.5);
    EXPECT_EQ(median({2, 8}), 5);
}

TEST(Index, TileAndElementIndicesAreDifferentTypes) {
    static_assert(!std::is_convertible_v<TileIndex, ElementIndex>);
    static_assert(!std::is_convertible_v<Index, NodeId>);
    EXPECT_EQ(ceil_div(10, 3), 4);
    EXPECT_EQ(ceil_div(9, 3), 3);
}

TEST(Units, OfBytesAreRead) {
    EXPECT_EQ(parse_bytes("2GB"), 2e9);
    EXPECT_EQ(parse_bytes("1.5 MiB"), 1.5 * 1024 * 1024);
    EXPECT_EQ(parse_bytes("4096"), 4096);
    EXPECT_EQ(parse_bytes("0"), 0);
    for (const char* text : {"", "GB", "2gb", "-1", "1e400", "2 G B", "nan"})
        EXPECT_THROW((void)parse_bytes(text), Error) << text;
}

TEST(Units, AreReadable) {
    EXPECT_EQ(format_bytes(512), "512 B");
    EXPECT_EQ(format_bytes(1536), "1.50 KiB");
    EXPECT_EQ(format_bytes(3.0 * 1024 * 1024 * 1024), "3.00 GiB");
    EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
    EXPECT_EQ(format_seconds(2.5), "2.50 s");
    EXPECT_EQ(format_seconds(600), "10.0 min");
    EXPECT_EQ(format_flops(58.1e9), "58.1 GFLOP/s");
}

TEST(Error, TellsWhatWasWrong) {
    const Error error("tile {} of {}", 3, "A");
    EXPECT_STREQ(error.what(), "tile 3 of A");
}

// Known answers of Philox 4x32-10 from Random123's own test vectors (kat_vectors), counter and key zero.
TEST(Random, EqualsPhilox) { EXPECT_EQ(Random(0).bits({0, 0}), 0xe169'c58d'6627'e8d5ULL); }

TEST(Random, DoesNotDependOnTheOrderOfDraws) {
    const Random random(42);
    std::vector<double> forward;
    std::vector<double> backward(100);
    for (std::uint64_t i = 0; i < 100; ++i) forward.push_back(random.uniform({i, 3}));
    for (std::uint64_t i = 100; i-- > 0;) backward[i] = random.uniform({i, 3});
    EXPECT_EQ(forward, backward);
    EXPECT_NE(Random(43).uniform({0, 3}), forward[0]);
    EXPECT_NE(random.uniform({0, 4}), forward[0]);
}

TEST(Random, NormalHasMomentsOfAStandardNormal) {
    const Random random(7);
    constexpr int n = 200000;
    std::array<double, 4> moments{};
    for (std::uint64_t i = 0; i < n; ++i) {
        const double z = random.normal({i, 0});
        moments[0] += z;
        moments[1] += z * z;
        moments[2] += z * z * z;
        moments[3] += z * z * z * z;
    }
    // Five standard errors: Var(z^p) = E z^2p - (E z^p)^2.
    const double root_n = std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(moments[0] / n, 0, 5 * 1 / root_n);
    EXPECT_NEAR(moments[1] / n, 1, 5 * std::sqrt(2.0) / root_n);
    EXPECT_NEAR(moments[2] / n, 0, 5 * std::sqrt(15.0) / root_n);
    EXPECT_NEAR(moments[3] / n, 3, 5 * std::sqrt(96.0) / root_n);
}

TEST(Random, BelowStaysBelowAndIsEven) {
    const Random random(1);
    std::array<int, 6> counts{};
    constexpr int n = 60000;
    for (std::uint64_t i = 0; i < n; ++i) ++counts.at(random.below(6, {i, 0}));
    for (const int count : counts) EXPECT_NEAR(count, n / 6, 5 * std::sqrt(n * (1.0 / 6) * (5.0 / 6)));
    EXPECT_EQ(random.below(1, {5, 5}), 0U);
}

}  // namespace
}  // namespace tesela::base_test
