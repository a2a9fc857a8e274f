#include "support/seed.hpp"
#include "support/stream_messages.hpp"

#include <gtest/gtest.h>

namespace tesela::streams_test {
namespace {

// More nodes than fit into one and into two words of a directory, too.
TEST(Streams, AreSimulatedWithTheMessagesThatTheirRecordingHas) {
    for (const Index nodes : {1, 2, 5, 63, 64, 65, 70, 130})
        for (std::uint64_t k = 0; k < 10; ++k) {
            const testing::RandomStream stream{.seed = testing::seed() + k};
            ASSERT_EQ(testing::difference(testing::recorded_messages(stream, nodes),
                                          testing::simulated_messages(stream, nodes)),
                      "")
                << nodes << " nodes, seed " << stream.seed;
        }
}

}  // namespace
}  // namespace tesela::streams_test
