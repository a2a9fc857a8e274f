#include "sim_process.hpp"
#include "support.hpp"
#include "support/seed.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tesela {
namespace {

using namespace testing;

/// Sends messages, each at its time, and notes when they are there.
class Mailbox final : public TimelineHandler {
public:
    struct Letter {
        SimulatedMessage message;
        double time = 0;
    };
    Mailbox(Timeline& timeline, std::vector<Letter> letters)
        : timeline_(timeline),
          letters_(std::move(letters)),
          arrivals(letters_.size()) {
        for (std::uint64_t k = 0; k < letters_.size(); ++k)
            if (k == 0 || letters_[k].time != letters_[k - 1].time) timeline_.set_timer(letters_[k].time, k);
    }
    /// Sends those that follow each other at the same time too: timers have no order then.
    void timer(std::uint64_t what) override {
        for (std::uint64_t k = what; k < letters_.size() && letters_[k].time == letters_[what].time; ++k)
            timeline_.send(letters_[k].message);
    }
    void message_arrived(std::uint32_t id, const MessageTimes& times) override {
        arrivals.at(id) = times.arrival;
        EXPECT_NEAR(times.start, letters_[id].time, 1e-9);
        EXPECT_NEAR(times.arrival, timeline_.now(), 1e-9);
        EXPECT_LE(times.sent, times.arrival);
    }
    void settle() override {}

private:
    Timeline& timeline_;
    std::vector<Letter> letters_;

public:
    std::vector<double> arrivals;
};

using Letters = std::vector<Mailbox::Letter>;

std::vector<double> arrivals(const NetworkModel& model, const Platform& platform, const Letters& letters) {
    const auto timeline = model(platform);
    Mailbox mailbox(*timeline, letters);
    timeline->run(mailbox);
    return mailbox.arrivals;
}

std::vector<double> simgrid_arrivals(const Platform& platform, const Letters& letters) {
    return in_child([&] {
        auto times = arrivals(simgrid_network, platform, letters);
        if (::testing::Test::HasFailure()) times.clear();  // nobody else would hear of it
        return times;
    });
}

constexpr double bytes = 1e7;
constexpr double slow = 1e9;    // bytes/s of an interface of the first kind
constexpr double fast = 2.5e9;  // of the second
constexpr double latency = 1e-5;

/// Four nodes of the first kind, four of the second, an uplink of 2 slow interfaces between them.
Platform two_subnets() {
    Platform platform = platform_of({cores("slow", 4, 1, {slow, latency}), cores("fast", 4, 1, {fast, latency})});
    platform.subnets = {{"a", {2 * slow, latency}, ""}, {"b", {100 * slow, latency}, ""}};
    put_into_subnets(platform, {"a", "b"});
    return platform;
}

Letters at_once(const std::vector<SimulatedMessage>& messages) {
    Letters letters;
    for (const SimulatedMessage& message : messages) letters.push_back({message});
    return letters;
}

struct Contention {
    const char* name;
    std::vector<SimulatedMessage> messages;  ///< all at time 0
    std::vector<double> arrivals;  ///< by hand, in times that one takes alone between slow nodes; without latencies
    int links = 2;                 ///< that each of them passes
};

std::vector<Contention> contentions() {
    return {
        {"one message", {{0, 0, 1, bytes}}, {1}},
        {"to a faster node", {{0, 0, 4, bytes}}, {1}, 4},
        {"there and back do not meet", {{0, 0, 1, bytes}, {1, 1, 0, bytes}}, {1, 1}},
        {"incast: three to one", {{0, 1, 0, bytes}, {1, 2, 0, bytes}, {2, 3, 0, bytes}}, {3, 3, 3}},
        {"one to three", {{0, 0, 1, bytes}, {1, 0, 2, bytes}, {2, 0, 3, bytes}}, {3, 3, 3}},
        {"four through an uplink for two",
         {{0, 0, 4, bytes}, {1, 1, 5, bytes}, {2, 2, 6, bytes}, {3, 3, 7, bytes}},
         {2, 2, 2, 2},
         4},
        {"one after the other on a connection", {{0, 0, 1, bytes}, {1, 0, 1, bytes}, {2, 0, 1, 0}}, {1, 2, 2}},
        {"a connection with four messages has no more than one with one",
         {{0, 0, 1, bytes}, {1, 0, 1, bytes}, {2, 0, 1, bytes}, {3, 0, 1, bytes}, {4, 0, 2, bytes}},
         {2, 3, 4, 5, 2}},
        {"whoever is left alone goes faster", {{0, 0, 1, bytes / 2}, {1, 0, 2, bytes}}, {1, 1.5}},
        // 0 > 1 shares with 2 > 1 and 2 > 1 with 2 > 3: half each, though 0 and 3 could do more.
        {"a chain", {{0, 0, 1, bytes}, {1, 2, 1, bytes}, {2, 2, 3, bytes}}, {2, 2, 2}},
        // 2 > 1 has a third of what leaves 2, and leaves two thirds of what node 1 takes to 0 > 1.
        {"what one cannot use is for others",
         {{0, 0, 1, bytes}, {1, 2, 1, bytes}, {2, 2, 3, bytes}, {3, 2, 0, bytes}},
         {1.5, 3, 3, 3}},
    };
}

TEST(Ports, AgreeWithHandCalculation) {
    for (const Contention& c : contentions()) {
        const auto times = arrivals(ports_network, two_subnets(), at_once(c.messages));
        ASSERT_EQ(times.size(), c.arrivals.size()) << c.name;
        for (std::size_t k = 0; k < times.size(); ++k)
            EXPECT_NEAR(times[k], c.arrivals[k] * bytes / slow + (c.links - 1) * latency, 1e-12) << c.name << ", " << k;
    }
}

TEST(SimGrid, AgreesWithHandCalculation) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    for (const Contention& c : contentions()) {
        const auto times = simgrid_arrivals(two_subnets(), at_once(c.messages));
        ASSERT_EQ(times.size(), c.arrivals.size()) << c.name;
        for (std::size_t k = 0; k < times.size(); ++k)  // its clock is good for 1e-9 s an event
            EXPECT_NEAR(times[k], c.arrivals[k] * bytes / slow + (c.links - 1) * latency, 1e-8) << c.name << ", " << k;
    }
}

/// Between any nodes of both kinds, at any time within a few messages.
Letters any_letters(std::uint64_t seed, std::uint32_t count) {
    const Random random(seed);
    const auto below = [&](std::uint64_t what, std::uint32_t k, double limit) {
        return random.uniform({what, k}) * limit;
    };
    Letters letters;
    for (std::uint32_t k = 0; k < count; ++k) {
        const auto from = static_cast<std::int32_t>(below(0, k, 8));
        const auto to = (from + 1 + static_cast<std::int32_t>(below(1, k, 7))) % 8;
        letters.push_back({{k, from, to, std::floor(below(2, k, 2 * bytes))}, below(3, k, count * bytes / slow / 10)});
    }
    return letters;
}

TEST(Networks, AgreeOnEveryArrivalOfAnyMessages) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    for (std::uint64_t seed = testing::seed(); seed < testing::seed() + 20; ++seed) {
        const Letters letters = any_letters(seed, 100);
        const auto ports = arrivals(ports_network, two_subnets(), letters);
        const auto simgrid = simgrid_arrivals(two_subnets(), letters);
        ASSERT_EQ(simgrid.size(), letters.size());
        for (std::size_t k = 0; k < letters.size(); ++k)
            EXPECT_NEAR(ports[k], simgrid[k], 1e-6 * std::ranges::max(ports)) << "seed " << seed << ", message " << k;
    }
}

TEST(SimGrid, RefusesASecondSimulationInOneProcess) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    const auto refused = in_child([&] {
        const auto first = simgrid_network(two_subnets());
        try {
            (void)simgrid_network(two_subnets());
        } catch (const Error&) {
            return std::vector<double>{1};
        }
        return std::vector<double>{0};
    });
    EXPECT_EQ(refused, std::vector<double>{1});
}

TEST(Ports, SendNothingFasterThanItsLinksAndKeepTheBusiestBusy) {
    // Eight nodes whose messages all go to one: the last byte comes when its interface has taken all of them.
    Letters letters = any_letters(1, 60);
    double sum = 0;
    for (Mailbox::Letter& letter : letters) {
        letter.time = 0;
        letter.message.to = 0;
        if (letter.message.from == 0) letter.message.from = 1;
        sum += letter.message.bytes;
    }
    const Platform flat = platform_of({cores("node", 8, 1, {slow, latency})});
    EXPECT_NEAR(std::ranges::max(arrivals(ports_network, flat, letters)), sum / slow + latency, 1e-9);
}

TEST(Ports, NestedSubnetsMeetAtTheLowestCommonSwitch) {
    Platform platform =
        platform_of({cores("a", 2, 1, {slow, 0}), cores("b", 1, 1, {slow, 0}), cores("c", 1, 1, {slow, 0})});
    platform.subnets = {{"rack1", {slow, 1e-3}, "row"},
                        {"rack2", {slow, 1e-3}, "row"},
                        {"row", {slow, 1e-2}, ""},
                        {"other", {slow, 1e-1}, ""}};
    put_into_subnets(platform, {"rack1", "rack2", "other"});
    const auto time = [&](std::int32_t from, std::int32_t to) {
        return arrivals(ports_network, platform, {{{0, from, to, bytes}}})[0] - bytes / slow;
    };
    EXPECT_NEAR(time(0, 1), 0, 1e-12);
    EXPECT_NEAR(time(0, 2), 2e-3, 1e-12);
    EXPECT_NEAR(time(0, 3), 1e-3 + 1e-2 + 1e-1, 1e-12);
    EXPECT_NEAR(time(3, 0), 1e-3 + 1e-2 + 1e-1, 1e-12);
}

}  // namespace
}  // namespace tesela
