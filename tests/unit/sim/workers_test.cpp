#include "support.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tesela::workers_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Submits what `work` does, changing the workers of the stream at random now and then; then checks that each task
/// started on a worker that was allowed at that moment. On one node an item is submitted every `pace` seconds.
template <class Work>
void check_changes_of_workers(const Platform& platform, double pace, std::uint64_t seed, const Work& work) {
    constexpr double moment_of_change = 1e-9;  // in which either set counts
    Simulated simulated{.platform = platform};
    const SimulationOptions options{
        .scheduler = SimulatedScheduler::priority, .submission_seconds = pace, .passing_seconds = 0};
    const auto workers = static_cast<int>(simulated_workers(platform.node_types[0], CriticalWorker::none).size());
    std::uint64_t drawn = 0;
    const auto change = [&](Stream& s) {
        WorkerSet set{0};  // a core, since not every kernel runs on a GPU
        for (int w = 1; w < workers; ++w)
            if (tesela::Random(seed).uniform({.i = drawn++}) < 0.5) set.push_back(w);
        s.set_workers(set);
    };
    simulate(simulated, options, [&](Stream& s) { work(s, change); });

    std::vector<std::pair<double, WorkerSet>> sets;  // from when on
    const Recording& recording = simulated.recording;
    double time = 0;
    for (const RecordedItem& item : recording.items) {
        if (item.kind == RecordedItem::Kind::retire) continue;  // costs nothing here
        time += pace;
        if (item.kind == RecordedItem::Kind::workers) sets.emplace_back(time, recording.worker_sets[item.first_part]);
    }
    EXPECT_EQ(std::ssize(simulated.schedule->tasks), recording.task_count());
    const auto allowed_at = [&](double moment, int worker) {
        const auto after = std::ranges::upper_bound(sets, moment, {}, [](const auto& s) { return s.first; });
        return after == sets.begin() || std::ranges::count(std::prev(after)->second, worker) > 0;
    };
    Index wrong = 0;
    Index during = 0;
    for (const ScheduledTask& task : simulated.schedule->tasks) {
        during += task.start < sets.back().first ? 1 : 0;
        wrong += !allowed_at(task.start - moment_of_change, task.worker) &&
                 !allowed_at(task.start + moment_of_change, task.worker);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(during, recording.task_count() / 20);  // the changes met a queue
}

TEST(CriticalWorker, IsOnSimulatedNodesWithAsManyCoresAsARealOneNeedsForIt) {
    // A platform's cores are those beside submission.
    const Platform platform =
        platform_of({cores("few", 1, least_cores_to_share_one - 2), cores("enough", 1, least_cores_to_share_one - 1)});
    const auto last = [&](std::size_t type, CriticalWorker wanted) {
        return simulated_workers(platform.node_types[type], wanted).back().name;
    };
    EXPECT_NE(last(0, CriticalWorker::automatic), "critical");
    EXPECT_EQ(last(1, CriticalWorker::automatic), "critical");
    EXPECT_EQ(last(0, CriticalWorker::shared_core), "critical");
    EXPECT_NE(last(1, CriticalWorker::none), "critical");
}

TEST(WorkersOfASimulatedStream, RunsTasksOnWorkersThatAreAllowedWhenTheyStart) {
    check_changes_of_workers(platform_of({cores("node", 1, 7)}), 1e-6, 1, [](Stream& s, const auto& change) {
        const Matrix<double> A(s, Tiling::uniform({tile_size, 10'000 * tile_size}, {tile_size, tile_size}),
                               all_on(1, 0, {1, 10'000}));
        for (Index j = 0; j < 10'000; ++j) {
            s.submit(tasks::laset({}, A(0, j)).at(0, static_cast<std::int32_t>(j % 5)));
            if (j % 10 == 9) change(s);
        }
    });
}

TEST(WorkersOfASimulatedStream, RunsTasksOnAllowedWorkersWhereGpusAreToo) {
    for (const std::uint64_t seed : {1U, 2U, 3U})
        check_changes_of_workers(
            platform_of({with_gpus(cores("node", 1, 3), {.count = 2, .streams = 2, .memory = 30 * tile_of_doubles})}),
            1e-4, seed, [](Stream& s, const auto& change) {
                for (int repetition = 0; repetition < 20; ++repetition) {
                    const auto A = given(s, 12, all_on(1, 0, {12, 12}), Stored::lower);
                    change(s);
                    cholesky(s, A);
                }
            });
}

TEST(WorkersOfASimulatedStream, KeepsAStreamToItsWorkersUnderEverySchedulerWhereTheyDoNotChange) {
    for (const auto scheduler : {SimulatedScheduler::earliest_finish, SimulatedScheduler::priority}) {
        Schedule schedule;
        SimulatedEngine engine(platform_of({with_gpus(cores("node", 1, 4), {})}),
                               {.scheduler = scheduler, .observers = {&schedule}});
        {
            Stream s(engine, {.workers = {1, 2}});
            submit(s, Algorithm::cholesky, 8, squarest_block_cyclic({8, 8}, 1));
        }
        EXPECT_EQ(std::ssize(schedule.tasks), engine.recording().task_count());
        for (const ScheduledTask& task : schedule.tasks) EXPECT_TRUE(task.worker == 1 || task.worker == 2);
    }
}

TEST(WorkersOfASimulatedStream, LeaveTheCriticalWorkerToIt) {
    Simulated simulated{.platform = platform_of({with_gpus(cores("node", 1, 2), {})})};
    SimulationOptions options{.scheduler = SimulatedScheduler::priority};
    options.critical = CriticalWorker::shared_core;
    simulate(simulated, options, [](Stream& s) {
        const auto A = given(s, 4, all_on(1, 0, {4, 4}), Stored::lower);
        s.set_workers({2});  // the GPU
        cholesky(s, A);
    });
    EXPECT_EQ(std::ssize(simulated.schedule->tasks), simulated.recording.task_count());
    for (const ScheduledTask& task : simulated.schedule->tasks) EXPECT_GE(task.worker, 2);
}

TEST(WorkersOfASimulatedStream, RefusesWorkersThatCannotBe) {
    const auto options = SimulationOptions{.scheduler = SimulatedScheduler::priority};
    SimulatedEngine engine(platform_of({cores("big", 1, 4), cores("small", 1, 2)}), options);
    EXPECT_THAT(error_of([&] { Stream s(engine, {.workers = {0, 4}}); }), HasSubstr("worker 4 does not exist"));
    EXPECT_THAT(error_of([&] { Stream s(engine, {.workers = {2, 3}}); }), HasSubstr("none of the workers given"));
    Stream s(engine);
    EXPECT_THAT(error_of([&] { s.set_workers({-1}); }), HasSubstr("none of the workers given"));
    s.set_workers({});
    SimulatedEngine assigns(platform_of({cores("node", 1, 4)}));
    Stream t(assigns);
    EXPECT_THAT(error_of([&] { t.set_workers({1}); }), HasSubstr("earliest_finish"));
}

TEST(WorkersOfASimulatedStream, SaysSoWhenNoAllowedWorkerCanRunAKernel) {
    SimulatedEngine engine(platform_of({with_gpus(cores("node", 1, 1), {})}),
                           {.scheduler = SimulatedScheduler::priority});
    Stream s(engine, {.workers = {1}});  // the GPU, which has no dlaset
    EXPECT_THAT(error_of([&] { zero_tiles(s, 1); }), HasSubstr("can run dlaset"));
}

}  // namespace
}  // namespace tesela::workers_test
