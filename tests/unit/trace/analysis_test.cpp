#include "support.hpp"

#include "tesela/base/error.hpp"
#include "tesela/trace/analysis.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

namespace tesela::trace::analysis_test {
namespace {

using testing::TraceBuilder;

constexpr double ns = 1e-9;

/// Two nodes; node 0 has a core and a GPU, node 1 one core. Times in nanoseconds:
///
///   0/0 (cpu)  |potrf 10-50|......idle......|gemm 120-200|
///   0/1 (cuda) |...........|trsm 60-100 |................|
///   1/0 (cpu)  |.......................|syrk 110-150|....|   its tile left node 0 at 102 and arrived at 108
///
/// The first task is created at 0, so the run lasts 200.
Trace example() {
    TraceBuilder b(2);
    const Code cpu = b.worker(0, 0);
    const Code gpu = b.worker(0, 1, "cuda");
    const Code far = b.worker(1, 0);
    b.task("potrf", cpu, {0, 5, 10, 50}, {pack_access(0, Use::read_write)});
    b.task("trsm", gpu, {1, 52, 60, 100}, {pack_access(0, Use::read), pack_access(1, Use::read_write)}).step = 1;
    b.task("syrk", far, {2, 108, 110, 150}, {pack_access(1, Use::read), pack_access(2, Use::read_write)}).step = 1;
    TaskRow& gemm =
        b.task("gemm", cpu, {3, 101, 120, 200}, {pack_access(1, Use::read), pack_access(3, Use::read_write)});
    gemm.step = 2;
    gemm.phase = b.phase("update");
    Trace trace = b.trace();
    for (TaskRow& task : trace.tasks) task.flops = 1000;
    trace.messages.push_back(
        {.direction = Direction::send, .node = 0, .peer = 1, .tag = 1, .bytes = 512, .start = 102, .end = 106});
    trace.messages.push_back(
        {.direction = Direction::receive, .node = 1, .peer = 0, .tag = 1, .bytes = 512, .start = 103, .end = 108});
    trace.messages.push_back(
        {.direction = Direction::send, .node = 1, .peer = 0, .tag = 2, .bytes = 100, .start = 160, .end = 165});
    trace.memory = {{0, 0, 8, 4096}, {0, 0, 55, 4096}, {1, 0, 100, 2048}, {0, 0, 150, -4096}, {0, 0, 210, -4096}};
    return trace;
}

std::size_t row_of(const Table& table, const std::string& column, const std::string& value) {
    const Names& names = table.names(column);
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (names.at(row) == value) return row;
    ADD_FAILURE() << value << " is not in column " << column;
    return 0;
}

TEST(Utilisation, IsTheShareOfTimeInKernels) {
    const Table table = utilisation(example());
    const auto value = [&](const std::string& name, const std::string& column) {
        return table.reals(column)[row_of(table, "name", name)];
    };
    EXPECT_DOUBLE_EQ(value("all", "utilisation"), (120.0 + 40 + 40) / 600);
    EXPECT_DOUBLE_EQ(value("cpu", "utilisation"), 160.0 / 400);
    EXPECT_DOUBLE_EQ(value("cuda", "utilisation"), 40.0 / 200);
    EXPECT_DOUBLE_EQ(value("0", "utilisation"), 160.0 / 400);
    EXPECT_DOUBLE_EQ(value("1", "utilisation"), 40.0 / 200);
    EXPECT_DOUBLE_EQ(value("0/cpu", "utilisation"), 120.0 / 200);
    EXPECT_DOUBLE_EQ(value("0/0", "utilisation"), 120.0 / 200);
    // The first 95 % end at 190: gemm has run for 70 of its 80.
    EXPECT_DOUBLE_EQ(value("0/0", "utilisation_95"), 110.0 / 190);
    EXPECT_DOUBLE_EQ(value("all", "utilisation_95"), 190.0 / 570);
    EXPECT_DOUBLE_EQ(value("0/0", "busy"), 120 * ns);
}

/// A core and two cards, the first with two streams:
///
///   0 (cpu)     |0-100|
///   1 (card 0)  |..10-40..|...60-80...|
///   2 (card 0)  |..20-50..|...80-90...|
///   3 (card 1)  |.......40-80.........|
TEST(Utilisation, OfACardIsTheShareOfTimeInWhichAnyOfItsStreamsRunsAKernel) {
    TraceBuilder b;
    const Code core = b.worker(0, 0);
    const Code first = b.stream(0, 1, 0);
    const Code second = b.stream(0, 2, 0);
    const Code other = b.stream(0, 3, 1);
    b.task("k", core, {0, 0, 0, 100}, {});
    b.task("k", second, {0, 0, 20, 50}, {});
    b.task("k", first, {0, 0, 10, 40}, {});
    b.task("k", first, {0, 0, 60, 80}, {});
    b.task("k", second, {0, 0, 80, 90}, {});
    b.task("k", other, {0, 0, 40, 80}, {});
    const Trace& trace = b.trace();
    const Table table = utilisation(trace);
    const auto value = [&](const std::string& name) { return table.reals("utilisation")[row_of(table, "name", name)]; };
    EXPECT_DOUBLE_EQ(value("0/1"), (40.0 + 30) / 100);
    EXPECT_DOUBLE_EQ(value("cuda"), (70.0 + 40) / 200);
    EXPECT_DOUBLE_EQ(value("all"), (100.0 + 70 + 40) / 300);
    EXPECT_DOUBLE_EQ(occupancy(trace).reals("occupancy")[0], (25.0 + 15 + 0) / 75);
    EXPECT_DOUBLE_EQ(area_of_this_schedule(trace), 70 * ns);
    const Summary summary = summarise(trace, dependency_graph(trace));
    EXPECT_EQ(summary.workers, 3);
    EXPECT_NEAR(summary.idle.total(), (30 + 60) * ns, 1e-15);
}

TEST(Occupancy, SplitsTheRunIntoFourParts) {
    const Table table = occupancy(example());
    ASSERT_EQ(table.rows(), 4U);
    const double available = 3 * 50;
    EXPECT_DOUBLE_EQ(table.reals("occupancy")[0], 40 / available);
    EXPECT_DOUBLE_EQ(table.reals("occupancy")[1], 40 / available);
    EXPECT_DOUBLE_EQ(table.reals("occupancy")[2], (40.0 + 30) / available);
    EXPECT_DOUBLE_EQ(table.reals("occupancy")[3], 50 / available);
}

TEST(Delays, AreFromDataToReadyAndFromReadyToStart) {
    const Trace trace = example();
    const Table table = delays(trace, dependency_graph(trace));
    const auto& data = table.reals("data_delay");
    const auto& ready = table.reals("ready_delay");
    const std::vector<double> expected_data{5, 2, 8, 1};
    const std::vector<double> expected_ready{5, 8, 2, 19};
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_NEAR(data[k], expected_data[k] * ns, 1e-15) << k;
        EXPECT_NEAR(ready[k], expected_ready[k] * ns, 1e-15) << k;
    }
}

TEST(CriticalPath, GoesThroughTheLongestChain) {
    const Trace trace = example();
    const CriticalPath path = critical_path(trace, dependency_graph(trace));
    EXPECT_EQ(path.length, 40 + 40 + 80);
    EXPECT_EQ(path.tasks, (std::vector<std::uint32_t>{0, 1, 3}));
    const Table table = critical_path_table(trace, path);
    EXPECT_TRUE(std::isnan(table.reals("wait")[0]));
    EXPECT_NEAR(table.reals("wait")[1], 10 * ns, 1e-15);
    EXPECT_NEAR(table.reals("wait")[2], 20 * ns, 1e-15);
}

TEST(Idle, IsClassifiedByWhatTheNodeCouldHaveDone) {
    const Trace trace = example();
    const auto idle = idle_time(trace, dependency_graph(trace));
    ASSERT_EQ(idle.size(), 3U);
    // Node 0: enabled but not ready (data) 0-5, 50-52, 100-101; ready but not started (runtime) 5-10, 52-60, 101-120.
    // Its core is idle 0-10 and 50-120.
    // The second task ran on the GPU.
    EXPECT_NEAR(idle[0].data, (5 + 1) * ns, 1e-15);
    EXPECT_NEAR(idle[0].runtime, (5 + 19) * ns, 1e-15);
    EXPECT_NEAR(idle[0].other_kind, (2 + 8) * ns, 1e-15);
    EXPECT_NEAR(idle[0].no_ready_task, 40 * ns, 1e-15);
    // Its GPU is idle 0-60 and 100-200.
    EXPECT_NEAR(idle[1].data, 2 * ns, 1e-15);
    EXPECT_NEAR(idle[1].runtime, 8 * ns, 1e-15);
    EXPECT_NEAR(idle[1].other_kind, (5 + 5 + 1 + 19) * ns, 1e-15);
    EXPECT_NEAR(idle[1].no_ready_task, (160 - 8 - 32) * ns, 1e-15);
    // Node 1: its only task waits for data 100-108, is ready 108-110.
    EXPECT_NEAR(idle[2].data, 8 * ns, 1e-15);
    EXPECT_NEAR(idle[2].runtime, 2 * ns, 1e-15);
    EXPECT_NEAR(idle[2].no_ready_task, (100 + 50) * ns, 1e-15);
}

RC_GTEST_PROP(Idle, AndBusyTimeFillTheRun, ()) {
    TraceBuilder b(2);
    const std::vector<Code> workers{b.worker(0, 0), b.worker(0, 1), b.worker(1, 0)};
    std::vector<Time> free(3, 0);
    const int tasks = *rc::gen::inRange(1, 60);
    for (int k = 0; k < tasks; ++k) {
        const auto w = static_cast<std::size_t>(*rc::gen::inRange(0, 3));
        const Time start = free[w] + *rc::gen::inRange(0, 30);
        free[w] = start + *rc::gen::inRange(0, 30);
        const Time ready = std::max<Time>(0, start - *rc::gen::inRange(0, 20));
        b.task("k", workers[w], {0, ready, start, free[w]},
               {pack_access(static_cast<std::uint64_t>(*rc::gen::inRange(0, 6)),
                            static_cast<Use>(*rc::gen::inRange(0, 4)))});
    }
    const Trace& trace = b.trace();
    const auto idle = idle_time(trace, dependency_graph(trace));
    const Table busy = utilisation(trace);
    const double makespan = 1e-9 * static_cast<double>(run_interval(trace).length());
    double sum = busy.reals("busy").front();
    for (const IdleTime& time : idle) sum += time.total();
    RC_ASSERT(std::abs(sum - 3 * makespan) < 1e-12);
}

TEST(Area, OfAScheduleIsTheTimeOfEachNodesWorkersSpreadEvenly) {
    TraceBuilder b(2);
    const Code w = b.worker(0, 0);
    b.worker(0, 1);
    const Code other = b.worker(1, 0);
    b.task("a", w, {0, 0, 0, 30});
    b.task("b", w, {0, 0, 30, 40});
    b.task("c", other, {0, 0, 0, 25});
    EXPECT_DOUBLE_EQ(area_of_this_schedule(b.trace()), 25 * ns);
}

TEST(LowerBounds, NeedTheDurationsOfEveryTaskOnEveryKindOfWorker) {
    TraceBuilder b;
    const Code cpu = b.worker(0, 0);
    const Code gpu = b.worker(0, 1, "cuda");
    Trace& trace = b.trace();
    EXPECT_FALSE(lower_bounds(trace, dependency_graph(trace)).has_value());
    trace.workers[0].group = 0;
    trace.workers[1].group = 1;
    trace.works = {{0, {100 * ns, 10 * ns}}, {0, {30 * ns, std::numeric_limits<double>::infinity()}}};
    b.task("gemm", cpu, {0, 0, 0, 100}, {pack_access(1, Use::read_write)}).work = 0;
    b.task("gemm", gpu, {0, 0, 100, 110}, {pack_access(1, Use::read_write)}).work = 0;
    TaskRow& io = b.task("io", cpu, {0, 0, 110, 155}, {pack_access(1, Use::read_write)});
    EXPECT_FALSE(lower_bounds(trace, dependency_graph(trace)).has_value());
    io.work = 1;
    io.factor = 1.5;
    const auto bounds = lower_bounds(trace, dependency_graph(trace));
    ASSERT_TRUE(bounds.has_value());
    EXPECT_DOUBLE_EQ(bounds->critical_path, (10 + 10 + 45) * ns);
    EXPECT_NEAR(bounds->area, 45 * ns, 1e-18);  // io on the core; both products fit the GPU meanwhile
    EXPECT_DOUBLE_EQ(bounds->lower(), 65 * ns);
}

TEST(Tables, CountMessagesMemoryLoadAndSteps) {
    const Trace trace = example();
    const Table bytes = communication(trace);
    EXPECT_EQ(bytes.integers("from"), (Integers{0, 1}));
    EXPECT_EQ(bytes.integers("to"), (Integers{1, 0}));
    EXPECT_EQ(bytes.integers("messages"), (Integers{1, 1}));
    EXPECT_EQ(bytes.reals("bytes"), (Reals{512, 100}));

    EXPECT_EQ(memory_over_time(trace).integers("bytes"), (Integers{4096, 8192, 2048, 4096, 0}));

    const Table per_node = load(trace);
    EXPECT_EQ(per_node.integers("tasks"), (Integers{3, 1}));
    EXPECT_DOUBLE_EQ(per_node.reals("relative")[0], 160.0 / 100);
    EXPECT_DOUBLE_EQ(per_node.reals("relative")[1], 40.0 / 100);
    EXPECT_EQ(per_node.reals("flops"), (Reals{3000, 1000}));

    const Table by_step = steps(trace);
    EXPECT_EQ(by_step.integers("step"), (Integers{0, 1, 2}));
    EXPECT_EQ(by_step.integers("tasks"), (Integers{1, 2, 1}));
    EXPECT_DOUBLE_EQ(by_step.reals("start")[1], 60 * ns);
    EXPECT_DOUBLE_EQ(by_step.reals("end")[1], 150 * ns);

    const Table phases = time_per_phase(trace);
    EXPECT_DOUBLE_EQ(phases.reals("span")[row_of(phases, "phase", "main")], 140 * ns);
    EXPECT_DOUBLE_EQ(phases.reals("busy")[row_of(phases, "phase", "main")], 120 * ns);
    EXPECT_DOUBLE_EQ(phases.reals("busy")[row_of(phases, "phase", "update")], 80 * ns);

    const Table kernels = time_per_kernel(trace);
    EXPECT_DOUBLE_EQ(kernels.reals("gflops")[row_of(kernels, "kernel", "gemm")], 1000.0 / 80);
}

/// A task that writes a tile of the only matrix, in column 0.
struct RankedTask {
    Time end = 0;
    std::int32_t i = 0;
    std::int32_t rank = -1;
    Use use = Use::read_write;
};
Table ranks_after(const std::vector<RankedTask>& tasks) {
    TraceBuilder b;
    const Code w = b.worker(0, 0);
    b.trace().matrices.push_back({"A", 0, 2, 2});
    for (const RankedTask& of : tasks) {
        const auto datum = static_cast<std::uint64_t>(2 * of.i);
        TaskRow& task =
            b.task("k", w, {0, 0, of.end - 5, of.end}, {pack_access(3, Use::read), pack_access(datum, of.use)});
        task.matrix = 0;
        task.i = of.i;
        task.rank = of.rank;
    }
    return ranks(b.trace());
}

TEST(Ranks, AreThoseAfterTheFirstAndTheLastTaskOfATile) {
    const Table table = ranks_after({{30, 1, 9}, {10, 1, 4}, {20, 1, 7}, {40, 0, -1}});
    EXPECT_EQ(table.integers("i"), (Integers{0, 1}));
    EXPECT_EQ(table.integers("before"), (Integers{-1, 4}));
    EXPECT_EQ(table.integers("after"), (Integers{-1, 9}));
}

TEST(Ranks, OfATileThatIsMadeAgainAreThoseOfTheLastTime) {
    const Table table = ranks_after({{10, 1, 4, Use::write}, {20, 1, 7}, {30, 1, 5, Use::write}, {40, 1, 8}});
    EXPECT_EQ(table.integers("before"), (Integers{5}));
    EXPECT_EQ(table.integers("after"), (Integers{8}));
}

TEST(Summary, HoldsTheFiguresOfTheRun) {
    const Trace trace = example();
    const Summary s = summarise(trace, dependency_graph(trace));
    EXPECT_DOUBLE_EQ(s.makespan, 200 * ns);
    EXPECT_EQ(s.tasks, 4);
    EXPECT_EQ(s.unfinished, 0);
    EXPECT_DOUBLE_EQ(s.critical_path, 160 * ns);
    EXPECT_FALSE(s.bounds.has_value());
    EXPECT_LE(s.area_of_this_schedule, s.makespan);
    EXPECT_DOUBLE_EQ(s.bytes, 612);
    EXPECT_DOUBLE_EQ(s.peak_memory, 8192);
    EXPECT_TRUE(s.complete);
    nlohmann::ordered_json json;
    to_json(json, s);
    for (const char* key : {"makespan", "tasks", "utilisation", "critical_path", "area_of_this_schedule", "bytes"})
        EXPECT_TRUE(json.contains(key)) << key;
}

TEST(Summary, OfNothingIsZero) {
    const Trace trace = TraceBuilder().trace();
    const Summary s = summarise(trace, dependency_graph(trace));
    EXPECT_EQ(s.makespan, 0);
    EXPECT_EQ(s.utilisation, 0);
    EXPECT_EQ(s.critical_path, 0);
    for (const TableName& table : table_names(trace))
        EXPECT_NO_THROW((void)make_table(trace, dependency_graph(trace), table.name)) << table.name;
}

TEST(Difference, PutsWhatChangedMostFirst) {
    Trace slower = example();
    slower.tasks[3].end += 50;  // gemm
    slower.tasks[2].end += 10;  // syrk
    const Table table = difference(example(), slower);
    EXPECT_NEAR(table.reals("change")[row_of(table, "name", "makespan")], 50 * ns, 1e-15);
    const std::size_t gemm = row_of(table, "name", "gemm");
    const std::size_t syrk = row_of(table, "name", "syrk");
    EXPECT_LT(gemm, syrk);
    EXPECT_NEAR(table.reals("change")[gemm], 50 * ns, 1e-15);
    EXPECT_NEAR(table.reals("ratio")[gemm], 130.0 / 80, 1e-12);
    EXPECT_NEAR(table.reals("change")[row_of(table, "name", "potrf")], 0, 1e-15);
}

TEST(Tables, AreFoundByNameOrRefusedWithTheKnownNames) {
    const Trace trace = example();
    const Graph graph = dependency_graph(trace);
    EXPECT_EQ(make_table(trace, graph, "edges").rows(), 3U);
    EXPECT_EQ(make_table(trace, graph, "tasks").rows(), 4U);
    try {
        (void)make_table(trace, graph, "task");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("critical_path"), std::string::npos);
    }
}

TEST(Csv, QuotesNamesAndMarksWhatIsNotKnown) {
    const Table table{"t",
                      {{"name", Names{{0, 1, -1}, {"plain", "a,\"b\""}}},
                       {"x", Reals{0.1, std::nan(""), 3}},
                       {"n", Integers{1, -2, 3}}}};
    EXPECT_EQ(to_csv(table), "name,x,n\nplain,0.1,1\n\"a,\"\"b\"\"\",NA,-2\n,3,3\n");
}

}  // namespace
}  // namespace tesela::trace::analysis_test
