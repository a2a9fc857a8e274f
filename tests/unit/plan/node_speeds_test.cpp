#include "tesela/plan/node_speeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::plan::node_speeds_test {
namespace {

/// A node whose products and generation of tiles of 100 take 1 and 4 s.
NodeType node() {
    const auto timed = [](const char* kernel, double seconds, double work) {
        return KernelTime{.kernel = kernel,
                          .time = TimedKernel{.seconds = {{.tile = 100, .value = seconds, .work = work}}},
                          .source = Source::measured};
    };
    return {.name = "node",
            .count = 1,
            .nic = {.bandwidth = 1e9, .latency = 1e-6},
            .workers = {{.name = "cores",
                         .processor = Processor::cpu,
                         .count = 1,
                         .kernels = {timed("dgemm", 1, 2e6), timed("dcmg", 4, 1e5), timed("dpotrf", 2, 3e5)}}}};
}

double seconds(const NodeType& of, const char* kernel) {
    return *kernel_seconds(of.workers.front(), kernel, {.tile = 100});
}

KernelUse use(const char* kernel, Index calls, double seconds, double flops) {
    return {.kernel = kernel, .calls = calls, .seconds = seconds, .flops = flops * static_cast<double>(calls)};
}

TEST(NodeSpeeds, AreWhatCallsTookSinceTheLastLookOverWhatTheyShouldHave) {
    const std::vector<KernelUse> before{use("dgemm", 10, 50, 2e6)};
    const std::vector<KernelUse> after{use("dgemm", 20, 50 + 15, 2e6), use("dcmg", 5, 20, 1e5),
                                       use("dpotrf", 2, 100, 3e5), use("unknown", 50, 100, 1)};
    const auto speeds = kernel_speeds(node(), 100, before, after);
    ASSERT_EQ(speeds.size(), 2U);  // of too few calls, and without a duration, nothing is said
    EXPECT_EQ(speeds[0].kernel, "dgemm");
    EXPECT_DOUBLE_EQ(speeds[0].slowdown, 1.5);
    EXPECT_DOUBLE_EQ(speeds[0].share, 15.0 / 35);
    EXPECT_EQ(speeds[1].kernel, "dcmg");
    EXPECT_DOUBLE_EQ(speeds[1].slowdown, 1);
}

TEST(NodeSpeeds, DisagreeWhereNodesOrKernelsAreNotSlowerAlike) {
    const KernelSpeed slow{"dgemm", 2, 0.9};
    const KernelSpeed usual{"dgemm", 1, 0.9};
    const KernelSpeed slow_but_rare{"dpotrf", 9, 0.01};
    const auto apart = [](const std::vector<std::vector<KernelSpeed>>& nodes) { return speed_extremes(nodes).ratio(); };
    EXPECT_DOUBLE_EQ(apart({{slow}, {slow}}), 1);
    EXPECT_DOUBLE_EQ(apart({{slow}, {usual}}), 2);
    EXPECT_DOUBLE_EQ(apart({{usual, slow_but_rare}, {usual}}), 1);
    EXPECT_DOUBLE_EQ(apart({{usual, {"dcmg", 3, 0.5}}}), 3);
    EXPECT_DOUBLE_EQ(apart({{}, {}}), 1);
    const SpeedExtremes extremes = speed_extremes({{usual}, {slow}});
    EXPECT_EQ(extremes.slowest.node, 1U);
    EXPECT_EQ(extremes.fastest.node, 0U);
    EXPECT_EQ(extremes.slowest.kernel, "dgemm");
}

TEST(NodeSpeeds, CorrectWhatWasSeenAndTheRestAsMostOfItIs) {
    const NodeType turned_out =
        corrected(node(), {{"dgemm", 2, 0.09}, {"dcmg", 50, 0.9}, {"dsyrk", 2, 0.005}, {"dtrsm", 1, 0.005}});
    EXPECT_DOUBLE_EQ(seconds(turned_out, "dgemm"), 2);
    EXPECT_DOUBLE_EQ(seconds(turned_out, "dcmg"), 4 * 50);
    EXPECT_DOUBLE_EQ(seconds(turned_out, "dpotrf"), 2 * 2);
}

TEST(NodeSpeeds, BelieveHalfOfWhatIsFaster) {
    EXPECT_DOUBLE_EQ(seconds(corrected(node(), {{"dgemm", 0.25, 1}}), "dgemm"), 0.5);
}

TEST(NodeSpeeds, LeaveANodeThatDidNothingAsItIs) { EXPECT_EQ(corrected(node(), {}), node()); }

}  // namespace
}  // namespace tesela::plan::node_speeds_test
