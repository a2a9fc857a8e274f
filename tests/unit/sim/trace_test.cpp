#include "support.hpp"
#include "tesela/algs/operation.hpp"
#include "tesela/sim/schedule_trace.hpp"
#include "tesela/sim/trace_durations.hpp"
#include "tesela/sim/traced_ranks.hpp"
#include "tesela/trace/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <set>

namespace tesela::trace_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A folder that goes away with the test.
class TraceFolder {
public:
    TraceFolder() { std::filesystem::create_directories(path_); }
    ~TraceFolder() { std::filesystem::remove_all(path_); }
    TraceFolder(const TraceFolder&) = delete;
    TraceFolder& operator=(const TraceFolder&) = delete;
    TraceFolder(TraceFolder&&) = delete;
    TraceFolder& operator=(TraceFolder&&) = delete;
    [[nodiscard]] std::string file() const { return (path_ / "t").string(); }

private:
    std::filesystem::path path_ = std::filesystem::temp_directory_path() / fmt::format("tesela-sim-{}", getpid());
};

TEST(ScheduleTrace, IsReadAndAnalysedLikeTheTraceOfARun) {
    const TraceFolder folder;
    Simulated simulated{.platform = mixed_platform()};
    {
        ScheduleTrace trace({.path = folder.file()}, simulated.platform);
        simulate(simulated, {.observers = {&trace}}, [](Stream& s) {
            submit(s, Algorithm::cholesky, 12, random_distribution({12, 12}, 5, 1));
        });
        trace.close();
    }
    const trace::Trace read = trace::read_trace(folder.file());
    EXPECT_TRUE(read.warnings.empty());
    EXPECT_EQ(read.nodes.size(), 5U);
    const trace::Summary summary = trace::summarise(read, trace::dependency_graph(read));
    const SimulationResult& result = simulated.result;
    EXPECT_EQ(summary.tasks, result.tasks);
    EXPECT_EQ(summary.messages, result.transfers);
    EXPECT_EQ(summary.bytes, result.bytes);
    EXPECT_NEAR(summary.makespan, result.makespan, 1e-4);  // from the first submission, to the nanosecond
    EXPECT_NEAR(summary.peak_memory, std::ranges::max(result.memory_peak), 1);
    EXPECT_NEAR(summary.utilisation, result.utilisation, 1e-9);
    EXPECT_LE(summary.critical_path, summary.makespan);
    EXPECT_GE(summary.critical_path, result.critical_path * (1 - 1e-6));  // of durations as they were: not the least
    ASSERT_TRUE(summary.bounds.has_value());
    EXPECT_NEAR(summary.bounds->lower(), result.lower_bound, 1e-6 * result.lower_bound);
    std::set<std::string> kinds;
    for (const trace::WorkerRow& worker : read.workers) kinds.insert(worker.kind);
    EXPECT_EQ(kinds, (std::set<std::string>{"cpu", "cuda"}));
    // The graph that the accesses in the trace imply holds in time.
    const trace::Graph graph = trace::dependency_graph(read);
    EXPECT_GT(trace::make_table(read, graph, "edges").rows(), 0U);
    EXPECT_EQ(trace::match_messages(read).size(), static_cast<std::size_t>(result.transfers));
}

TEST(ScheduleTrace, KeepsTheRanksForTheNextSimulation) {
    const TraceFolder folder;
    Simulated first{.platform = platform_of({cores("node", 2, 2)})};
    const RankModel ranks{[](std::string_view, TileIndex t) { return t.i == t.j ? dense_rank : 3 + t.i; }};
    const auto work = [](Stream& s) { submit(s, Algorithm::cholesky, 6, squarest_block_cyclic({6, 6}, 2)); };
    {
        ScheduleTrace trace({.path = folder.file()}, first.platform);
        simulate(first, {.ranks = ranks, .observers = {&trace}}, work);
        trace.close();
    }
    Simulated again{.platform = first.platform};
    simulate(again, {.ranks = ranks_from_trace(trace::read_trace(folder.file()))}, work);
    EXPECT_EQ(again.result.makespan, first.result.makespan);
    EXPECT_EQ(again.result.bytes, first.result.bytes);
}

/// The trace of a simulated Cholesky factorisation of ragged tiles with these ranks.
trace::Trace trace_with(RankModel ranks) {
    const TraceFolder folder;
    Simulated simulated{.platform = platform_of({cores("node", 2, 2)})};
    ScheduleTrace trace({.path = folder.file()}, simulated.platform);
    simulate(simulated, {.ranks = std::move(ranks), .observers = {&trace}}, [](Stream& s) {
        run_operation(s, Operation::cholesky, Tiling::square(5 * 64 + 20, 64), squarest_block_cyclic({6, 6}, 2));
    });
    trace.close();
    return trace::read_trace(folder.file());
}

TEST(TracedRanks, AreOfTheMatrixWithItsTiling) {
    const auto rank = [](TileIndex t) { return t.i == t.j ? dense_rank : 3 + t.i; };
    const trace::Trace trace = trace_with({[&](std::string_view, TileIndex t) { return rank(t); }});
    for (const char* name : {"", "A"}) {
        const TracedRanks ranks = ranks_of_matrix(trace, name, "t");
        EXPECT_EQ(ranks.matrix, "A");
        EXPECT_EQ(ranks.tiling, Tiling::square(5 * 64 + 20, 64));
        EXPECT_EQ(ranks.stored, Stored::lower);
        for (Index i = 0; i < 6; ++i)
            for (Index j = 0; j <= i; ++j) {
                EXPECT_EQ(ranks.initial.ranks[static_cast<std::size_t>(6 * i + j)], rank({i, j}));
                EXPECT_EQ(ranks.last.ranks[static_cast<std::size_t>(6 * i + j)], rank({i, j}));
            }
    }
}

TEST(TracedRanks, AreRefusedWhereThereAreNone) {
    const trace::Trace dense = trace_with({});
    EXPECT_TRUE(traced_ranks(dense).empty());
    EXPECT_THAT([&] { (void)ranks_of_matrix(dense, "", "t.trace"); },
                ThrowsMessage<Error>(HasSubstr("t.trace has no ranks: it is the trace of a run in which no tile")));
    const trace::Trace low = trace_with({[](std::string_view, TileIndex) { return Index{2}; }});
    EXPECT_THAT([&] { (void)ranks_of_matrix(low, "B", "t.trace"); },
                ThrowsMessage<Error>(HasSubstr("no ranks of a matrix \"B\"; it has those of A")));
}

TEST(TracedRanks, OfATraceThatDoesNotHaveAllTilesAreRefused) {
    trace::Trace cut = trace_with({[](std::string_view, TileIndex) { return Index{2}; }});
    std::erase_if(cut.tasks, [](const trace::TaskRow& task) { return task.i == 4 && task.j > 1; });
    cut.warnings.emplace_back("t.trace.1: the trace of node 1 is missing");
    EXPECT_EQ(traced_ranks(cut).front().missing, 3);
    EXPECT_THAT(
        [&] { (void)ranks_of_matrix(cut, "", "t.trace"); },
        ThrowsMessage<Error>("3 of the 21 tiles of A are not in t.trace. t.trace.1: the trace of node 1 is missing"));
    cut.warnings.clear();
    EXPECT_THAT([&] { (void)ranks_of_matrix(cut, "A", "t.trace"); },
                ThrowsMessage<Error>(HasSubstr("no task of the run wrote them")));
}

TEST(AddDurations, GivesARealTraceTheBoundsThatItsPlatformMeans) {
    const TraceFolder folder;
    Simulated simulated{.platform = platform_of({cores("plain", 2, 3), with_gpus(cores("mixed", 1, 2), {.count = 2})})};
    {
        ScheduleTrace trace({.path = folder.file()}, simulated.platform);
        simulate(simulated, {.observers = {&trace}}, [](Stream& s) {
            submit(s, Algorithm::cholesky, 9, random_distribution({9, 9}, 3, 4));
        });
        trace.close();
    }
    const trace::Trace said = trace::read_trace(folder.file());
    trace::Trace real = said;  // as the trace of a run is: it has no durations
    real.works.clear();
    for (trace::WorkerRow& worker : real.workers) worker.group = -1;
    for (trace::TaskRow& task : real.tasks) task.work = -1;
    ASSERT_FALSE(trace::lower_bounds(real, trace::dependency_graph(real)).has_value());
    add_durations(real, simulated.platform);
    const auto bounds = trace::lower_bounds(real, trace::dependency_graph(real));
    const auto expected = trace::lower_bounds(said, trace::dependency_graph(said));
    ASSERT_TRUE(bounds.has_value() && expected.has_value());
    EXPECT_NEAR(bounds->area, expected->area, 1e-6 * expected->area);  // the trace has operations in single precision
    EXPECT_NEAR(bounds->critical_path, expected->critical_path, 1e-6 * expected->critical_path);

    EXPECT_NE(error_of([&] { add_durations(real, platform_of({cores("plain", 2, 3)})); }).find("3 nodes"),
              std::string::npos);
    EXPECT_NE(error_of([&] { add_durations(real, platform_of({cores("plain", 3, 3)})); }).find("cuda worker on node 2"),
              std::string::npos);
    Platform lacks = simulated.platform;
    for (NodeType& type : lacks.node_types)
        for (WorkerGroup& group : type.workers) group.kernels = kernels({{"dpotrf", 1e-3}});
    EXPECT_NE(error_of([&] { add_durations(real, lacks); }).find("duration for the kernel"), std::string::npos);
}

}  // namespace
}  // namespace tesela::trace_test
