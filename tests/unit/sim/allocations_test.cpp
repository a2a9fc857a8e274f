// What memory costs whom, and the core that submission shares with critical tasks.
#include "support.hpp"
#include "tesela/sim/internal/submission_core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace tesela::allocations_test {
namespace {

using namespace testing;

constexpr double laset = 0.1e-3;
constexpr double piece = 5e-3;

/// Prices by the piece, so that sums are easy to see.
SimulationOptions priced(MemoryPolicy policy) {
    return {.submission_seconds = 0,
            .passing_seconds = 0,
            .allocation = {.policy = policy,
                           .pinned = {.seconds = piece, .chunk_bytes = 0},
                           .on_gpu = {.seconds = piece, .chunk_bytes = 0}}};
}

Platform one_node_with_gpu(Index workers, Index nodes = 1) {
    return platform_of({with_gpus(cores("node", nodes, workers), {})});
}

Matrix<double> row(Stream& s, Index count, Allocation allocation, std::int32_t owner = 0) {
    return {s,
            Tiling::uniform({tile_size, count * tile_size}, {tile_size, tile_size}),
            all_on(s.engine().node_count(), owner, {1, count}),
            {.allocation = allocation}};
}

double makespan_of_zeroing(MemoryPolicy policy, Allocation allocation, const Platform& platform) {
    Simulated simulated{.platform = platform};
    simulate(simulated, priced(policy), [&](Stream& s) {
        const Matrix<double> A = row(s, 8, allocation);
        for (int times = 0; times < 2; ++times)
            for (Index j = 0; j < 8; ++j) s.submit(tasks::laset({}, A(0, j)));
        require_done(s.wait());
    });
    return simulated.result.makespan;
}

TEST(MemoryPrice, CutsSmallPiecesOutOfChunks) {
    const MemoryPrice price{.seconds = 2, .seconds_per_byte = 0.5, .chunk_bytes = 80};
    EXPECT_DOUBLE_EQ(price(11), 2 + 5.5);
    EXPECT_DOUBLE_EQ(price(10), (2 + 40) / 8.0);
    EXPECT_DOUBLE_EQ(price(1), (2 + 40) / 80.0);
}

TEST(Allocations, HoldSubmissionUpUnlessTilesHaveMemoryBefore) {
    const Platform platform = one_node_with_gpu(64);
    EXPECT_NEAR(makespan_of_zeroing(MemoryPolicy::free, Allocation::when_written, platform), 2 * laset, 1e-12);
    // The second time every tile has its memory.
    EXPECT_NEAR(makespan_of_zeroing(MemoryPolicy::at_submission, Allocation::when_written, platform), 8 * piece + laset,
                laset + 1e-12);
    EXPECT_NEAR(makespan_of_zeroing(MemoryPolicy::at_submission, Allocation::at_once, platform), 2 * laset, 1e-12);
    EXPECT_NEAR(makespan_of_zeroing(MemoryPolicy::ahead, Allocation::at_once, platform), 2 * laset, 1e-12);
}

TEST(Allocations, CostNothingWhereNothingIsPinned) {
    EXPECT_NEAR(
        makespan_of_zeroing(MemoryPolicy::at_submission, Allocation::when_written, platform_of({cores("node", 1, 64)})),
        2 * laset, 1e-12);
}

/// When node 1 has read a tile of node 0 so many times, each time written anew.
double makespan_of_reading(MemoryPolicy policy, Index rounds) {
    Simulated simulated{.platform = one_node_with_gpu(1, 2)};
    simulate(simulated, priced(policy), [&](Stream& s) {
        const Matrix<double> A = row(s, 1, Allocation::at_once);
        const Matrix<double> B = row(s, 1, Allocation::at_once, 1);
        s.submit(tasks::laset({}, B(0, 0)));
        for (Index k = 0; k < rounds; ++k) {
            s.submit(tasks::laset({}, A(0, 0)));  // the copy on node 1 is out of date, and goes
            s.submit(tasks::trsm({.side = Side::right}, A(0, 0), B(0, 0)));
        }
        require_done(s.wait());
    });
    return simulated.result.makespan;
}

TEST(Allocations, GiveMessagesTheMemoryOfCopiesThatHaveGone) {
    const double once = makespan_of_reading(MemoryPolicy::ahead, 1) - makespan_of_reading(MemoryPolicy::free, 1);
    EXPECT_NEAR(once, piece, 1e-9);
    const double ten = makespan_of_reading(MemoryPolicy::ahead, 10) - makespan_of_reading(MemoryPolicy::free, 10);
    EXPECT_LT(ten, 3 * piece);  // two at a time at most: the new one comes before the old one goes
    // At submission nothing is used again.
    const double before =
        makespan_of_reading(MemoryPolicy::at_submission, 10) - makespan_of_reading(MemoryPolicy::free, 10);
    EXPECT_GT(before, 9 * piece);
}

TEST(Allocations, OnGpusTheWorkerPaysForWhatNoTileHadBefore) {
    const auto makespan = [](MemoryPolicy policy, Index times) {
        Simulated simulated{.platform = one_node_with_gpu(1)};
        simulate(simulated, priced(policy), [&](Stream& s) {
            const auto A = given(s, 3, all_on(1, 0, {3, 3}));
            for (Index k = 0; k < times; ++k) s.submit(tasks::gemm(1.0, A(0, 0), A(0, 1), 1.0, A(0, 2)));
            require_done(s.wait());
        });
        return simulated.result.makespan;
    };
    for (const Index times : {1, 20})
        EXPECT_NEAR(makespan(MemoryPolicy::at_submission, times) - makespan(MemoryPolicy::free, times), 3 * piece,
                    1e-9);
    EXPECT_NEAR(makespan(MemoryPolicy::ahead, 5), makespan(MemoryPolicy::free, 5), 1e-12);
}

TEST(Allocations, ShowInTheMemoryInUse) {
    const auto in_use_at_the_start = [](Allocation allocation) {
        Simulated simulated{.platform = one_node_with_gpu(1)};
        simulate(simulated, priced(MemoryPolicy::ahead), [&](Stream& s) {
            const Matrix<double> A = row(s, 8, allocation);
            for (Index j = 0; j < 8; ++j) s.submit(tasks::laset({}, A(0, j)));
            require_done(s.wait());
        });
        double bytes = 0;
        for (const ScheduledMemory& change : simulated.schedule->memory_changes)
            if (change.time == 0) bytes += change.bytes;
        return bytes;
    };
    EXPECT_EQ(in_use_at_the_start(Allocation::at_once), 8 * tile_of_doubles);
    EXPECT_EQ(in_use_at_the_start(Allocation::when_written), tile_of_doubles);
}

TEST(Allocations, GiveTilesTheirMemoryWhenTheirPartOfTheStreamBeginsAndTakeItBackWithTheMatrix) {
    Simulated simulated{.platform = one_node_with_gpu(1)};
    simulate(simulated, priced(MemoryPolicy::ahead), [&](Stream& s) {
        for (int times = 0; times < 2; ++times) {
            const Matrix<double> A = row(s, 8, Allocation::at_once);
            for (Index j = 0; j < 8; ++j) s.submit(tasks::laset({}, A(0, j)));
            require_done(s.wait());
        }
    });
    EXPECT_EQ(simulated.result.memory_peak[0], 8 * tile_of_doubles);
    double in_use = 0;
    std::map<double, double> after;
    for (const ScheduledMemory& change : simulated.schedule->memory_changes)
        after[change.time] = in_use += change.bytes;
    EXPECT_EQ(after.begin()->second, 8 * tile_of_doubles);
    EXPECT_NEAR(std::next(after.begin())->first, 8 * laset, 1e-12);  // nothing changes before the second matrix
}

TEST(SubmissionCore, IsHalvedWhileBothNeedIt) {
    sim::SubmissionCore core(2);
    EXPECT_EQ(core.delay_of_submission(1, 3.0), 0);
    EXPECT_EQ(core.critical_starts(1, true), 2);
    EXPECT_EQ(core.delay_of_submission(1, 3.0), 3.0);
    EXPECT_EQ(core.delay_of_submission(0, 3.0), 0);
    core.critical_ends(1);
    EXPECT_EQ(core.critical_starts(1, false), 1);
}

/// A core that is busy, a critical task that finds it so, and some tasks more to submit, a millisecond each.
struct Shared {
    double critical_seconds = 0;
    double critical_end = 0;
    double submitted_last = 0;
};
Shared share_with_submission(Index tasks_after, double runtime_of_task = 0) {
    Simulated simulated{.platform = platform_of({cores("node", 1, 1)})};
    simulated.platform.node_types[0].runtime.task = runtime_of_task;
    simulate(simulated, {.submission_seconds = 1e-3, .critical = CriticalWorker::shared_core}, [&](Stream& s) {
        const auto A = given(s, 4, all_on(1, 0, {4, 4}));
        s.submit(tasks::gemm(1.0, A(0, 0), A(0, 1), 1.0, A(0, 2)));
        s.submit(tasks::trsm({.side = Side::right}, A(1, 1), A(1, 2)).critical());
        for (Index j = 0; j < tasks_after; ++j) s.submit(tasks::laset({}, A(2, j)));
        require_done(s.wait());
    });
    const auto& critical = *std::ranges::find(simulated.schedule->tasks, 1U, &ScheduledTask::item);
    double last = 0;
    for (const ScheduledTask& task : simulated.schedule->tasks) last = std::max(last, task.submitted);
    return {critical.end - critical.start, critical.end, last};
}

TEST(SubmissionCore, SlowsCriticalTasksAndSubmissionWhileBothGoOn) {
    constexpr double trsm = 1.3e-3;
    EXPECT_NEAR(share_with_submission(0).critical_seconds, trsm, 1e-12);
    const Shared both = share_with_submission(3);
    EXPECT_NEAR(both.critical_seconds, 2 * trsm, 1e-12);
    // Two steps before the critical task, one beside its start, one that takes twice as long, and the last alone.
    EXPECT_NEAR(both.submitted_last, 1e-3 * (2 + 1 + 2 + 1), 1e-12);
    // What the platform says that the core needs for a task beside its kernel is shared too.
    const Shared with_runtime = share_with_submission(3, 0.2e-3);
    EXPECT_NEAR(with_runtime.critical_seconds, 2 * trsm, 1e-12);
    EXPECT_NEAR(with_runtime.critical_end - both.critical_end, 2 * 0.2e-3, 1e-12);
}

}  // namespace
}  // namespace tesela::allocations_test
