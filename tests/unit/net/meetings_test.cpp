#include "tesela/net/meetings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tesela::net::meetings_test {
namespace {

using ::testing::HasSubstr;

std::string describe(const Arrival& arrival) { return fmt::format("does {} in {}", arrival.kind, arrival.text); }

/// Whether what a node says to itself is heard at once, as the transport has it, or later.
enum class Soliloquy : std::uint8_t { at_once, queued };

/// Meetings of several nodes, with queues between them in place of a network: in order between two nodes, in any order
/// otherwise.
class Network {
public:
    struct Heard {
        int node = 0;
        Arrival arrival;
    };

    Network(int nodes, Soliloquy soliloquy) : queues(static_cast<std::size_t>(nodes * nodes)), first(count(nodes)) {
        for (int me = 0; me < nodes; ++me)
            meetings.push_back(std::make_unique<Meetings>(
                nodes, Meetings::Hooks{.send =
                                           [=, this](int to, const Notice& notice) {
                                               if (to == me && soliloquy == Soliloquy::at_once)
                                                   meetings[count(me)]->hear(me, notice);
                                               else
                                                   queues[count(me * nodes + to)].push_back(notice);
                                           },
                                       .arrived =
                                           [=, this](int node, const Arrival& arrival) {
                                               first[count(me)].push_back({node, arrival});
                                           },
                                       .diverged = [this](const Case& what) { diverged.push_back(what.why); },
                                       .describe = describe}));
    }

    /// Delivers one notice, between two nodes that `choice` decides on; false if there is none.
    bool deliver(std::size_t choice = 0) {
        std::vector<std::size_t> waiting;
        for (std::size_t q = 0; q < queues.size(); ++q)
            if (!queues[q].empty()) waiting.push_back(q);
        if (waiting.empty()) return false;
        const std::size_t q = waiting[choice % waiting.size()];
        const Notice notice = queues[q].front();
        queues[q].pop_front();
        meetings[q % meetings.size()]->hear(static_cast<int>(q / meetings.size()), notice);
        return true;
    }

    static std::size_t count(int number) { return static_cast<std::size_t>(number); }

    std::vector<std::unique_ptr<Meetings>> meetings;
    std::vector<std::deque<Notice>> queues;
    std::vector<std::vector<Heard>> first;  // by the node that was told
    std::vector<std::string> diverged;
};

/// One node's way through the rounds of one topic: arrive, bring, wait for the outcome, go on.
struct Walker {
    int node = 0;
    std::uint64_t topic = 0;
    std::uint64_t rounds = 0;
    std::vector<std::int64_t> values;  // by round
    std::vector<std::int64_t> outcomes{};
    enum class At : std::uint8_t { before, arrived, brought } at = At::before;

    [[nodiscard]] bool done() const { return outcomes.size() == rounds; }
    [[nodiscard]] Arrival arrival() const {
        const std::uint64_t round = outcomes.size();
        return {.topic = topic, .round = round, .kind = 3, .position = 10 * round + topic, .text = "fit"};
    }
    /// False if it has to wait.
    bool advance(Meetings& meetings) {
        if (done()) return false;
        if (at == At::before) {
            meetings.arrive(arrival());
            at = At::arrived;
        } else if (at == At::arrived) {
            meetings.bring(arrival(), values[outcomes.size()]);
            at = At::brought;
        } else {
            const auto outcome = meetings.outcome(arrival());
            if (!outcome) return false;
            outcomes.push_back(*outcome);
            at = At::before;
        }
        return true;
    }
};

std::vector<Walker> any_walkers(int nodes) {
    std::vector<Walker> walkers;
    const auto topics = *rc::gen::inRange<std::uint64_t>(1, 4);
    const auto rounds = *rc::gen::inRange<std::uint64_t>(1, 5);
    for (int node = 0; node < nodes; ++node)
        for (std::uint64_t topic = 0; topic < topics; ++topic) {
            Walker walker{.node = node, .topic = topic, .rounds = rounds};
            for (std::uint64_t round = 0; round < rounds; ++round)
                walker.values.push_back(*rc::gen::arbitrary<std::int64_t>());
            walkers.push_back(walker);
        }
    return walkers;
}

std::size_t any_choice() { return *rc::gen::inRange<std::size_t>(0, 1000); }

/// Walks and delivers in any order until nothing can happen any more.
void run(Network& network, std::vector<Walker>& walkers) {
    const auto advance = [&](Walker& walker) { return walker.advance(*network.meetings[Network::count(walker.node)]); };
    bool going = true;
    while (going) {
        for (int k = *rc::gen::inRange(0, 6); k > 0; --k)
            advance(walkers[*rc::gen::inRange<std::size_t>(0, walkers.size())]);
        going = network.deliver(any_choice());
        if (!going)
            for (Walker& walker : walkers) going |= advance(walker);
    }
}

RC_GTEST_PROP(Meetings, AgreeOnTheSmallestAndTellAllWhoCameFirst, ()) {
    const int nodes = *rc::gen::inRange(1, 7);
    Network network(nodes, *rc::gen::element(Soliloquy::at_once, Soliloquy::queued));
    std::vector<Walker> walkers = any_walkers(nodes);
    run(network, walkers);
    for (const Walker& walker : walkers) {
        RC_ASSERT(walker.done());
        for (std::size_t round = 0; round < walker.rounds; ++round) {
            std::int64_t least = walker.values[round];
            for (const Walker& other : walkers)
                if (other.topic == walker.topic) least = std::min(least, other.values[round]);
            RC_ASSERT(walker.outcomes[round] == least);
        }
    }
    RC_ASSERT(network.diverged.empty());
    // One arrival of each meeting, the same one everywhere.
    for (const auto& heard : network.first) {
        RC_ASSERT(heard.size() == walkers.size() / network.meetings.size() * walkers.front().rounds);
        for (std::size_t k = 0; k < heard.size(); ++k) {
            RC_ASSERT(heard[k].node == network.first[0][k].node);
            RC_ASSERT(heard[k].arrival.topic == network.first[0][k].arrival.topic);
            RC_ASSERT(heard[k].arrival.round == network.first[0][k].arrival.round);
            RC_ASSERT(heard[k].arrival.position == 10 * heard[k].arrival.round + heard[k].arrival.topic);
            RC_ASSERT(heard[k].arrival.kind == 3U);
            RC_ASSERT(heard[k].arrival.text == "fit");
        }
    }
}

RC_GTEST_PROP(Meetings, NobodyHearsAnOutcomeBeforeAllHaveBroughtTheirs, ()) {
    const int nodes = *rc::gen::inRange(2, 7);
    Network network(nodes, Soliloquy::at_once);
    const int last = *rc::gen::inRange(0, nodes);
    const Arrival arrival{.topic = 1, .text = "fit"};
    for (int node = 0; node < nodes; ++node) {
        network.meetings[Network::count(node)]->arrive(arrival);
        if (node != last) network.meetings[Network::count(node)]->bring(arrival, node);
    }
    while (network.deliver()) {
    }
    for (const auto& meetings : network.meetings) RC_ASSERT(!meetings->outcome(arrival).has_value());
    network.meetings[Network::count(last)]->bring(arrival, -5);
    while (network.deliver()) {
    }
    for (const auto& meetings : network.meetings) {
        RC_ASSERT(meetings->outcome(arrival) == -5);
        RC_ASSERT(!meetings->outcome(arrival).has_value());  // it is told once
    }
}

RC_GTEST_PROP(Meetings, ANodeAtAnotherPlaceIsNamedWithOneOfTheOthers, ()) {
    const int nodes = *rc::gen::inRange(2, 7);
    Network network(nodes, *rc::gen::element(Soliloquy::at_once, Soliloquy::queued));
    const int stray = *rc::gen::inRange(0, nodes);
    const Arrival usual{.topic = 4, .round = 2, .kind = 1, .position = 77, .text = "usual"};
    Arrival other = usual;
    other.text = "other";
    if (*rc::gen::arbitrary<bool>())
        other.kind = 2;
    else
        other.position = *rc::gen::element<std::uint64_t>(0, 76, 78);
    std::vector<int> order;
    for (int node = 0; node < nodes; ++node) order.push_back(node);
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[*rc::gen::inRange<std::size_t>(0, k)]);
    for (const int node : order) {
        network.meetings[Network::count(node)]->arrive(node == stray ? other : usual);
        if (*rc::gen::arbitrary<bool>()) network.deliver();
    }
    while (network.deliver()) {
    }
    RC_ASSERT(!network.diverged.empty());
    for (const std::string& line : network.diverged) {
        RC_ASSERT(line.find(fmt::format("node {} {} after {}", stray, describe(other), other.position)) !=
                  std::string::npos);
        bool names_another = false;
        for (int node = 0; node < nodes; ++node)
            names_another |= node != stray && line.find(fmt::format("node {} {} after {}", node, describe(usual),
                                                                    usual.position)) != std::string::npos;
        RC_ASSERT(names_another);
    }
}

TEST(Meetings, ALongNameIsCutAndNotMore) {
    Network network(2, Soliloquy::queued);
    const std::string name(1000, 'x');
    network.meetings[1]->arrive({.topic = 1, .text = name});
    while (network.deliver()) {
    }
    ASSERT_EQ(network.first[0].size(), 1U);
    EXPECT_EQ(network.first[0][0].arrival.text, std::string(Notice{}.text.size() - 1, 'x'));
}

TEST(Meetings, AStrayNodeOfManyIsNamedOnce) {
    Network network(4, Soliloquy::at_once);
    for (int node = 0; node < 4; ++node)
        network.meetings[Network::count(node)]->arrive(
            {.topic = 1, .kind = node == 2 ? 5U : 6U, .position = 9, .text = "s"});
    while (network.deliver()) {
    }
    ASSERT_EQ(network.diverged.size(), 1U);
    EXPECT_THAT(network.diverged[0], HasSubstr("node 0 does 6 in s after 9 steps"));
    EXPECT_THAT(network.diverged[0], HasSubstr("node 2 does 5 in s after 9"));
}

}  // namespace
}  // namespace tesela::net::meetings_test
