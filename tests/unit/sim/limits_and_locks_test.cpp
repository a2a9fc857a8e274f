#include "parts.hpp"
#include "tesela/sim/internal/commuting_locks.hpp"
#include "tesela/sim/internal/limited_resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::sim::limits_and_locks_test {
namespace {

using ::testing::ElementsAre;
using testing::HandMade;
using ::testing::IsEmpty;

TEST(LimitedResources, GoToTheMostUrgentThatWaitsThenToTheEarliest) {
    LimitedResources resources;
    resources.add(2);
    EXPECT_TRUE(resources.take(1, {.vertex = 0}));
    EXPECT_TRUE(resources.take(1, {.vertex = 1}));
    EXPECT_FALSE(resources.take(1, {.priority = 1, .vertex = 3}));
    EXPECT_FALSE(resources.take(1, {.priority = 1, .vertex = 2}));
    EXPECT_FALSE(resources.take(1, {.priority = 7, .vertex = 4}));
    EXPECT_EQ(resources.give_back(1), 4U);
    EXPECT_EQ(resources.give_back(1), 2U);
    EXPECT_EQ(resources.give_back(1), 3U);
    EXPECT_EQ(resources.give_back(1), std::nullopt);
    EXPECT_TRUE(resources.take(1, {.vertex = 5}));
}

TEST(LimitedResources, AreCountedEachByItselfAndNoneIsNeverShort) {
    LimitedResources resources;
    resources.add(1);
    resources.add(1);
    EXPECT_EQ(resources.known(), 2U);
    EXPECT_TRUE(resources.take(1, {}));
    EXPECT_TRUE(resources.take(2, {}));
    for (int k = 0; k < 10; ++k) EXPECT_TRUE(resources.take(0, {}));
    EXPECT_EQ(resources.give_back(0), std::nullopt);
}

/// A task that commutes on some copies.
std::uint32_t commuting(HandMade& made, const std::vector<std::uint32_t>& copies, std::int32_t priority = 0) {
    std::vector<Use> uses;
    for (const std::uint32_t copy : copies) uses.push_back({copy, AccessMode::commute});
    return made.add({.priority = priority}, uses);
}

TEST(CommutingLocks, LetOneTaskAtATimeTouchATile) {
    HandMade made(1);
    const std::uint32_t tile = made.copy();
    const std::uint32_t first = commuting(made, {tile});
    const std::uint32_t second = commuting(made, {tile});
    const std::uint32_t urgent = commuting(made, {tile}, 3);
    const std::uint32_t reader = made.add({}, {{made.copy(), AccessMode::read}});
    CommutingLocks locks(made.copies);
    locks.begin(made.section);
    EXPECT_TRUE(locks.take(first));
    EXPECT_FALSE(locks.take(second));
    EXPECT_FALSE(locks.take(urgent));
    EXPECT_TRUE(locks.take(reader));  // needs none
    EXPECT_THAT(locks.give_back(reader), IsEmpty());
    EXPECT_THAT(locks.give_back(first), ElementsAre(urgent));
    EXPECT_THAT(locks.give_back(urgent), ElementsAre(second));
    EXPECT_THAT(locks.give_back(second), IsEmpty());
    EXPECT_TRUE(locks.take(first));
}

TEST(CommutingLocks, TakeAllThatATaskNeedsOrNone) {
    HandMade made(1);
    const std::uint32_t a = made.copy();
    const std::uint32_t b = made.copy();
    const std::uint32_t has_b = commuting(made, {b});
    const std::uint32_t both = commuting(made, {a, b});
    const std::uint32_t only_a = commuting(made, {a});
    CommutingLocks locks(made.copies);
    locks.begin(made.section);
    EXPECT_TRUE(locks.take(has_b));
    EXPECT_FALSE(locks.take(both));
    EXPECT_TRUE(locks.take(only_a));                 // `both` does not keep a while it waits for b
    EXPECT_THAT(locks.give_back(has_b), IsEmpty());  // now `both` waits for a
    EXPECT_THAT(locks.give_back(only_a), ElementsAre(both));
}

TEST(CommutingLocks, ServeAllThatOneTaskKeptWaiting) {
    HandMade made(1);
    const std::uint32_t a = made.copy();
    const std::uint32_t b = made.copy();
    const std::uint32_t both = commuting(made, {a, b});
    const std::uint32_t only_b = commuting(made, {b}, 9);
    const std::uint32_t only_a = commuting(made, {a});
    CommutingLocks locks(made.copies);
    locks.begin(made.section);
    EXPECT_TRUE(locks.take(both));
    EXPECT_FALSE(locks.take(only_b));
    EXPECT_FALSE(locks.take(only_a));
    EXPECT_THAT(locks.give_back(both), ElementsAre(only_a, only_b));  // in the order of the tiles
}

}  // namespace
}  // namespace tesela::sim::limits_and_locks_test
