#include "schedule_check.hpp"
#include "support.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/access_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace tesela::engine_test {
namespace {

using namespace testing;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr double gemm_on_core = 2.3e-3;
constexpr double gemm_on_gpu = 0.23e-3;
constexpr double laset = 0.1e-3;
constexpr double tile_to_gpu = tile_of_doubles / 1e10;

const SimulationOptions no_submission{.submission_seconds = 0, .passing_seconds = 0};

TEST(SimulatedEngine, TakesAsLongAsSubmissionWhereTasksAreShort) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 64)})};
    simulate(simulated, {.submission_seconds = 1e-3}, [](Stream& s) { zero_tiles(s, 50); });
    EXPECT_NEAR(simulated.result.makespan, 50 * 1e-3 + laset, 1e-12);
}

TEST(SimulatedEngine, PassesOverWhatDoesNotConcernANode) {
    Simulated simulated{.platform = platform_of({cores("node", 2, 64)})};
    simulate(simulated, {.submission_seconds = 1e-3, .passing_seconds = 1e-4}, [](Stream& s) {
        const Matrix<double> A(s, Tiling::uniform({tile_size, 11 * tile_size}, {tile_size, tile_size}),
                               Distribution({1, 11}, 2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
        for (Index j = 0; j < 11; ++j) s.submit(tasks::laset({}, A(0, j)));
        require_done(s.wait());
    });
    const auto& last = *std::ranges::find(simulated.schedule->tasks, 1, &ScheduledTask::node);
    EXPECT_NEAR(last.submitted, 10 * 1e-4 + 1e-3, 1e-12);
}

TEST(SimulatedEngine, HoldsSubmissionBackWhileTooManyTasksArePending) {
    Platform platform = platform_of({cores("node", 1, 64)});
    SimulatedEngine engine(platform, {.submission_seconds = 1e-6});
    Stream s(engine, {.max_pending = 1});
    zero_tiles(s, 20);
    EXPECT_NEAR(engine.result().makespan, 1e-6 + 20 * laset, 1e-12);  // one after the other, although 64 could run
}

TEST(SimulatedEngine, TakesSubmissionAndTasksAsThePlatformSays) {
    Platform platform = platform_of({cores("node", 1, 1)});
    platform.node_types[0].runtime = {.submission = 1e-3, .task = 2e-3};
    Simulated simulated{.platform = platform};
    simulate(simulated, {}, [](Stream& s) { zero_tiles(s, 5); });
    EXPECT_NEAR(simulated.result.makespan, 1e-3 + 5 * (2e-3 + laset), 1e-12);
    for (const ScheduledTask& task : simulated.schedule->tasks) EXPECT_NEAR(task.end - task.start, laset, 1e-12);
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
}

TEST(SimulatedEngine, LetsCoresTakeTasksOneAfterTheOther) {
    Platform platform = platform_of({cores("node", 1, 4)});
    platform.node_types[0].runtime = {.submission = 0, .passing = 0, .task = 2e-3, .turn = 1e-3};
    Simulated simulated{.platform = platform};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 2, all_on(1, 0, {2, 2}));
        for (Index j = 0; j < 2; ++j)
            for (Index i = 0; i < 2; ++i) s.submit(tasks::laset({}, A(i, j)));
        require_done(s.wait());
    });
    std::vector<double> starts;
    for (const ScheduledTask& task : simulated.schedule->tasks) starts.push_back(task.start);
    EXPECT_THAT(starts, UnorderedElementsAre(DoubleNear(2e-3, 1e-12), DoubleNear(3e-3, 1e-12), DoubleNear(4e-3, 1e-12),
                                             DoubleNear(5e-3, 1e-12)));
    EXPECT_NEAR(simulated.result.makespan, 5e-3 + laset, 1e-12);
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
}

/// Node 0 sends a tile while it computes, on so many cores; node 1 does nothing but receive it.
double end_of_sender(Index workers, const RuntimeCosts& runtime) {
    Platform platform = platform_of({cores("node", 2, workers)});
    platform.node_types[0].runtime = runtime;
    Simulated simulated{.platform = platform};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto B = given(s, 2, all_on(2, 1, {2, 2}), Stored::full, "B");
        const auto C = given(s, 1, all_on(2, 0, {1, 1}), Stored::full, "C");
        const auto D = given(s, 1, all_on(2, 0, {1, 1}), Stored::full, "D");
        s.submit(tasks::gemm(1.0, D(0, 0), D(0, 0), 1.0, C(0, 0)));
        s.submit(tasks::gemm(1.0, A(0, 0), A(0, 0), 1.0, B(0, 0)));
        require_done(s.wait());
    });
    return std::ranges::find(simulated.schedule->tasks, 0, &ScheduledTask::node)->end;
}

TEST(SimulatedEngine, TakesTheTimeOfAMessageFromCoresThatAreBusy) {
    const RuntimeCosts runtime{.message = 1e-4, .message_bandwidth = 1e9};
    EXPECT_NEAR(end_of_sender(1, runtime), gemm_on_core + 1e-4 + tile_of_doubles / 1e9, 1e-12);
    EXPECT_NEAR(end_of_sender(2, runtime), gemm_on_core, 1e-12);  // the other core has the time
    EXPECT_NEAR(end_of_sender(1, {}), gemm_on_core, 1e-12);
}

TEST(SimulatedEngine, WaitsForAllNodesAtAWait) {
    Simulated simulated{.platform = platform_of({cores("node", 2, 1)})};
    simulate(simulated, no_submission, [](Stream& s) {
        const Matrix<double> A(s, Tiling::uniform({tile_size, 4 * tile_size}, {tile_size, tile_size}),
                               Distribution({1, 4}, 2, {0, 0, 0, 1}));
        for (Index j = 0; j < 3; ++j) s.submit(tasks::laset({}, A(0, j)));
        require_done(s.wait());
        s.submit(tasks::laset({}, A(0, 3)));  // node 1 has been idle
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.makespan, 4 * laset, 1e-12);
    EXPECT_NEAR(simulated.result.lower_bound, 4 * laset, 1e-12);
}

TEST(SimulatedEngine, SendsACopyOnceAndKeepsItUntilItIsRetired) {
    Simulated simulated{.platform = platform_of({cores("node", 2, 1)})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(2, 0, {1, 1}));
        const auto B = given(s, 2, all_on(2, 1, {2, 2}), Stored::full, "B");
        const auto read = [&](Index i, Index j) { s.submit(tasks::gemm(1.0, A(0, 0), A(0, 0), 1.0, B(i, j))); };
        read(0, 0);
        read(0, 1);
        require_done(s.wait());
        read(1, 0);  // copies outlive a wait
        s.retire(A(0, 0));
        read(1, 1);
        require_done(s.wait());
    });
    EXPECT_EQ(simulated.result.transfers, 2);
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
    // Node 1 has four tiles and, one at a time, the copy.
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(tile_of_doubles, 5 * tile_of_doubles));
}

TEST(SimulatedEngine, MovesTilesAndFetchesValues) {
    Simulated simulated{.platform = platform_of({cores("node", 3, 1)})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 1, all_on(3, 0, {1, 1}));
        s.move(A(0, 0), NodeId{2});
        const auto B = given(s, 1, all_on(3, 2, {1, 1}), Stored::full, "B");
        s.submit(tasks::gemm(1.0, B(0, 0), B(0, 0), 1.0, A(0, 0)));  // runs where the tile is now
        const auto fetched = s.fetch(A(0, 0));
        require_done(s.wait());
        fetched->wait();
        EXPECT_FALSE(fetched->has_value());
    });
    ASSERT_EQ(simulated.schedule->tasks.size(), 1U);
    EXPECT_EQ(simulated.schedule->tasks[0].node, 2);
    EXPECT_EQ(simulated.result.transfers, 3);
    EXPECT_EQ(simulated.result.transfers, count_transfers(simulated.recording).messages);
}

TEST(SimulatedEngine, RunsCommutingTasksOneAtATime) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 8)})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 2, all_on(1, 0, {2, 2}));
        for (int k = 0; k < 5; ++k)
            s.submit(Task::unchecked(Dense<double>::geadd,
                                     {{A(0, 0), AccessMode::read}, {A(1, 1), AccessMode::commute}}, GeaddArguments{}));
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.makespan, 5 * 0.2e-3, 1e-12);
    EXPECT_NEAR(simulated.result.critical_path, 0.2e-3, 1e-12);
}

TEST(SimulatedEngine, SimulatesTheLocalSolveWithItsReductions) {
    Simulated simulated{.platform = mixed_platform()};
    simulate(simulated, {}, [](Stream& s) {
        const auto owners = random_distribution({7, 7}, 5, 2);
        const auto L = given(s, 7, owners, Stored::lower);
        const Matrix<double> b(s, L.tiling().with_columns(tile_size, tile_size), along_diagonal(owners, 1),
                               {.name = "b", .memory = [](TileIndex) { return TileMemory{}; }});
        solve_triangular(s, L.view(), b.view());
        require_done(s.wait());
    });
    EXPECT_EQ(simulated.result.tasks, simulated.recording.task_count());
    EXPECT_EQ(simulated.result.transfers, count_transfers(simulated.recording).messages);
    EXPECT_GE(simulated.result.makespan, simulated.result.lower_bound);
}

/// The makespan of ten tasks that need a reader, of which tasks ask for so many and the node has so many.
double ten_reads(int at_most, std::optional<Index> of_node) {
    Platform platform = platform_of({cores("node", 1, 64)});
    if (of_node) platform.node_types[0].limits["reader"] = *of_node;
    Simulated simulated{.platform = platform};
    simulate(simulated, no_submission, [&](Stream& s) {
        const Matrix<double> A(s, Tiling::uniform({tile_size, 10 * tile_size}, {tile_size, tile_size}),
                               all_on(1, 0, {1, 10}));
        for (Index j = 0; j < 10; ++j) s.submit(tasks::laset({}, A(0, j)).needs({"reader", at_most}));
    });
    return simulated.result.makespan;
}

TEST(SimulatedEngine, KeepsLimitedResources) {
    EXPECT_NEAR(ten_reads(3, std::nullopt), 4 * laset, 1e-12);  // 10 in threes
    EXPECT_NEAR(ten_reads(5, 3), 4 * laset, 1e-12);
    EXPECT_NEAR(ten_reads(2, 3), 5 * laset, 1e-12);
}

/// The makespan of ten tasks of one kernel and ten of another on a node of 64 cores, and where a node type has these
/// limits.
double ten_of_each(const std::map<std::string, Index>& limits) {
    Platform platform = platform_of({cores("node", 1, 64)});
    platform.node_types[0].limits = limits;
    Simulated simulated{.platform = platform};
    simulate(simulated, no_submission, [&](Stream& s) {
        const auto A = given(s, 10, all_on(1, 0, {10, 10}));
        for (Index j = 0; j < 10; ++j) s.submit(tasks::laset({}, A(0, j)));
        for (Index j = 0; j < 10; ++j) s.submit(tasks::potrf(A(1, j)));
    });
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
    return simulated.result.makespan;
}

TEST(SimulatedEngine, KeepsLimitsOfKernelsThatThePlatformNames) {
    constexpr double potrf = 0.7e-3;
    EXPECT_NEAR(ten_of_each({}), potrf, 1e-12);
    EXPECT_NEAR(ten_of_each({{"dlaset", 1}}), 10 * laset, 1e-12);
    EXPECT_NEAR(ten_of_each({{"dpotrf", 4}}), 3 * potrf, 1e-12);
    EXPECT_NEAR(ten_of_each({{"dpotrf", 4}, {"dlaset", 2}, {"reader", 1}}), 3 * potrf, 1e-12);
}

TEST(SimulatedEngine, LimitsAKernelWhereItsNodeSaysSoAndItsTasksNameNoResource) {
    Platform platform = platform_of({cores("few", 1, 64), cores("many", 1, 64)});
    platform.node_types[0].limits["dlaset"] = 2;
    Simulated simulated{.platform = platform};
    const LimitedResource readers{"reader", 5};
    simulate(simulated, no_submission, [&](Stream& s) {
        const auto fill = [&](std::int32_t node, const std::function<Task(Task)>& with) {
            const Matrix<double> A(s, Tiling::uniform({tile_size, 10 * tile_size}, {tile_size, tile_size}),
                                   all_on(2, node, {1, 10}));
            for (Index j = 0; j < 10; ++j) s.submit(with(tasks::laset({}, A(0, j))));
        };
        fill(0, [](const Task& task) { return task; });
        fill(0, [&](Task task) { return task.needs(readers); });
        fill(1, [](const Task& task) { return task; });
    });
    std::map<double, int> ends_on_few;
    for (const ScheduledTask& task : simulated.schedule->tasks) {
        if (task.node == 0) ++ends_on_few[std::round(task.end / laset)];
        if (task.node == 1) {
            EXPECT_NEAR(task.end, laset, 1e-12);
        }
    }
    EXPECT_EQ(ends_on_few, (std::map<double, int>{{1, 7}, {2, 7}, {3, 2}, {4, 2}, {5, 2}}));
}

TEST(SimulatedEngine, GivesCriticalTasksAWorkerOfTheirOwn) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 1)})};
    SimulationOptions options = no_submission;
    options.critical = CriticalWorker::shared_core;
    simulate(simulated, options, [](Stream& s) {
        const auto A = given(s, 2, all_on(1, 0, {2, 2}));
        s.submit(tasks::laset({}, A(0, 0)));
        s.submit(tasks::laset({}, A(0, 1)));
        s.submit(tasks::potrf(A(1, 1)).critical());
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.makespan, 0.7e-3, 1e-12);
}

// --- GPUs
// -------------------------------------------------------------------------------------------------------------

/// One node with one core and a GPU.
Platform one_gpu(const Gpus& gpus) { return platform_of({with_gpus(cores("node", 1, 1), gpus)}); }

void multiply(Stream& s, const Matrix<double>& A, Index i) {
    s.submit(tasks::gemm(1.0, A(i, 0), A(i, 1), 1.0, A(i, 2)));
}

TEST(SimulatedGpu, WaitsForItsData) {
    Simulated simulated{.platform = one_gpu({})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 3, all_on(1, 0, {3, 3}));
        multiply(s, A, 0);
        require_done(s.wait());
        multiply(s, A, 0);  // the tiles are still there
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.schedule->tasks[0].end, 3 * tile_to_gpu + gemm_on_gpu, 1e-12);
    EXPECT_NEAR(simulated.schedule->tasks[1].end, 3 * tile_to_gpu + 2 * gemm_on_gpu, 1e-12);
}

TEST(SimulatedGpu, BringsResultsBackBeforeTheyAreSent) {
    Simulated simulated{.platform = platform_of({with_gpus(cores("node", 2, 1, {1e9, 0}), {})})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 3, all_on(2, 0, {3, 3}));
        multiply(s, A, 0);
        s.move(A(0, 2), NodeId{1});
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.makespan, 3 * tile_to_gpu + gemm_on_gpu + tile_to_gpu + tile_of_doubles / 1e9, 1e-12);
}

TEST(SimulatedGpu, SharesItselfAmongStreams) {
    // Three kernels at once take three times as long each, so together as long as one after the other.
    Simulated simulated{.platform = one_gpu({.streams = 3})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 3, all_on(1, 0, {3, 3}));
        for (Index i = 0; i < 3; ++i) multiply(s, A, i);
        require_done(s.wait());
        for (Index i = 0; i < 3; ++i) multiply(s, A, i);
        require_done(s.wait());
    });
    double first = 1e300;
    double last = 0;
    for (std::size_t k = 3; k < 6; ++k) {
        first = std::min(first, simulated.schedule->tasks[k].start);
        last = std::max(last, simulated.schedule->tasks[k].end);
        EXPECT_NEAR(simulated.schedule->tasks[k].end - simulated.schedule->tasks[k].start, 3 * gemm_on_gpu, 1e-12);
    }
    EXPECT_NEAR(last - first, 3 * gemm_on_gpu, 1e-12);
}

TEST(SimulatedGpu, EvictsWhatWasNotUsedForLongestAndNeverHoldsMoreThanItCan) {
    const Index rows = 12;
    Simulated simulated{.platform = one_gpu({.memory = 7 * tile_of_doubles})};
    simulate(simulated, no_submission, [&](Stream& s) {
        const auto A = given(s, rows, all_on(1, 0, {rows, rows}));
        for (int round = 0; round < 3; ++round)
            for (Index i = 0; i < rows; ++i) multiply(s, A, i);
        require_done(s.wait());
    });
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
    double brought = 0;
    for (const ScheduledMemory& change : simulated.schedule->memory_changes)
        if (change.memory == 1 && change.bytes > 0) brought += change.bytes;
    EXPECT_GE(brought, 3 * rows * tile_of_doubles);  // nothing survives from one round to the next
}

TEST(SimulatedGpu, IsNotGivenTasksWhoseTilesItCannotHold) {
    Simulated simulated{.platform = one_gpu({.memory = 2 * tile_of_doubles})};
    simulate(simulated, no_submission, [](Stream& s) {
        multiply(s, given(s, 3, all_on(1, 0, {3, 3})), 0);
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.makespan, gemm_on_core, 1e-12);
}

TEST(SimulatedGpu, IsChosenByTheEarliestFinish) {
    // The GPU takes ten products while a core takes one: of 22, data being there, the core ends up with two.
    Simulated simulated{.platform = one_gpu({.count = 1})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 22, all_on(1, 0, {22, 22}));
        for (Index i = 0; i < 22; ++i) multiply(s, A, i);
        require_done(s.wait());
    });
    const auto on_core = std::ranges::count(simulated.schedule->tasks, 0, &ScheduledTask::worker);
    EXPECT_GE(on_core, 1);
    EXPECT_LE(on_core, 3);
}

// --- bounds, ranks, memory, errors
// --------------------------------------------------------------------------------------

TEST(SimulatedBounds, AreTheFractionalOptimumForTwoKindsOfWorkers) {
    Simulated simulated{.platform = platform_of({with_gpus(cores("node", 1, 4), {.count = 2, .streams = 5})})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 30, all_on(1, 0, {30, 30}));
        for (Index i = 0; i < 30; ++i) multiply(s, A, i);
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.area_bound, 30 / (4 / gemm_on_core + 2 / gemm_on_gpu), 1e-9);
    EXPECT_NEAR(simulated.result.critical_path, gemm_on_gpu, 1e-12);
}

TEST(SimulatedBounds, PutEachKernelWhereItIsRelativelyFaster) {
    // 8 potrf (0.7 ms on the core, 2 ms on the GPU) and 10 gemm (2.3 and 0.23 ms): the core keeps all potrf and, of
    // x gemm on the core, 5.6 + 2.3·x = 2.3 - 0.23·x has no solution, so some potrf go to the GPU instead:
    // 0.7·(8 - y) = 2.3 + 2·y gives y = 11/9 and 0.7·61/9 ms.
    Simulated simulated{.platform = one_gpu({})};
    simulate(simulated, no_submission, [](Stream& s) {
        const auto A = given(s, 10, all_on(1, 0, {10, 10}));
        for (Index i = 0; i < 8; ++i) s.submit(tasks::potrf(A(i, 5)));
        for (Index i = 0; i < 10; ++i) multiply(s, A, i);
        require_done(s.wait());
    });
    EXPECT_NEAR(simulated.result.area_bound, 0.7e-3 * 61 / 9, 1e-9);
    EXPECT_GE(simulated.result.makespan, simulated.result.area_bound);
}

TEST(RankModel, GivesBytesAndWorkOfLowRankTiles) {
    EXPECT_DOUBLE_EQ(tile_bytes({100, 60, 5}, 0), 8 * (100 + 60) * 5 + 8);
    EXPECT_DOUBLE_EQ(tile_bytes({100, 60}, 48000), 48000);
    const TileShape dense{1000, 1000};
    const TileShape low{1000, 1000, 10};
    const auto ratio = [&](const Kernel& kernel, double whole, const std::vector<TileShape>& shapes) {
        return low_rank_work_ratio(kernel, {whole, 0}, shapes);
    };
    const Kernel& gemm = Dense<double>::gemm;
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {dense, dense, dense}), 1);
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {low, low, low}), 36.0 * 1000 * 100 / 2e9);
    EXPECT_DOUBLE_EQ(ratio(Dense<double>::trsm, 1e9, {dense, low}), 1e6 * 10 / 1e9);
    EXPECT_DOUBLE_EQ(ratio(Dense<double>::potrf, 1e9 / 3, {low}), 1);  // which takes no tile of low rank
    EXPECT_DOUBLE_EQ(ratio(Dense<double>::laset, 0, {low}), (8.0 * 2000 * 10 + 8) / 8e6);
}

TEST(RankModel, CountsThatRecompressionTakesLonger) {
    const TileShape dense{1000, 1000};
    const TileShape low{1000, 1000, 10};
    const LogCurve slowness{{10, 6}, {40, 2}};
    const auto ratio = [&](const Kernel& kernel, double whole, const std::vector<TileShape>& shapes) {
        return low_rank_time_ratio(kernel, {whole, 0}, shapes, slowness);
    };
    const Kernel& gemm = Dense<double>::gemm;
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {low, low, low}), 4 * 36.0 * 1000 * 100 / 2e9) << "a sum of rank 20";
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {low, dense, low}), (2 * 1e6 * 10 + 4 * 36.0 * 1000 * 100) / 2e9)
        << "the product itself is dense";
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {dense, dense, dense}), 1);
    EXPECT_DOUBLE_EQ(ratio(gemm, 2e9, {low, dense, dense}),
                     low_rank_work_ratio(gemm, {2e9, 0}, std::vector{low, dense, dense}));
    EXPECT_DOUBLE_EQ(ratio(Dense<double>::trsm, 1e9, {dense, low}), 1e6 * 10 / 1e9);
}

TEST(RankModel, ShortensMessagesAndTasks) {
    Platform platform = platform_of({cores("node", 4, 2)});
    const auto run = [&](RankModel ranks) {
        Simulated simulated{.platform = platform};
        simulate(simulated, {.ranks = std::move(ranks)}, [](Stream& s) {
            submit(s, Algorithm::cholesky, 10, squarest_block_cyclic({10, 10}, 4));
        });
        return simulated;
    };
    RankMap map{.grid = {10, 10}, .ranks = std::vector<Index>(100, 2)};
    for (std::size_t i = 0; i < 10; ++i) map.ranks[11 * i] = dense_rank;
    const Simulated dense = run({});
    const Simulated low = run(ranks_from_maps({{"A", map}}));
    EXPECT_EQ(low.result.transfers, dense.result.transfers);
    EXPECT_LT(low.result.makespan, dense.result.makespan);
    double expected = 0;
    for (const ScheduledMessage& message : low.schedule->messages) {
        const TileIndex at = low.recording.data[static_cast<std::size_t>(message.datum)].index;
        expected += at.i == at.j ? tile_of_doubles : 8.0 * 2 * tile_size * 2 + 8;
    }
    EXPECT_DOUBLE_EQ(low.result.bytes, expected);
    const Simulated other = run(ranks_from_maps({{"B", map}}));
    EXPECT_EQ(other.result.makespan, dense.result.makespan);
    const Simulated synthetic = run(ranks_from_density(synthetic_density(10, {.delta = 8}), tile_size));
    EXPECT_LT(synthetic.result.bytes, dense.result.bytes);
    platform.recompression = {{16, 1000}};  // so that it is more than the critical path
    EXPECT_GT(run(ranks_from_maps({{"A", map}})).result.makespan, low.result.makespan);
    EXPECT_EQ(run({}).result.makespan, dense.result.makespan);
}

TEST(RankModel, ColumnsInSinglePrecisionTravelAsSuch) {
    RankMap map{.grid = {10, 10}, .ranks = std::vector<Index>(100, 2), .singles = std::vector<Index>(100, 1)};
    for (std::size_t i = 0; i < 10; ++i) map.ranks[11 * i] = dense_rank;
    Simulated simulated{.platform = platform_of({cores("node", 4, 2)})};
    simulate(simulated, {.ranks = ranks_from_maps({{"A", map}})}, [](Stream& s) {
        submit(s, Algorithm::cholesky, 10, squarest_block_cyclic({10, 10}, 4));
    });
    double expected = 0;
    for (const ScheduledMessage& message : simulated.schedule->messages) {
        const TileIndex at = simulated.recording.data[static_cast<std::size_t>(message.datum)].index;
        expected += at.i == at.j ? tile_of_doubles : (8.0 + 4.0) * 2 * tile_size + 8;
    }
    EXPECT_DOUBLE_EQ(simulated.result.bytes, expected);
}

TEST(RankModel, MessagesOfOneSizeAreLongerAndTilesAreNot) {
    const auto run = [](Index sent_rank) {
        RankMap map{.grid = {10, 10}, .ranks = std::vector<Index>(100, 2)};
        for (std::size_t i = 0; i < 10; ++i) map.ranks[11 * i] = dense_rank;
        RankModel ranks = ranks_from_maps({{"A", map}});
        ranks.sent_rank = sent_rank;
        Simulated simulated{.platform = platform_of({cores("node", 4, 2)})};
        simulate(simulated, {.ranks = ranks}, [](Stream& s) {
            submit(s, Algorithm::cholesky, 10, squarest_block_cyclic({10, 10}, 4));
        });
        return simulated;
    };
    const Simulated exact = run(0);
    const Simulated padded = run(7);
    double expected = 0;
    for (const ScheduledMessage& message : padded.schedule->messages) {
        const TileIndex at = padded.recording.data[static_cast<std::size_t>(message.datum)].index;
        expected += at.i == at.j ? tile_of_doubles : 8.0 * 2 * tile_size * 7 + 8;
    }
    EXPECT_DOUBLE_EQ(padded.result.bytes, expected);
    EXPECT_LT(exact.result.bytes, padded.result.bytes);
    EXPECT_LT(exact.result.makespan, padded.result.makespan);
    EXPECT_EQ(run(1).result.bytes, exact.result.bytes);  // never shorter than the tile needs
}

TEST(SimulatedCholesky, ADiagonalTileInPartsUsesAllCoresOfItsNode) {
    const auto run = [](Index cores_of_node, Index diagonal_tile) {
        Platform platform = platform_of({cores("node", 1, cores_of_node)});
        for (KernelTime& kernel : platform.node_types[0].workers[0].kernels) kernel.time = RatedKernel{.rate = 1e9};
        Simulated simulated{.platform = platform};
        simulate(simulated, no_submission, [diagonal_tile](Stream& s) {
            cholesky(s, given(s, 1, all_on(1, 0, {1, 1}), Stored::lower), {.diagonal_tile = diagonal_tile});
        });
        return simulated.result.makespan;
    };
    EXPECT_EQ(run(8, 0), run(1, 0));
    EXPECT_LT(run(8, 10), 0.3 * run(8, 0));
    EXPECT_GT(run(1, 10), 0.95 * run(1, 0));
}

TEST(SimulatedEngine, WarnsWhenTilesDoNotFit) {
    Platform platform = platform_of({cores("small", 1, 1), cores("large", 1, 1)});
    platform.node_types[0].memory = 3 * tile_of_doubles;
    Simulated simulated{.platform = platform};
    simulate(simulated, no_submission, [](Stream& s) { zero_tiles(s, 4); });
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(4 * tile_of_doubles, 0));
    ASSERT_EQ(simulated.result.warnings.size(), 1U);
    EXPECT_THAT(simulated.result.warnings[0], HasSubstr("node 0 (small)"));
}

/// Tiles in a row on one node, which the engine allocates.
Matrix<double> row_of(Stream& s, Index tiles, std::int32_t node = 0) {
    return {s, Tiling::uniform({tile_size, tiles * tile_size}, {tile_size, tile_size}),
            all_on(s.engine().node_count(), node, {1, tiles})};
}
void fill(Stream& s, const Matrix<double>& A) {
    for (Index j = 0; j < A.tiling().grid().cols; ++j) s.submit(tasks::laset({}, A(0, j)));
}

TEST(SimulatedEngine, GivesBackWhatAllNodesHoldOfMatricesThatAreGone) {
    Simulated simulated{.platform = platform_of({cores("node", 2, 2)})};
    simulate(simulated, {}, [](Stream& s) {
        const Matrix<double> sum = row_of(s, 1, 1);
        fill(s, sum);
        for (int round = 0; round < 5; ++round) {
            const Matrix<double> part = row_of(s, 3);
            fill(s, part);
            s.submit(tasks::gemm(1.0, part(0, 0), part(0, 1), 1.0, sum(0, 0)));
            require_done(s.wait());
        }
    });
    // Node 0 has the parts of one round at a time; node 1 the sum and copies of two of them.
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(3 * tile_of_doubles, 3 * tile_of_doubles));
    EXPECT_EQ(ScheduleCheck(simulated).broken(), "");
}

TEST(SimulatedEngine, KeepsAMatrixThatIsGoneUntilItsTasksHaveEnded) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 4)})};
    simulate(simulated, {}, [](Stream& s) {
        Matrix<double> last = row_of(s, 1);
        fill(s, last);
        for (int k = 0; k < 6; ++k) {  // all submitted before the first product has ended
            Matrix<double> next = row_of(s, 1);
            s.submit(tasks::gemm(1.0, last(0, 0), last(0, 0), 0.0, next(0, 0)));
            last = std::move(next);
        }
        require_done(s.wait());
    });
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(2 * tile_of_doubles));
    EXPECT_GT(simulated.result.makespan, 6 * gemm_on_core);
}

TEST(SimulatedEngine, GivesAMatrixBackNoEarlierThanTheStreamHasComeThere) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 4)})};
    simulate(simulated, {.submission_seconds = 1e-3}, [](Stream& s) {
        const Matrix<double> other = row_of(s, 3);
        {
            const Matrix<double> gone = row_of(s, 3);
            fill(s, gone);
            require_done(s.wait());
            s.submit(tasks::laset({}, other(0, 0)));
            s.submit(tasks::laset({}, other(0, 1)));
        }
        s.submit(tasks::laset({}, other(0, 2)));
        require_done(s.wait());
    });
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(4 * tile_of_doubles));
}

TEST(SimulatedEngine, LeavesTheCallersMemoryWithTheCaller) {
    Simulated simulated{.platform = platform_of({cores("node", 2, 2)})};
    simulate(simulated, no_submission, [](Stream& s) {
        const Matrix<double> other = row_of(s, 2, 1);
        {
            const auto A = given(s, 1, all_on(2, 0, {1, 1}));
            s.submit(tasks::gemm(1.0, A(0, 0), A(0, 0), 0.0, other(0, 0)));
            require_done(s.wait());
        }
        s.submit(tasks::laset({}, other(0, 1)));
        require_done(s.wait());
    });
    double left = 0;
    for (const ScheduledMemory& change : simulated.schedule->memory_changes)
        if (change.node == 0) left += change.bytes;
    EXPECT_DOUBLE_EQ(left, tile_of_doubles);
    EXPECT_THAT(simulated.result.memory_peak, ElementsAre(tile_of_doubles, 2 * tile_of_doubles));
}

TEST(SimulatedEngine, NamesAKernelThatNoWorkerHas) {
    Platform platform = platform_of({cores("node", 1, 1)});
    std::erase_if(platform.node_types[0].workers[0].kernels, [](const KernelTime& k) { return k.kernel == "dtrsm"; });
    EXPECT_THAT(error_of([&] {
                    SimulatedEngine engine(platform);
                    Stream s(engine);
                    submit(s, Algorithm::cholesky, 3, squarest_block_cyclic({3, 3}, 1));
                }),
                HasSubstr("dtrsm"));
}

TEST(SimulatedEngine, RefusesWhatMakesNoSense) {
    EXPECT_THAT(error_of([] { SimulatedEngine({}, {}); }), HasSubstr("node_types"));
    const Platform platform = platform_of({cores("node", 1, 1)});
    EXPECT_THAT(error_of([&] { SimulatedEngine(platform, {.noise = -1}); }), HasSubstr("noise"));
    SimulatedEngine engine(platform);
    Stream s(engine);
    EXPECT_THAT(error_of([&] { (void)given(s, 2, all_on(2, 1, {2, 2})); }), HasSubstr("2 nodes"));
}

}  // namespace
}  // namespace tesela::engine_test
