#include "tesela/sim/internal/channels.hpp"
#include "parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::sim::channels_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Three nodes whose windows hold as many bytes.
Platform with_windows(double bytes) {
    Platform platform = platform_of({cores("node", 3, 1)});
    platform.node_types[0].memory = bytes * 8 * 3;
    return platform;
}

Vertex message(std::int32_t from, std::int32_t to, std::int32_t priority = 0, std::uint16_t stream = 0) {
    return {.node = from, .to = to, .priority = priority, .stream = stream, .bytes = tile_of_doubles};
}

/// Many of them may be on their way between two nodes at once.
Vertex small_message(std::int32_t from, std::int32_t to, std::int32_t priority = 0) {
    Vertex vertex = message(from, to, priority);
    vertex.bytes = 8;
    return vertex;
}

TEST(Channels, LetGoOnlyWhatIsInsideTheWindow) {
    const Platform platform = with_windows(1.5 * tile_of_doubles);
    const Cluster cluster(platform, CriticalWorker::none);
    HandMade made(3);
    for (int k = 0; k < 4; ++k) (void)made.add(message(0, 1, k));
    Channels channels(cluster);
    channels.begin(made.section);
    // Two have less than the window's bytes before them.
    EXPECT_THAT(channels.ready(3), IsEmpty());
    EXPECT_THAT(channels.ready(2), IsEmpty());
    EXPECT_THAT(channels.ready(1), ElementsAre(1U));
    EXPECT_THAT(channels.ready(0), ElementsAre(0U));
    EXPECT_THAT(channels.arrived(1), IsEmpty());  // the oldest is still on its way
    EXPECT_THAT(channels.arrived(0), ElementsAre(3U, 2U));
}

TEST(Channels, AreOneForEachStreamAndPairOfNodes) {
    const Platform platform = with_windows(1);
    const Cluster cluster(platform, CriticalWorker::none);
    HandMade made(3);
    (void)made.add(message(0, 1));
    (void)made.add(message(0, 2));
    (void)made.add(message(0, 1, 0, 1));
    (void)made.add(message(1, 0));
    (void)made.add(message(0, 1));
    Channels channels(cluster);
    channels.begin(made.section);
    EXPECT_THAT(channels.ready(4), IsEmpty());  // the only one that is not the oldest of its channel
    for (std::uint32_t v = 0; v < 4; ++v) EXPECT_THAT(channels.ready(v), ElementsAre(v));
}

TEST(Channels, HaveFewSendsOfANodeUnderWayAndTheMostUrgentNext) {
    const auto most = static_cast<std::uint32_t>(SendsUnderWay{}.most);
    const Platform platform = with_windows(1e9);
    const Cluster cluster(platform, CriticalWorker::none);
    HandMade made(3);
    for (std::uint32_t k = 0; k < most; ++k) (void)made.add(small_message(0, 1));
    const std::uint32_t waits = made.add(small_message(0, 1, 1));
    const std::uint32_t urgent = made.add(small_message(0, 1, 5));
    const std::uint32_t elsewhere = made.add(small_message(0, 2));
    const std::uint32_t of_other_node = made.add(small_message(1, 2));
    Channels channels(cluster);
    channels.begin(made.section);
    for (std::uint32_t v = 0; v < most; ++v) EXPECT_THAT(channels.ready(v), ElementsAre(v));
    EXPECT_THAT(channels.ready(waits), IsEmpty());
    EXPECT_THAT(channels.ready(urgent), IsEmpty());
    EXPECT_THAT(channels.ready(elsewhere), ElementsAre(elsewhere));  // the oldest between two nodes always may
    EXPECT_THAT(channels.ready(of_other_node), ElementsAre(of_other_node));
    EXPECT_THAT(channels.arrived(0), IsEmpty());  // there is one more than should be
    EXPECT_THAT(channels.arrived(1), ElementsAre(urgent));
    EXPECT_THAT(channels.arrived(2), ElementsAre(waits));
}

TEST(Channels, LetAnyMessageGoWhenOneOfManyHasArrived) {
    const auto most = static_cast<std::uint32_t>(SendsUnderWay{}.most);
    const Platform platform = with_windows(1e9);
    const Cluster cluster(platform, CriticalWorker::none);
    HandMade made(3);
    for (std::uint32_t k = 0; k < most; ++k) (void)made.add(small_message(0, k == 0 ? 2 : 1));
    const std::uint32_t waits = made.add(small_message(0, 2));
    Channels channels(cluster);
    channels.begin(made.section);
    for (std::uint32_t v = 0; v < most; ++v) EXPECT_THAT(channels.ready(v), ElementsAre(v));
    EXPECT_THAT(channels.ready(waits), IsEmpty());
    EXPECT_THAT(channels.arrived(1), ElementsAre(waits));  // though that was to another node
}

TEST(Channels, HaveOneLargeMessageOfAPairUnderWay) {
    const Platform platform = with_windows(1e9);
    const Cluster cluster(platform, CriticalWorker::none);
    HandMade made(3);
    const auto large = [&](std::int32_t to, std::int32_t priority) {
        Vertex vertex = message(0, to, priority);
        vertex.bytes = static_cast<double>(MessageLimits{}.bytes_at_once);
        return made.add(vertex);
    };
    for (int k = 0; k < 3; ++k) (void)large(1, k);
    const std::uint32_t elsewhere = large(2, 0);
    Channels channels(cluster);
    channels.begin(made.section);
    EXPECT_THAT(channels.ready(0), ElementsAre(0U));
    EXPECT_THAT(channels.ready(1), IsEmpty());
    EXPECT_THAT(channels.ready(2), IsEmpty());
    EXPECT_THAT(channels.ready(elsewhere), ElementsAre(elsewhere));
    EXPECT_THAT(channels.arrived(elsewhere), IsEmpty());
    EXPECT_THAT(channels.arrived(0), ElementsAre(2U, 1U));  // the most urgent, and the oldest
}

TEST(Channels, NumberTheMessagesOfEverySectionAnew) {
    const Platform platform = with_windows(1);
    const Cluster cluster(platform, CriticalWorker::none);
    Channels channels(cluster);
    for (int section = 0; section < 2; ++section) {
        HandMade made(3);
        (void)made.add({});  // a task
        (void)made.add(message(0, 1));
        channels.begin(made.section);
        EXPECT_THAT(channels.ready(1), ElementsAre(1U));
        EXPECT_THAT(channels.arrived(1), IsEmpty());
    }
}

}  // namespace
}  // namespace tesela::sim::channels_test
