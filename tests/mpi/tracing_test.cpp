#include "support/shared_engine.hpp"
#include "support/traced_cholesky.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

namespace tesela::tracing_test {
namespace {

using testing::engine;

/// All nodes are on this machine and children of one process.
std::string shared_path() {
    return (std::filesystem::temp_directory_path() / ("tesela-trace-" + std::to_string(getppid()))).string();
}

TEST(Tracing, OfAllNodesIsTheRecordedStreamWithItsMessages) {
    const std::string path = shared_path();
    engine().start_trace({.path = path});
    EXPECT_TRUE(testing::traced_work(engine()).ok());
    engine().stop_trace();
    engine().barrier();  // everyone has written
    if (engine().is_first()) {
        const trace::Trace trace = trace::read_trace(path);
        const Recording recording = testing::recorded_work(engine().node_count());
        EXPECT_EQ(trace.nodes.size(), static_cast<std::size_t>(engine().node_count()));
        EXPECT_TRUE(trace.warnings.empty());
        testing::expect_same_stream(trace, recording);

        const Transfers transfers = count_transfers(recording);
        const auto matched = trace::match_messages(trace);
        EXPECT_EQ(static_cast<Index>(matched.size()), transfers.messages);
        EXPECT_EQ(trace.messages.size(), 2 * matched.size());
        double bytes = 0;
        for (const trace::MatchedMessage& pair : matched) {
            const trace::MessageRow& send = trace.messages[pair.send];
            const trace::MessageRow& receive = trace.messages[pair.receive];
            EXPECT_EQ(send.bytes, receive.bytes);
            EXPECT_EQ(send.i, receive.i);
            EXPECT_EQ(send.j, receive.j);
            EXPECT_GE(send.matrix, 0);
            EXPECT_LE(send.posted, send.start);
            EXPECT_LE(send.start, send.end);
            bytes += static_cast<double>(send.bytes);
        }
        EXPECT_DOUBLE_EQ(bytes, transfers.bytes);

        // One clock: no task starts before the tasks it waits for have ended, wherever they ran.
        const trace::Graph graph = trace::dependency_graph(trace);
        const trace::Time tolerance = 2'000'000;
        for (std::size_t v = 0; v < graph.size(); ++v)
            for (const std::uint32_t u : graph.predecessors_of(v))
                EXPECT_GE(trace.tasks[v].start + tolerance, trace.tasks[u].end);
    }
    engine().barrier();
    std::remove(trace::node_path(path, static_cast<std::uint32_t>(engine().this_node().number())).c_str());
}

}  // namespace
}  // namespace tesela::tracing_test
