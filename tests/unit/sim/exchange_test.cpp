#include "schedule_check.hpp"
#include "support.hpp"
#include "support/traced_messages.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/sim/schedule_trace.hpp"
#include "tesela/trace/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <utility>

namespace tesela::exchange_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const SimulationOptions no_submission{.submission_seconds = 0, .passing_seconds = 0};
constexpr double bandwidth = 1e9;

/// Two nodes of two cores, which copy at 1e11/2 bytes/s each (read plus written).
Platform two_nodes() { return platform_of({cores("node", 2, 2, {bandwidth, 0})}); }
constexpr double seconds_to_copy(double bytes) { return 2 * bytes * 2 / 1e11; }

Matrix<double> target(Stream& s, const Tiling& tiling, const Distribution& owners) {
    return {s, tiling, owners, {.name = "B"}};
}

std::map<std::string, int> tasks_by_kernel(const Schedule& schedule) {
    std::map<std::string, int> counts;
    for (const ScheduledTask& task : schedule.tasks) ++counts[task.kernel->name];
    return counts;
}

TEST(SimulatedExchange, PacksAParcelSendsItAndUnpacksIt) {
    // A target tile of node 1 covers four source tiles: three of node 0, one of its own.
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 2, Distribution({2, 2}, 2, {0, 0, 0, 1}));
        const auto B = target(s, Tiling::square(2 * tile_size, 2 * tile_size), all_on(2, 1, {1, 1}));
        redistribute(s, A.view(), B.view());
        require_done(s.wait());
    });
    constexpr double bytes = 3 * tile_of_doubles;
    const double in_all = seconds_to_copy(bytes) + bytes / bandwidth + seconds_to_copy(bytes);
    EXPECT_EQ(simulated.result.transfers, 1);
    EXPECT_DOUBLE_EQ(simulated.result.bytes, bytes);
    EXPECT_NEAR(simulated.result.makespan, in_all, 1e-12);
    EXPECT_EQ(tasks_by_kernel(*simulated.schedule),
              (std::map<std::string, int>{{"copy", 1}, {"pack", 1}, {"unpack", 1}}));
    EXPECT_EQ(simulated.result.tasks, 3);
    // Node 1 has its own tile, the target and the message; both ends have room for that in powers of two.
    const auto buffer = static_cast<double>(parcel_buffer_bytes(static_cast<Index>(bytes)));
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(3 * tile_of_doubles + buffer, 5 * tile_of_doubles + buffer));
    // Node 1 works longest: it unpacks, and copies its own tile.
    EXPECT_NEAR(simulated.result.area_bound, seconds_to_copy(bytes + tile_of_doubles) / 2, 1e-12);
    EXPECT_NEAR(simulated.result.critical_path, 2 * seconds_to_copy(bytes), 1e-12);
}

TEST(SimulatedExchange, IsSubmittedTileByTileAndParcelByParcel) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 2)})};
    simulate(simulated, {.submission_seconds = 1, .passing_seconds = 0}, [](Stream& s) {
        const auto A = given(s, 2, all_on(1, 0, {2, 2}));
        const auto B = target(s, Tiling::square(2 * tile_size, 2 * tile_size), all_on(1, 0, {1, 1}));
        redistribute(s, A.view(), B.view(), {.message_bytes = 2 * static_cast<Index>(tile_of_doubles)});
        require_done(s.wait());
    });
    // Two columns of A are a parcel each: the first waits for two source tiles and the target, the second for two more.
    std::vector<double> submitted;
    for (const ScheduledTask& task : simulated.schedule->tasks) submitted.push_back(task.submitted);
    EXPECT_THAT(submitted, ElementsAre(4, 7));
}

TEST(SimulatedExchange, SendsWhatStandsInOnePieceFromTileToTile) {
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto B = target(s, A.tiling(), all_on(2, 1, {1, 1}));
        redistribute(s, A.view(), B.view());
        require_done(s.wait());
    });
    EXPECT_THAT(simulated.schedule->tasks, IsEmpty());
    EXPECT_NEAR(simulated.result.makespan, tile_of_doubles / bandwidth, 1e-12);
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(tile_of_doubles, tile_of_doubles));
}

TEST(SimulatedExchange, PacksWhatIsTurnedAndReceivesItInItsTile) {
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto B = target(s, A.tiling(), all_on(2, 1, {1, 1}));
        redistribute(s, A.view().transposed(), B.view());
        require_done(s.wait());
    });
    EXPECT_EQ(tasks_by_kernel(*simulated.schedule), (std::map<std::string, int>{{"pack", 1}}));
    EXPECT_NEAR(simulated.result.makespan, seconds_to_copy(tile_of_doubles) + tile_of_doubles / bandwidth, 1e-12);
}

TEST(SimulatedExchange, TakesTheDurationsThatThePlatformHasForIt) {
    Simulated simulated{.platform = two_nodes()};
    for (const auto& [name, seconds] : {std::pair{"pack", 0.01}, {"unpack", 0.02}})
        simulated.platform.node_types[0].workers[0].kernels.push_back(kernels({{name, seconds}}).front());
    const Index small = tile_size / 2;
    simulate(simulated, no_submission, [&](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto B = target(s, Tiling::square(tile_size, small), all_on(2, 1, {2, 2}));
        redistribute(s, A.view(), B.view());
        require_done(s.wait());
    });
    // All in one message, of as many elements as the tile that was timed.
    EXPECT_NEAR(simulated.result.makespan, 0.01 + tile_of_doubles / bandwidth + 0.02, 1e-12);
}

/// Twelve messages between two nodes, `batch` of which may be under way.
Simulated twelve_parcels(Index batch) {
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [&](Stream& s) {
        const auto A = given(s, 12, all_on(2, 0, {12, 12}));
        const auto B = target(s, Tiling::square(12 * tile_size, tile_size), all_on(2, 1, {12, 12}));
        // Parts of tiles: nothing stands in one piece.
        redistribute(s, A.view(), B.view(),
                     {.size = {600, 50},
                      .from_offset = {25, 25},
                      .to_offset = {50, 25},
                      .batch = batch,
                      .message_bytes = 8 * 25 * 50});
        require_done(s.wait());
    });
    return simulated;
}

TEST(SimulatedExchange, KeepsSoManyMessagesUnderWay) {
    for (const Index batch : {1, 2, 8}) {
        const Simulated simulated = twelve_parcels(batch);
        std::map<std::uint32_t, double> packed, unpacked;
        for (const ScheduledTask& task : simulated.schedule->tasks) {
            if (task.kernel->name == std::string("pack")) packed[static_cast<std::uint32_t>(task.parcel)] = task.start;
            if (task.kernel->name == std::string("unpack"))
                unpacked[static_cast<std::uint32_t>(task.parcel)] = task.end;
        }
        std::map<std::uint32_t, const ScheduledMessage*> messages;
        for (const ScheduledMessage& message : simulated.schedule->messages) messages[message.version] = &message;
        ASSERT_GE(messages.size(), 12U);
        ASSERT_EQ(packed.size(), messages.size());
        for (std::uint32_t later = 0; later < messages.size(); ++later)
            for (std::uint32_t before = 0; before + static_cast<std::uint32_t>(batch) <= later; ++before) {
                EXPECT_GE(packed[later], messages[before]->arrival) << batch << " at a time";
                EXPECT_GE(messages[later]->start, unpacked[before]) << batch << " at a time";
            }
    }
    EXPECT_GT(twelve_parcels(1).result.makespan, twelve_parcels(8).result.makespan);
}

TEST(SimulatedExchange, ComesAfterAnotherIntoTheSameTileAndBeforeWhatCommutesOnIt) {
    // Two into the same tile, then a task that commutes with others: each waits for the one before.
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto C = given(s, 1, all_on(2, 1, {1, 1}), Stored::full, "C");
        const auto B = target(s, A.tiling(), all_on(2, 1, {1, 1}));
        redistribute(s, A.view(), B.view());
        redistribute(s, C.view(), B.view());
        s.submit(Task::unchecked(Dense<double>::geadd, {{C(0, 0), AccessMode::read}, {B(0, 0), AccessMode::commute}},
                                 GeaddArguments{}));
        require_done(s.wait());
    });
    ASSERT_EQ(simulated.schedule->messages.size(), 1U);
    ASSERT_EQ(simulated.schedule->tasks.size(), 2U);
    const auto& [copy, added] = std::tie(simulated.schedule->tasks[0], simulated.schedule->tasks[1]);
    EXPECT_GE(copy.start, simulated.schedule->messages[0].arrival);
    EXPECT_GE(added.start, copy.end);
}

/// A file that goes away with the test, on so many nodes.
class TraceFiles {
public:
    explicit TraceFiles(Index nodes) : nodes_(nodes) {}
    ~TraceFiles() {
        for (Index node = 0; node < nodes_; ++node)
            std::filesystem::remove(trace::node_path(path(), static_cast<std::uint32_t>(node)));
    }
    TraceFiles(const TraceFiles&) = delete;
    TraceFiles& operator=(const TraceFiles&) = delete;
    TraceFiles(TraceFiles&&) = delete;
    TraceFiles& operator=(TraceFiles&&) = delete;
    [[nodiscard]] static std::string path() {
        return (std::filesystem::temp_directory_path() / fmt::format("tesela-exchange-{}", getpid())).string();
    }

private:
    Index nodes_;
};

TEST(SimulatedExchange, IsTracedAsThatOfARun) {
    const TraceFiles files(2);
    Simulated simulated{.platform = two_nodes()};
    ScheduleTrace trace({.path = files.path()}, simulated.platform);
    simulate(simulated, {.observers = {&trace}}, [](Stream& s) {
        const auto A = given(s, 3, random_distribution({3, 3}, 2, 1));
        const auto B = target(s, Tiling::square(3 * tile_size, 70), random_distribution({5, 5}, 2, 2));
        redistribute(s, A.view(), B.view(), {.message_bytes = 50'000});
        for (Index i = 0; i < 5; ++i) s.submit(tasks::laset({}, B(i, i)));
        require_done(s.wait());
    });
    trace.close();
    const trace::Trace read = trace::read_trace(files.path());
    EXPECT_TRUE(read.warnings.empty());
    std::map<std::string, int> kernels;
    std::map<std::string, double> bytes;
    std::set<std::uint64_t> ids;
    for (const trace::TaskRow& task : read.tasks) {
        const std::string& kernel = read.kernels[static_cast<std::size_t>(task.kernel)];
        ++kernels[kernel];
        bytes[kernel] += task.bytes;
        EXPECT_TRUE(ids.insert(task.id).second);
        EXPECT_EQ(read.matrices[static_cast<std::size_t>(task.matrix)].name, kernel == "pack" ? "parcels" : "B");
    }
    EXPECT_EQ(kernels.size(), 4U);
    EXPECT_EQ(kernels, tasks_by_kernel(*simulated.schedule));
    EXPECT_NEAR(bytes["pack"], 2 * simulated.result.bytes, 1);
    double into_tiles = 0;  // whatever arrived in its tile was not unpacked
    for (const ScheduledMessage& message : simulated.schedule->messages)
        if (std::ranges::none_of(simulated.schedule->tasks, [&](const ScheduledTask& task) {
                return task.kernel->name == std::string("unpack") && std::cmp_equal(task.parcel, message.version);
            }))
            into_tiles += message.bytes;
    EXPECT_NEAR(bytes["copy"] + bytes["unpack"], 2 * (9 * tile_of_doubles - into_tiles), 1);
    // Whoever unpacks a parcel waits for who has packed it, and what comes after waits for all parts of its tile.
    const trace::Graph graph = trace::dependency_graph(read);
    for (std::uint32_t v = 0; v < read.tasks.size(); ++v) {
        if (read.kernels[static_cast<std::size_t>(read.tasks[v].kernel)] == "unpack") {
            EXPECT_GE(graph.predecessors_of(v).size(), 1U);
        }
        for (const std::uint32_t u : graph.predecessors_of(v)) EXPECT_LE(read.tasks[u].end, read.tasks[v].start);
    }
    const trace::Summary summary = trace::summarise(read, graph);
    EXPECT_EQ(summary.tasks, simulated.result.tasks);
    ASSERT_TRUE(summary.bounds.has_value());
    EXPECT_NEAR(summary.bounds->area, simulated.result.area_bound, 1e-6 * simulated.result.area_bound);
    EXPECT_LE(summary.bounds->lower(), simulated.result.makespan);
}

TEST(SimulatedExchange, OfRandomStreamsIsTracedWithTheMessagesOfTheRecording) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RandomStream stream{.seed = seed};
        const Index nodes = 3;
        const TraceFiles files(nodes);
        const Platform platform = plain_platform(nodes);
        ScheduleTrace trace({.path = files.path()}, platform);
        {
            SimulatedEngine engine(platform, {.observers = {&trace}});
            (void)play(engine, stream);
        }
        trace.close();
        const trace::Trace read = trace::read_trace(files.path());
        const auto wanted = named_messages(stream, nodes);
        ASSERT_EQ(difference(traced_messages(read, trace::Direction::send), wanted), "") << "seed " << seed;
        ASSERT_EQ(difference(traced_messages(read, trace::Direction::receive), wanted), "") << "seed " << seed;
    }
}

TEST(SimulatedExchange, OfCompressedMatricesSendsTilesWithTheBytesOfTheirRanks) {
    // Two tiles go to another node as they are; two stay.
    const RankModel ranks{[](std::string_view, TileIndex) { return Index{3}; }};
    SimulationOptions options = no_submission;
    options.ranks = ranks;
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, options, [](Stream& s) {
        const Tiling tiling = Tiling::square(2 * tile_size, tile_size);
        const MatrixOptions compressed{.compression = Compression{.accuracy = 1e-3, .dense_band = 0}};
        const Matrix<double> A(s, tiling, Distribution({2, 2}, 2, {0, 0, 0, 1}), compressed);
        const Matrix<double> B(s, tiling, Distribution({2, 2}, 2, {0, 1, 1, 1}), compressed);
        for (const TileIndex t : {TileIndex{0, 0}, TileIndex{0, 1}, TileIndex{1, 0}, TileIndex{1, 1}})
            s.submit(tasks::laset({}, A(t.i, t.j)));
        redistribute(s, A.view(), B.view());
        require_done(s.wait());
    });
    EXPECT_EQ(simulated.result.transfers, 2);
    EXPECT_DOUBLE_EQ(simulated.result.bytes, 2 * (8.0 * 2 * tile_size * 3 + 8));
    EXPECT_EQ(tasks_by_kernel(*simulated.schedule)["place_segment"], 4);
}

TEST(SimulatedExchange, CutsCompressedTilesForAnotherTiling) {
    Simulated simulated{.platform = two_nodes()};
    simulate(simulated, no_submission, [](Stream& s) {
        const MatrixOptions compressed{.compression = Compression{.accuracy = 1e-3, .dense_band = 0}};
        const Matrix<double> A(s, Tiling::square(tile_size, tile_size), all_on(2, 0, {1, 1}), compressed);
        const Matrix<double> B(s, Tiling::square(tile_size, tile_size / 2), Distribution({2, 2}, 2, {0, 0, 1, 0}),
                               compressed);
        s.submit(tasks::laset({}, A(0, 0)));
        redistribute(s, A.view(), B.view());
        require_done(s.wait());
    });
    EXPECT_EQ(simulated.result.transfers, 1);
    EXPECT_DOUBLE_EQ(simulated.result.bytes, tile_of_doubles / 4);
    std::map<std::string, int> tasks = tasks_by_kernel(*simulated.schedule);
    EXPECT_EQ(tasks["cut_segment"], 1);
    EXPECT_EQ(tasks["place_segment"], 4);
}

}  // namespace
}  // namespace tesela::exchange_test
