#include "support/on_any_node.hpp"
#include "support/random_stream.hpp"
#include "support/shared_engine.hpp"
#include "support/stream_messages.hpp"
#include "support/traced_messages.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/trace/trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tesela::streams_test {
namespace {

using testing::engine;
using testing::on_any_node;
using testing::RandomStream;
using testing::Seen;

/// Messages and bytes from this node to each.
std::vector<StarpuEngine::Sent> sent_by(NodeId me, const std::multiset<Transfer>& messages) {
    std::vector<StarpuEngine::Sent> sent(static_cast<std::size_t>(engine().node_count()));
    for (const Transfer& message : messages) {
        if (NodeId{message.from} != me) continue;
        auto& to = sent[static_cast<std::size_t>(message.to)];
        ++to.messages;
        to.bytes += static_cast<std::uint64_t>(message.bytes);
    }
    return sent;
}

std::string compare_sent(const std::vector<StarpuEngine::Sent>& before, const std::vector<StarpuEngine::Sent>& after,
                         const std::vector<StarpuEngine::Sent>& wanted) {
    std::string wrong;
    for (std::size_t to = 0; to < after.size(); ++to) {
        const std::uint64_t messages = after[to].messages - before[to].messages;
        const std::uint64_t bytes = after[to].bytes - before[to].bytes;
        if (messages != wanted[to].messages || bytes != wanted[to].bytes)
            wrong += fmt::format("{} messages and {} bytes to node {} instead of {} and {}; ", messages, bytes, to,
                                 wanted[to].messages, wanted[to].bytes);
    }
    return wrong;
}

/// What the engine computed, against the inline engine.
std::string compare_values(const Seen& here, const Seen& oracle) {
    for (std::size_t s = 0; s < here.fetched.size(); ++s) {
        if (here.fetched[s].size() != oracle.fetched[s].size()) return "another number of fetched tiles; ";
        for (std::size_t k = 0; k < here.fetched[s].size(); ++k)
            if (!here.fetched[s][k].means_nothing && here.fetched[s][k].values != oracle.fetched[s][k].values)
                return fmt::format("fetched tile {} of stream {} has other values, {} instead of {}; ", k, s,
                                   here.fetched[s][k].values.at(0), oracle.fetched[s][k].values.at(0));
    }
    const auto me = static_cast<std::int32_t>(engine().this_node().number());
    for (std::size_t a = 0; a < here.arrays.size(); ++a) {
        const Seen::Array& array = here.arrays[a];
        for (std::size_t k = 0; k < array.elements.size(); ++k)
            if (array.owners[k] == me && array.elements[k] != oracle.arrays[a].elements[k])
                return fmt::format("element {} of the caller's array, look {}, is {} instead of {}; ", k, a,
                                   array.elements[k], oracle.arrays[a].elements[k]);
    }
    return {};
}

std::string compare_statuses(const Seen& here, const Seen& oracle) {
    for (std::size_t s = 0; s < here.statuses.size(); ++s)
        for (std::size_t k = 0; k < here.statuses[s].size(); ++k)
            if (here.statuses[s][k] != oracle.statuses[s][k])
                return fmt::format("wait {} of stream {} ends with \"{}\" instead of \"{}\"; ", k, s,
                                   here.statuses[s][k].describe(), oracle.statuses[s][k].describe());
    return {};
}

/// Whether all memory that tiles took, or that was held back for them, is free again. It goes when the last task that
/// uses it has ended, which may be a moment after the stream's end.
std::string compare_memory(const StarpuEngine::MemoryUse& before) {
    StarpuEngine::MemoryUse now;
    for (int attempt = 0; attempt < 2000; ++attempt) {
        now = engine().memory_use();
        if (now.in_use == before.in_use && now.held_back == before.held_back) return {};
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return fmt::format("{} bytes in use and {} held back where it was {} and {}; ", now.in_use, now.held_back,
                       before.in_use, before.held_back);
}

/// Plays a stream on all engines; what differs.
std::string compare_engines(const RandomStream& stream) {
    const Index nodes = engine().node_count();
    const std::multiset<Transfer> messages = testing::recorded_messages(stream, nodes);
    std::string wrong = testing::difference(messages, testing::simulated_messages(stream, nodes));
    InlineEngine inline_engine(nodes);
    const Seen oracle = testing::play(inline_engine, stream);
    const std::vector<StarpuEngine::Sent> before = engine().sent();
    // Memory is held back for what nothing writes, so that what is released twice shows.
    Stream idle(engine());
    const Matrix<double> unwritten(idle, Tiling::uniform({1448 * nodes, 1448}, {1448, 1448}),
                                   block_cyclic({nodes, 1}, {nodes, 1}));
    const StarpuEngine::MemoryUse memory = engine().memory_use();
    const Seen here = testing::play(engine(), stream);
    wrong += compare_sent(before, engine().sent(), sent_by(engine().this_node(), messages));
    wrong += compare_statuses(here, oracle);
    wrong += compare_values(here, oracle);
    wrong += compare_memory(memory);
    return wrong;
}

/// From a first seed on, so many; TESELA_STREAM_SEEDS="7 1" chooses others.
struct Seeds {
    std::uint64_t first = 1;
    std::uint64_t count = 60;
};
Seeds seeds_or(Seeds usual) {
    if (const auto chosen = environment("TESELA_STREAM_SEEDS"))
        std::istringstream(*chosen) >> usual.first >> usual.count;
    return usual;
}

TEST(Streams, GiveTheSameMessagesAndValuesOnEveryEngine) {
    const Seeds seeds = seeds_or({testing::seed(), 60});
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed)
        ASSERT_EQ(on_any_node(engine(), compare_engines({.seed = seed})), "") << "seed " << seed;
}

TEST(Streams, GiveTheSameMessagesThoughTheyFail) {
    const Seeds seeds = seeds_or({testing::seed() + 1000, 60});
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed)
        ASSERT_EQ(on_any_node(engine(), compare_engines({.seed = seed, .failures = true})), "") << "seed " << seed;
}

/// Plays a stream with a trace; how its messages differ from those of the recording.
std::string compare_trace(const RandomStream& stream) {
    // All nodes are on this machine and children of one process.
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("tesela-streams-{}", getppid())).string();
    engine().start_trace({.path = path});
    (void)testing::play(engine(), stream);
    engine().stop_trace();
    engine().barrier();  // everyone has written
    std::string wrong;
    if (engine().is_first()) {
        const trace::Trace trace = trace::read_trace(path);
        const auto wanted = testing::named_messages(stream, engine().node_count());
        wrong += testing::difference(testing::traced_messages(trace, trace::Direction::send), wanted);
        wrong += testing::difference(testing::traced_messages(trace, trace::Direction::receive), wanted);
    }
    engine().barrier();
    std::remove(trace::node_path(path, static_cast<std::uint32_t>(engine().this_node().number())).c_str());
    return wrong;
}

TEST(Streams, SendTheTilesAndVersionsThatTheRecordingLists) {
    const Seeds seeds = seeds_or({testing::seed() + 2000, 16});
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed)
        ASSERT_EQ(on_any_node(engine(), compare_trace({.seed = seed, .failures = seed % 2 == 0})), "")
            << "seed " << seed;
}

}  // namespace
}  // namespace tesela::streams_test
