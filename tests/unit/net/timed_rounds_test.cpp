#include "tesela/net/internal/timed_rounds.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tesela::net::timed_rounds_test {
namespace {

constexpr double budget = 0.05;
bool as_proposed(bool on) { return on; }

TEST(TimedRounds, AreAsManyAsFitIntoTheTime) {
    const auto quick = timed_rounds(
        budget, [] { return 1e-6; }, as_proposed);
    EXPECT_EQ(quick.size(), static_cast<std::size_t>(most_rounds));
    const auto slow = timed_rounds(
        budget, [] { return 1e-3; }, as_proposed);
    EXPECT_GE(slow.size(), 50U);
    EXPECT_LT(slow.size(), 50U + fewest_rounds);
    EXPECT_EQ(timed_rounds(
                  budget, [] { return 1.0; }, as_proposed)
                  .size(),
              static_cast<std::size_t>(fewest_rounds));
}

TEST(TimedRounds, EndSoonWhereTheyBecomeSlowAfterTheFirst) {
    // Two processes share a busy core: from then on each waits for the other's turn.
    int played = 0;
    const auto times = timed_rounds(
        budget, [&] { return ++played <= 2 * fewest_rounds ? 1e-6 : 0.04; }, as_proposed);
    EXPECT_EQ(times.size(), static_cast<std::size_t>(2 * fewest_rounds));
    EXPECT_LT(std::accumulate(times.begin(), times.end(), 0.0), budget + fewest_rounds * 0.04);
}

TEST(TimedRounds, EndWhenTheOtherNodeSaysSo) {
    int asked = 0;
    const auto times = timed_rounds(
        budget, [] { return 1e-6; }, [&](bool) { return ++asked < 3; });
    EXPECT_EQ(times.size(), static_cast<std::size_t>(3 * fewest_rounds));
}

}  // namespace
}  // namespace tesela::net::timed_rounds_test
