#include "tesela/net/itinerary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tesela::net {
namespace {

using ::testing::HasSubstr;

Arrival at(std::uint64_t topic, std::uint64_t round = 0) { return {.topic = topic, .round = round}; }

/// Arrives and must have done nothing wrong.
Arrival arrive(Itinerary& node, Arrival arrival, const std::string& described) {
    EXPECT_EQ(node.arrive(arrival, described), std::nullopt);
    return arrival;
}

TEST(Itinerary, IsRightWhereAllDoTheSame) {
    Itinerary here, there;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (int k = 0; k < 5; ++k) EXPECT_EQ(there.step(), std::nullopt);
        const Arrival arrival = arrive(there, at(1, round), "waits for stream A");
        EXPECT_EQ(here.heard(1, arrival, "waits for stream A"), std::nullopt);
        for (int k = 0; k < 5; ++k) EXPECT_EQ(here.step(), std::nullopt);
        EXPECT_EQ(arrive(here, at(1, round), "waits for stream A").count, arrival.count);
        here.leave();
        there.leave();
    }
}

TEST(Itinerary, NoticesNodesThatWaitForDifferentStreams) {
    Itinerary here, there;
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    (void)arrive(here, at(1), "waits for stream A");
    EXPECT_THAT(here.heard(1, arrival, "waits for stream B").value_or(""),
                HasSubstr("node 1 waits for stream B, where this node waits for stream A"));
}

TEST(Itinerary, NoticesTheSameWhenItHearsOfTheOtherFirst) {
    Itinerary here, there;
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_EQ(here.heard(1, arrival, "waits for stream B"), std::nullopt);
    Arrival mine = at(1);
    EXPECT_THAT(here.arrive(mine, "waits for stream A").value_or(""),
                HasSubstr("node 1 waits for stream B, where this node waits for stream A"));
}

TEST(Itinerary, NoticesANodeThatGoesFurtherInAnotherStream) {
    Itinerary here, there;
    EXPECT_EQ(there.step(), std::nullopt);
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_EQ(here.heard(1, arrival, "waits for stream B"), std::nullopt);
    EXPECT_EQ(here.step(), std::nullopt);
    EXPECT_THAT(here.step().value_or(""), HasSubstr("node 1 waits for stream B, where this node goes on"));

    Itinerary ahead;
    for (int k = 0; k < 2; ++k) EXPECT_EQ(ahead.step(), std::nullopt);
    EXPECT_THAT(ahead.heard(1, arrival, "waits for stream B").value_or(""), HasSubstr("does something else"));
}

TEST(Itinerary, ComparesNothingWhereSeveralThreadsWork) {
    Itinerary here, there;
    EXPECT_EQ(here.step(), std::nullopt);
    std::thread([&] { EXPECT_EQ(here.step(), std::nullopt); }).join();
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_EQ(here.heard(1, arrival, "waits for stream B"), std::nullopt);
    EXPECT_EQ(arrive(here, at(1), "waits for stream A").count, 0U);
}

}  // namespace
}  // namespace tesela::net
