#include "tesela/sim/internal/fair_shares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace tesela::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Flows = std::map<std::uint32_t, std::vector<std::uint32_t>>;  // links by flow

/// What is wrong by the definition: a link that carries more than it can, or a flow without a full link on its way on
/// which nobody has more.
std::string unfair(const std::vector<Link>& links, const Flows& flows, const FairShares& shares) {
    constexpr double rounding = 1e-9;
    std::vector<double> used(links.size()), most(links.size());
    for (const auto& [flow, way] : flows)
        for (const std::uint32_t l : way) {
            used[l] += shares.rate(flow);
            most[l] = std::max(most[l], shares.rate(flow));
        }
    for (std::size_t l = 0; l < links.size(); ++l)
        if (used[l] > links[l].bandwidth * (1 + rounding)) return "link " + std::to_string(l) + " carries too much";
    for (const auto& [flow, way] : flows) {
        const double rate = shares.rate(flow);
        const bool held_back = std::any_of(way.begin(), way.end(), [&](std::uint32_t l) {
            return used[l] >= links[l].bandwidth * (1 - rounding) && rate >= most[l] * (1 - rounding);
        });
        if (!held_back) return "flow " + std::to_string(flow) + " could have more";
    }
    return {};
}

RC_GTEST_PROP(FairShares, AreMaxMinFairWhateverComesAndGoes, ()) {
    std::vector<Link> links(*rc::gen::inRange<std::size_t>(1, 9));
    for (Link& link : links) link.bandwidth = *rc::gen::element(1.0, 1.0, 2.5, 10.0, 3e9);
    FairShares shares(links);
    Flows flows;
    for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
        const auto flow = *rc::gen::inRange<std::uint32_t>(0, 12);
        if (const auto found = flows.find(flow); found != flows.end()) {
            shares.remove(flow);
            flows.erase(found);
        } else {
            const auto which = *rc::gen::inRange(1U, 1U << links.size());
            for (std::uint32_t l = 0; l < links.size(); ++l)
                if ((which >> l & 1U) != 0) flows[flow].push_back(l);
            shares.add(flow, flows[flow]);
        }
        if (*rc::gen::inRange(0, 3) == 0) continue;  // several changes at a time
        (void)shares.update();
        RC_ASSERT(unfair(links, flows, shares) == "");
    }
}

TEST(FairShares, TellWhoseRateChangesAndFromWhat) {
    const std::vector<Link> links{{.bandwidth = 6}, {.bandwidth = 6}, {.bandwidth = 6}};
    const std::vector<std::uint32_t> first{0}, both{0, 1}, apart{2};
    FairShares shares(links);
    EXPECT_FALSE(shares.changed());
    shares.add(0, first);
    shares.add(5, apart);
    EXPECT_TRUE(shares.changed());
    EXPECT_EQ(shares.update().size(), 2U);
    EXPECT_FALSE(shares.changed());
    EXPECT_EQ(shares.rate(0), 6);
    shares.add(1, both);
    const auto changes = shares.update();
    ASSERT_EQ(changes.size(), 2U);
    for (const FairShares::Change& change : changes) EXPECT_EQ(change.before, change.flow == 0 ? 6 : 0);
    EXPECT_EQ(shares.rate(0), 3);
    EXPECT_EQ(shares.rate(1), 3);
    EXPECT_EQ(shares.rate(5), 6);
    shares.remove(0);
    shares.add(0, first);  // the same again: nobody else is concerned
    for (const FairShares::Change& change : shares.update()) EXPECT_EQ(change.flow, 0U);
}

}  // namespace
}  // namespace tesela::sim
