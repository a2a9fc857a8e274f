#include "tesela/sim/internal/scheduler.hpp"
#include "parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace tesela::sim::scheduler_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --- workers and GPUs
// -------------------------------------------------------------------------------------------------

TEST(FreeWorkers, AreTakenFromTheLeastNumberOnAsFarAsTheyAreAllowed) {
    FreeWorkers free(4, 3);
    const AllowedWorkers all;
    const AllowedWorkers some({0, 5, 6, 100}, 8);
    EXPECT_EQ(free.take(some), 5);
    EXPECT_EQ(free.take(all), 4);
    EXPECT_FALSE(free.has_any_of(AllowedWorkers({4, 5}, 8)));
    EXPECT_EQ(free.take(some), 6);
    EXPECT_EQ(free.take(all), std::nullopt);
    for (const std::int32_t worker : {5, 6, 4}) free.give_back(worker);
    EXPECT_EQ(free.count(), 3);
    for (const std::int32_t worker : {4, 5, 6}) EXPECT_EQ(free.take(all), worker);
}

TEST(SharedGpu, SharesItselfEquallyAmongKernels) {
    SharedGpu gpu;
    gpu.start(1, 4, 0);
    EXPECT_EQ(gpu.expect(0)->time, 4);
    gpu.start(2, 1, 2);  // 2 s of the first are left, and both go half as fast
    const auto expected = gpu.expect(2);
    EXPECT_EQ(expected->time, 4);
    EXPECT_EQ(gpu.seconds_left(10, 3), 12);
    EXPECT_EQ(gpu.end_first(expected->number, 4), 2U);
    const auto last = gpu.expect(4);
    EXPECT_EQ(last->time, 5);
    EXPECT_EQ(gpu.end_first(last->number, 5), 1U);
    EXPECT_FALSE(gpu.expect(5));
    EXPECT_EQ(gpu.seconds_left(0, 9), 0);
}

TEST(SharedGpu, DoesNotEndWhatWasExpectedBeforeAnotherKernelStarted) {
    SharedGpu gpu;
    gpu.start(1, 1, 0);
    const auto before = gpu.expect(0);
    gpu.start(2, 1, 0.5);
    const auto after = gpu.expect(0.5);
    EXPECT_EQ(gpu.end_first(before->number, 1), std::nullopt);
    EXPECT_EQ(gpu.end_first(after->number, 1.5), 1U);
}

TEST(PlaceState, KeepsATaskWaitingOnlyWhereNoCoreIsFree) {
    const Place cores{.slots = 2};
    PlaceState place(cores);
    EXPECT_EQ(place.expected_wait(0), 0);
    (void)place.free.take({});
    place.cores.start(8, 0);
    EXPECT_EQ(place.expected_wait(0), 0);
    (void)place.free.take({});
    place.cores.start(4, 0);
    EXPECT_EQ(place.expected_wait(2), (6 + 2) / 2.0);
    place.load = 6;
    EXPECT_EQ(place.expected_wait(2), (6 + 2 + 6) / 2.0);
    place.give_back(1);
    place.cores.end(4);
    place.queued = 1;  // for the one that is free
    EXPECT_EQ(place.expected_wait(4), (4 + 6) / 2.0);
}

// --- the scheduler
// ----------------------------------------------------------------------------------------------------

constexpr double gemm_on_core = 2.3e-3;
constexpr double gemm_on_gpu = 0.23e-3;

/// Memories as a test wants them; they remember what is staged.
class ToldMemory final : public TaskMemory {
public:
    std::set<std::uint32_t> without_data;
    std::set<std::int32_t> too_small;
    double seconds_to_gpu = 0;
    std::vector<std::uint32_t> staged;
    std::vector<std::uint32_t> unstaged;

    [[nodiscard]] bool fits(std::uint32_t, std::int32_t memory) const override { return !too_small.contains(memory); }
    [[nodiscard]] double seconds_to_bring(std::uint32_t, std::int32_t memory) const override {
        return memory == 0 ? 0 : seconds_to_gpu;
    }
    [[nodiscard]] bool stage(std::uint32_t task, std::int32_t) override {
        staged.push_back(task);
        return !without_data.contains(task);
    }
    void unstage(std::uint32_t task, std::int32_t) override { unstaged.push_back(task); }
};

/// The scheduler of one node, and what it started: one worker per core, then one per stream of a GPU.
class SchedulerOfANode : public ::testing::Test, public SchedulerHandler {
protected:
    void begin(const NodeType& type, SimulatedScheduler rule, CriticalWorker critical = CriticalWorker::none,
               const std::vector<ResourceLimit>& resources = {}) {
        platform = platform_of({type});
        cluster = std::make_unique<Cluster>(platform, critical);
        durations = std::make_unique<Durations>(platform);
        for (Vertex& vertex : made.section.vertices)
            vertex.work = durations->number_of({&Dense<double>::gemm, {.tile = tile_size}});
        scheduler = std::make_unique<NodeScheduler>(
            SchedulerSurroundings{*cluster, *durations, timeline, memory, *this}, 0, rule);
        for (const std::uint16_t stream : {std::uint16_t{0}, std::uint16_t{1}}) scheduler->allow(stream, {});
        scheduler->begin(made.section, resources);
    }
    void task_starts(const AssignedTask& task, double /*before_kernel*/) override {
        started.push_back(task.vertex);
        running[task.vertex] = task;
    }
    [[nodiscard]] double take_core(const AssignedTask&) override { return 1; }
    void has_work(std::int32_t) override { work = true; }

    std::uint32_t task(std::int32_t priority = 0, std::uint16_t stream = 0) {
        return made.add({.priority = priority, .stream = stream});
    }
    void admit(const std::vector<std::uint32_t>& tasks) {
        for (const std::uint32_t v : tasks) scheduler->admit(v);
        settle();
    }
    void settle() {
        while (std::exchange(work, false)) scheduler->dispatch();
    }
    void end(std::uint32_t v) {
        scheduler->give_back_worker(running.at(v));
        running.erase(v);
        scheduler->give_back_resource(v);
        work = true;
        settle();
    }
    [[nodiscard]] std::int32_t worker_of(std::uint32_t v) const { return running.at(v).worker; }

    Platform platform;
    HandMade made{1};
    std::unique_ptr<Cluster> cluster;
    std::unique_ptr<Durations> durations;
    StoppedTimeline timeline;
    ToldMemory memory;
    std::unique_ptr<NodeScheduler> scheduler;
    std::vector<std::uint32_t> started;
    std::map<std::uint32_t, AssignedTask> running;
    bool work = false;
};

TEST_F(SchedulerOfANode, StartsTheMostUrgentFirstThenTheEarliest) {
    for (const std::int32_t priority : {1, 5, 1, 9}) (void)task(priority);
    begin(cores("node", 1, 1), SimulatedScheduler::priority);
    admit({2, 0, 1, 3});
    EXPECT_THAT(started, ElementsAre(3U));
    for (const std::uint32_t v : {3U, 1U, 0U}) end(v);
    EXPECT_THAT(started, ElementsAre(3U, 1U, 0U, 2U));
}

TEST_F(SchedulerOfANode, GivesCoresToTasksFromTheFirstOnAndSetsATimerForEach) {
    for (int k = 0; k < 3; ++k) (void)task();
    begin(cores("node", 1, 2), SimulatedScheduler::earliest_finish);
    admit({0, 1, 2});
    EXPECT_EQ(worker_of(0), 0);
    EXPECT_EQ(worker_of(1), 1);
    ASSERT_EQ(timeline.timers.size(), 2U);
    EXPECT_EQ(timeline.timers[1].word.kind, TimerKind::task_end);
    EXPECT_EQ(timeline.timers[1].word.id, 1U);
    EXPECT_DOUBLE_EQ(timeline.timers[1].time, gemm_on_core);
    end(0);
    EXPECT_EQ(worker_of(2), 0);
}

TEST_F(SchedulerOfANode, ChoosesThePlaceThatEndsATaskFirst) {
    for (int k = 0; k < 3; ++k) (void)task();
    begin(with_gpus(cores("node", 1, 1), {}), SimulatedScheduler::earliest_finish);
    memory.seconds_to_gpu = gemm_on_core - 1.5 * gemm_on_gpu;  // so that it is worth while once
    admit({0});
    EXPECT_EQ(worker_of(0), 1);
    admit({1});
    EXPECT_EQ(worker_of(1), 0);
    memory.seconds_to_gpu = 0;
    admit({2});  // the core is busy for longer
    EXPECT_FALSE(running.contains(2));
    EXPECT_THAT(memory.staged, ElementsAre(0U, 1U, 2U));  // its data are brought meanwhile
}

TEST_F(SchedulerOfANode, ChoosesWithRegardToWhatIsQueued) {
    for (int k = 0; k < 12; ++k) (void)task();
    begin(with_gpus(cores("node", 1, 1), {}), SimulatedScheduler::earliest_finish);
    std::vector<std::uint32_t> all(12);
    std::iota(all.begin(), all.end(), 0U);
    admit(all);
    EXPECT_EQ(std::ranges::count_if(running, [](const auto& entry) { return entry.second.worker == 0; }), 1);
    EXPECT_EQ(worker_of(9), 0);  // nine on the GPU before it, and a tenth would end a little later
}

TEST_F(SchedulerOfANode, LetsEveryPlaceTakeWhatItHasRoomForUnderPriority) {
    std::vector<std::uint32_t> all;
    for (int k = 0; k < 2 + 8 + 1; ++k) all.push_back(task());
    begin(with_gpus(cores("node", 1, 2), {}), SimulatedScheduler::priority);
    memory.seconds_to_gpu = 1;  // nobody asks
    admit(all);
    EXPECT_THAT(started, ElementsAre(0U, 1U, 10U));  // two on cores, which take eight more; then the GPU
    EXPECT_EQ(worker_of(10), 2);
}

TEST_F(SchedulerOfANode, DoesNotChooseAPlaceThatIsTooSmall) {
    (void)task();
    begin(with_gpus(cores("node", 1, 1), {}), SimulatedScheduler::earliest_finish);
    memory.too_small = {1};
    admit({0});
    EXPECT_EQ(worker_of(0), 0);
    memory.too_small = {0, 1};
    EXPECT_THAT(error_of([&] { scheduler->admit(0); }), HasSubstr("the tiles of dgemm do not fit"));
}

TEST_F(SchedulerOfANode, KeepsAStreamToItsWorkersAndOthersGoOn) {
    for (int k = 0; k < 2; ++k) (void)task(9, 0);
    for (int k = 0; k < 2; ++k) (void)task(0, 1);
    begin(cores("node", 1, 3), SimulatedScheduler::priority);
    scheduler->allow(0, {1});
    admit({0, 1, 2, 3});
    EXPECT_THAT(started, ElementsAre(0U, 2U, 3U));  // the second task of stream 0 waits, those of stream 1 do not
    EXPECT_EQ(worker_of(0), 1);
    end(3);
    EXPECT_FALSE(running.contains(1));
    end(0);
    EXPECT_EQ(worker_of(1), 1);
}

TEST_F(SchedulerOfANode, FollowsAChangeOfWorkersForTasksThatWait) {
    for (int k = 0; k < 2; ++k) (void)task();
    begin(cores("node", 1, 2), SimulatedScheduler::priority);
    scheduler->allow(0, {1});
    admit({0, 1});
    EXPECT_THAT(started, ElementsAre(0U));
    scheduler->allow(0, {0, 1});
    settle();
    EXPECT_EQ(worker_of(1), 0);
}

TEST_F(SchedulerOfANode, TakesATaskBackWhoseStreamLostTheWorkersOfItsPlace) {
    (void)task();
    begin(with_gpus(cores("node", 1, 1), {}), SimulatedScheduler::priority);
    scheduler->allow(0, {1});
    memory.without_data = {0};
    admit({0});
    EXPECT_THAT(memory.staged, ElementsAre(0U));  // for the GPU
    scheduler->allow(0, {0});
    memory.without_data = {};
    scheduler->data_there(0);
    settle();
    EXPECT_THAT(memory.unstaged, ElementsAre(0U));
    EXPECT_EQ(worker_of(0), 0);
}

TEST_F(SchedulerOfANode, NamesAKernelThatNoAllowedWorkerCanRun) {
    (void)task();
    NodeType type = with_gpus(cores("node", 1, 1), {});
    std::erase_if(type.workers[1].kernels, [](const KernelTime& k) { return k.kernel == "dgemm"; });
    begin(type, SimulatedScheduler::priority);
    scheduler->check_none_waits();
    scheduler->allow(0, {1});
    admit({0});
    EXPECT_THAT(started, IsEmpty());
    EXPECT_THAT(error_of([&] { scheduler->check_none_waits(); }),
                HasSubstr("stream 0 may use on node 0 can run dgemm"));
}

TEST_F(SchedulerOfANode, StartsATaskWhenItsDataAreThere) {
    for (int k = 0; k < 2; ++k) (void)task();
    begin(with_gpus(cores("node", 1, 1), {}), SimulatedScheduler::earliest_finish);
    memory.without_data = {0, 1};
    admit({0, 1});
    EXPECT_THAT(started, IsEmpty());
    EXPECT_THAT(memory.staged, ElementsAre(0U, 1U));
    scheduler->data_there(1);
    settle();
    EXPECT_THAT(started, ElementsAre(1U));
}

TEST_F(SchedulerOfANode, BringsTheDataOfAFewTasksAheadWhereThereAreGpusOnly) {
    std::vector<std::uint32_t> all;
    for (int k = 0; k < 30; ++k) all.push_back(task());
    begin(cores("node", 1, 1), SimulatedScheduler::priority);
    admit(all);
    EXPECT_EQ(memory.staged.size(), 1U);
    NodeType type = with_gpus(cores("node", 1, 1), {});
    type.workers.erase(type.workers.begin());
    begin(type, SimulatedScheduler::priority);
    memory.staged.clear();
    admit(all);
    EXPECT_EQ(memory.staged.size(), 1U + 8U);
}

TEST_F(SchedulerOfANode, ExpectsTheEndOfKernelsThatShareAGpu) {
    for (int k = 0; k < 2; ++k) (void)task();
    begin(with_gpus(cores("node", 1, 1), {.streams = 2}), SimulatedScheduler::earliest_finish);
    admit({0, 1});
    EXPECT_EQ(worker_of(0), 1);
    EXPECT_EQ(worker_of(1), 2);
    const auto outdated = timeline.take();
    EXPECT_DOUBLE_EQ(outdated.time, gemm_on_gpu);
    EXPECT_EQ(outdated.word.kind, TimerKind::gpu);
    EXPECT_FALSE(scheduler->kernel_ended(outdated.word.part, outdated.word.id));
    const auto shared = timeline.take();
    EXPECT_DOUBLE_EQ(shared.time, 2 * gemm_on_gpu);
    EXPECT_EQ(scheduler->kernel_ended(shared.word.part, shared.word.id), 0U);
}

TEST_F(SchedulerOfANode, KeepsTheCriticalWorkerForCriticalTasksOfAllStreams) {
    for (int k = 0; k < 2; ++k) (void)task();
    made.section.vertices[1].urgency = Urgency::critical;
    (void)task();
    made.section.vertices[2].urgency = Urgency::critical;
    begin(cores("node", 1, 1), SimulatedScheduler::priority, CriticalWorker::shared_core);
    admit({0});
    EXPECT_EQ(worker_of(0), 0);
    admit({1, 2});
    EXPECT_EQ(worker_of(1), 1);
    EXPECT_FALSE(running.contains(2));
    end(0);
    EXPECT_EQ(worker_of(2), 0);  // it may use any other too
}

TEST_F(SchedulerOfANode, RunsNoMoreTasksThanThereIsOfTheirResource) {
    for (const std::int32_t priority : {0, 0, 0, 4}) (void)task(priority);
    for (Vertex& vertex : made.section.vertices) vertex.resource = 1;
    const std::uint32_t free = task();
    NodeType type = cores("node", 1, 8);
    type.limits["reader"] = 2;  // fewer than tasks allow
    begin(type, SimulatedScheduler::priority, CriticalWorker::none, {{"reader", 3}});
    admit({0, 1, 2, 3, free});
    EXPECT_THAT(started, ElementsAre(0U, 1U, free));
    end(1);
    EXPECT_TRUE(running.contains(3));  // the most urgent
    EXPECT_FALSE(running.contains(2));
    end(free);
    EXPECT_FALSE(running.contains(2));
    end(0);
    EXPECT_TRUE(running.contains(2));
}

}  // namespace
}  // namespace tesela::sim::scheduler_test
