#include "sim_process.hpp"
#include "support.hpp"
#include "tesela/base/error.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tesela::network_test {
namespace {

using namespace testing;

/// Sends messages at time 0 and notes when they are there.
class Mailbox final : public TimelineHandler {
public:
    void timer(std::uint64_t) override { on_timer(); }
    void message_started(std::uint32_t) override {}
    void message_arrived(std::uint32_t id, const MessageTimes& times) override {
        if (arrivals.size() <= id) arrivals.resize(id + 1);
        arrivals[id] = times.arrival;
    }
    void settle() override {}
    std::vector<double> arrivals;
    std::function<void()> on_timer;
};

std::vector<double> arrivals(const NetworkModel& model, const Platform& platform,
                             const std::vector<SimulatedMessage>& messages) {
    Mailbox mailbox;
    const auto timeline = model(platform);
    for (const SimulatedMessage& message : messages) timeline->send(message);
    timeline->run(mailbox);
    return mailbox.arrivals;
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

struct Contention {
    const char* name;
    std::vector<SimulatedMessage> messages;
    double last;  ///< arrival of the last message, by hand
};

/// In each case both models must bring the last message at the same time: links are busy without a gap.
std::vector<Contention> contentions() {
    return {
        {"one message", {{0, 0, 1, 0, bytes}}, bytes / slow + latency},
        {"to a faster node", {{0, 0, 4, 0, bytes}}, bytes / slow + 3 * latency},
        {"there and back do not meet", {{0, 0, 1, 0, bytes}, {1, 1, 0, 0, bytes}}, bytes / slow + latency},
        {"incast: three to one",
         {{0, 1, 0, 0, bytes}, {1, 2, 0, 0, bytes}, {2, 3, 0, 0, bytes}},
         3 * bytes / slow + latency},
        {"one to three", {{0, 0, 1, 0, bytes}, {1, 0, 2, 0, bytes}, {2, 0, 3, 0, bytes}}, 3 * bytes / slow + latency},
        {"four through an uplink for two",
         {{0, 0, 4, 0, bytes}, {1, 1, 5, 0, bytes}, {2, 2, 6, 0, bytes}, {3, 3, 7, 0, bytes}},
         2 * bytes / slow + 3 * latency},
    };
}

TEST(Ports, AgreeWithHandCalculation) {
    for (const Contention& c : contentions()) {
        const auto times = arrivals(ports_network, two_subnets(), c.messages);
        EXPECT_NEAR(std::ranges::max(times), c.last, 1e-12) << c.name;
    }
}

TEST(SimGrid, AgreesWithHandCalculation) {
    if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
    for (const Contention& c : contentions()) {
        const auto times = in_child([&] { return arrivals(simgrid_network, two_subnets(), c.messages); });
        ASSERT_EQ(times.size(), c.messages.size()) << c.name;
        // Messages that follow each other at one interface each wait for their latency there.
        EXPECT_NEAR(std::ranges::max(times), c.last, 8 * latency) << c.name;
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

TEST(Ports, FillAFasterInterfaceAndGoFasterWhenThereIsRoom) {
    // 2.5 slow targets fit: rates 1, 1 and 0.5; the third sends its second half at full rate when the others have left.
    const auto times =
        arrivals(ports_network, two_subnets(), {{0, 4, 0, 2, bytes}, {1, 5, 0, 1, bytes}, {2, 5, 1, 0, bytes}});
    EXPECT_NEAR(times[0], bytes / slow + 3 * latency, 1e-12);
    EXPECT_NEAR(times[1], 2 * bytes / slow + 3 * latency, 1e-12);
    EXPECT_NEAR(times[2], bytes / slow + 3 * latency, 1e-12);
    const Platform flat = platform_of({cores("slow", 3, 1, {slow, 0}), cores("fast", 1, 1, {fast, 0})});
    const auto filled = arrivals(ports_network, flat, {{0, 3, 0, 2, bytes}, {1, 3, 1, 1, bytes}, {2, 3, 2, 0, bytes}});
    EXPECT_NEAR(filled[0], bytes / slow, 1e-12);
    EXPECT_NEAR(filled[1], bytes / slow, 1e-12);
    EXPECT_NEAR(filled[2], 1.5 * bytes / slow, 1e-12);
}

TEST(Ports, SendTheMostUrgentFirst) {
    const Platform platform = platform_of({cores("node", 4, 1, {slow, 0})});
    const auto times =
        arrivals(ports_network, platform, {{0, 0, 1, 1, bytes}, {1, 0, 2, 3, bytes}, {2, 0, 3, 2, bytes}});
    EXPECT_LT(times[1], times[2]);
    EXPECT_LT(times[2], times[0]);
}

TEST(Ports, DoNotLetLessUrgentMessagesOvertakeAWideOneForEver) {
    // A fast node sends to slow ones all the time; an urgent message to a fast one, which needs more, comes later.
    const Platform platform = platform_of({cores("slow", 3, 1, {slow, 0}), cores("fast", 2, 1, {fast, 0})});
    const auto timeline = ports_network(platform);
    Mailbox mailbox;
    mailbox.on_timer = [&] { timeline->send({30, 3, 4, 1, bytes}); };
    for (std::uint32_t k = 0; k < 30; ++k)
        timeline->send({k, 3, static_cast<std::int32_t>(k % 3), 0, bytes * (1 + 0.1 * (k % 7))});
    timeline->set_timer(0.5 * bytes / slow, 0);
    timeline->run(mailbox);
    EXPECT_GT(std::ranges::max(mailbox.arrivals), 12 * bytes / slow);
    EXPECT_LT(mailbox.arrivals[30], 4 * bytes / slow);
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
        return arrivals(ports_network, platform, {{0, from, to, 0, bytes}})[0] - bytes / slow;
    };
    EXPECT_NEAR(time(0, 1), 0, 1e-12);
    EXPECT_NEAR(time(0, 2), 2e-3, 1e-12);
    EXPECT_NEAR(time(0, 3), 1e-3 + 1e-2 + 1e-1, 1e-12);
    EXPECT_NEAR(time(3, 0), 1e-3 + 1e-2 + 1e-1, 1e-12);
}

}  // namespace
}  // namespace tesela::network_test
