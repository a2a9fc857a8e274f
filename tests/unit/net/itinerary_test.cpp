#include "tesela/net/itinerary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

namespace tesela::net::itinerary_test {
namespace {

Arrival at(std::uint64_t topic, std::uint64_t round = 0) { return {.topic = topic, .round = round}; }

/// Arrives and must have done nothing wrong.
Arrival arrive(Itinerary& node, Arrival arrival, const std::string& described) {
    EXPECT_FALSE(node.arrive(arrival, described));
    return arrival;
}

/// What two nodes do at the same time: "1: waits for stream B; here: goes on".
std::string said(const std::optional<Elsewhere>& other) {
    return other ? fmt::format("{}: {}; here: {}", other->node, other->there, other->here) : "";
}

TEST(Itinerary, IsRightWhereAllDoTheSame) {
    Itinerary here, there;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (int k = 0; k < 5; ++k) EXPECT_FALSE(there.step());
        const Arrival arrival = arrive(there, at(1, round), "waits for stream A");
        EXPECT_FALSE(here.heard(1, arrival, "waits for stream A"));
        for (int k = 0; k < 5; ++k) EXPECT_FALSE(here.step());
        EXPECT_EQ(arrive(here, at(1, round), "waits for stream A").count, arrival.count);
        here.leave();
        there.leave();
    }
}

TEST(Itinerary, NoticesNodesThatWaitForDifferentStreams) {
    Itinerary here, there;
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    (void)arrive(here, at(1), "waits for stream A");
    EXPECT_EQ(said(here.heard(1, arrival, "waits for stream B")), "1: waits for stream B; here: waits for stream A");
    EXPECT_EQ(here.here(), "waits for stream A");
}

TEST(Itinerary, NoticesTheSameWhenItHearsOfTheOtherFirst) {
    Itinerary here, there;
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_FALSE(here.heard(1, arrival, "waits for stream B"));
    Arrival mine = at(1);
    EXPECT_EQ(said(here.arrive(mine, "waits for stream A")), "1: waits for stream B; here: waits for stream A");
}

TEST(Itinerary, NoticesANodeThatGoesFurtherInAnotherStream) {
    Itinerary here, there;
    EXPECT_FALSE(there.step());
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_FALSE(here.heard(1, arrival, "waits for stream B"));
    EXPECT_FALSE(here.step());
    EXPECT_EQ(said(here.step()), "1: waits for stream B; here: goes on");

    Itinerary ahead;
    for (int k = 0; k < 2; ++k) EXPECT_FALSE(ahead.step());
    EXPECT_EQ(said(ahead.heard(1, arrival, "waits for stream B")), "1: waits for stream B; here: does something else");
}

TEST(Itinerary, ComparesNothingWhereSeveralThreadsWork) {
    Itinerary here, there;
    EXPECT_FALSE(here.step());
    std::thread([&] { EXPECT_FALSE(here.step()); }).join();
    const Arrival arrival = arrive(there, at(2), "waits for stream B");
    EXPECT_FALSE(here.heard(1, arrival, "waits for stream B"));
    EXPECT_EQ(arrive(here, at(1), "waits for stream A").count, 0U);
}

}  // namespace
}  // namespace tesela::net::itinerary_test
