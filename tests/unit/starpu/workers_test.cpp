#include "support/cases.hpp"
#include "support/shared_engine.hpp"
#include "support/trace_file.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/trace/app_events.hpp"
#include "tesela/trace/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <starpu.h>

#include <chrono>
#include <set>
#include <thread>

namespace tesela::workers_test {
namespace {

using testing::engine;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using testing::WithEngine;

const Kernel spin{"spin", [](std::span<const TileShape>, const void*) noexcept { return KernelCost{}; },
                  [](const KernelCall&) noexcept -> KernelResult {
                      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
                      while (std::chrono::steady_clock::now() < until) {
                      }
                      return {};
                  }};

/// Writes StarPU's number of its worker into its tile, after a moment in which others can start too.
const Kernel who{"who", [](std::span<const TileShape>, const void*) noexcept { return KernelCost{}; },
                 [](const KernelCall& call) noexcept -> KernelResult {
                     std::this_thread::sleep_for(std::chrono::microseconds(100));
                     *call.tiles[0].as<double>() = starpu_worker_get_id();
                     return {};
                 }};

/// Tiles of one element each, so that tasks on them do not depend on each other.
Matrix<double> row_of(Stream& s, Index count) {
    const Tiling tiling = Tiling::uniform({count, 1}, {1, 1});
    return {s, tiling, squarest_block_cyclic(tiling.grid(), 1), {.name = "x"}};
}

/// StarPU's numbers of the workers that ran some tasks.
std::set<int> workers_of(Stream& s, Index tasks, Urgency urgency = Urgency::ordinary,
                         const LimitedResource* resource = nullptr) {
    Matrix<double> x = row_of(s, tasks);
    for (Index i = 0; i < tasks; ++i) {
        Task task = Task::unchecked(who, {{x(i, 0), AccessMode::write}});
        task.urgency = urgency;
        task.resource = resource;
        s.submit(task);
    }
    std::set<int> seen;
    for (const double worker : gather(s, x.view())) seen.insert(static_cast<int>(worker));
    return seen;
}

/// StarPU's numbers of the workers on cores, in our order.
std::vector<int> cores_of_starpu() {
    std::vector<int> ids(STARPU_NMAXWORKERS);
    ids.resize(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids.data(), STARPU_NMAXWORKERS));
    return ids;
}

/// Which workers a stream had from when to when: during a change either set counts.
class SetsInForce {
public:
    explicit SetsInForce(const trace::Trace& trace, std::vector<WorkerSet> sets) : sets_(std::move(sets)) {
        const auto changes = std::ranges::find(trace.events, std::string("change"), &trace::EventTable::name);
        for (std::size_t k = 0; k < changes->time.size(); ++k)
            (changes->values[k] == 0 ? before_ : after_).push_back(changes->time[k]);
    }
    [[nodiscard]] bool allowed(trace::Time start, int worker) const {
        const auto begun = std::ranges::upper_bound(before_, start) - before_.begin();
        const auto ended = std::ranges::upper_bound(after_, start) - after_.begin();
        for (auto k = ended; k <= begun; ++k)
            if (k == 0 || std::ranges::count(sets_[static_cast<std::size_t>(k - 1)], worker) > 0) return true;
        return false;
    }
    [[nodiscard]] std::size_t changes() const { return after_.size(); }

private:
    std::vector<WorkerSet> sets_;
    std::vector<trace::Time> before_;
    std::vector<trace::Time> after_;
};

TEST(WorkersOfAStream, ChangeWhileTasksAreQueuedAndNoneIsLostOrRunsElsewhere) {
    constexpr int workers = 4;
    constexpr Index tasks = 10'000;
    constexpr int changes = 1000;
    const WithEngine four({.workers = workers});
    const testing::TraceFile file;
    const trace::EventType change = trace::register_event("change", {{"done"}});
    std::vector<WorkerSet> sets;
    engine().start_trace({.path = file.path});
    {
        Stream s(engine());
        Matrix<double> x = row_of(s, tasks);
        for (Index i = 0; i < tasks; ++i) s.submit(Task::unchecked(spin, {{x(i, 0), AccessMode::write}}));
        for (int c = 0; c < changes; ++c) {
            WorkerSet set{c % workers};
            for (int w = 0; w < workers; ++w)
                if (Random(3).uniform({static_cast<std::uint64_t>(c), static_cast<std::uint64_t>(w)}) < 0.3)
                    set.push_back(w);
            sets.push_back(set);
            trace::emit(change, {0});
            s.set_workers(set);
            trace::emit(change, {1});
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        s.set_workers({});
        EXPECT_TRUE(s.wait().ok());
    }
    engine().stop_trace();
    const trace::Trace trace = trace::read_trace(file.path);
    const SetsInForce in_force(trace, sets);
    EXPECT_EQ(in_force.changes(), static_cast<std::size_t>(changes));
    ASSERT_EQ(std::ssize(trace.tasks), tasks);
    trace::Time last_change = 0;
    for (const auto& events : trace.events) last_change = std::max(last_change, events.time.back());
    Index wrong = 0;
    Index during = 0;
    for (const trace::TaskRow& task : trace.tasks) {
        ASSERT_TRUE(task.ran());
        if (task.start > last_change) continue;
        ++during;
        wrong += !in_force.allowed(task.start, trace.workers[static_cast<std::size_t>(task.worker)].number);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(during, tasks / 20);  // the changes met a long queue
}

TEST(WorkersOfAStream, GoToAnotherStreamWhileItsTasksWait) {
    const WithEngine four({.workers = 4});
    Stream a(engine(), {.name = "a", .workers = {0, 1}});
    Stream b(engine(), {.name = "b", .workers = {2, 3}});
    constexpr Index tasks = 2000;
    Matrix<double> x = row_of(a, tasks);
    Matrix<double> y = row_of(b, tasks);
    for (Index i = 0; i < tasks; ++i) {
        a.submit(Task::unchecked(who, {{x(i, 0), AccessMode::write}}).at(0, 5));
        b.submit(Task::unchecked(who, {{y(i, 0), AccessMode::write}}));
    }
    // From here on workers 1 and 2 go to and fro; 0 and 3 stay.
    for (int turn = 0; turn < 50; ++turn) {
        a.set_workers(turn % 2 == 0 ? WorkerSet{0, 1, 2} : WorkerSet{0});
        b.set_workers(turn % 2 == 0 ? WorkerSet{3} : WorkerSet{1, 2, 3});
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    const std::vector<double> of_a = gather(a, x.view());
    const std::vector<double> of_b = gather(b, y.view());
    const auto ran_on = [](const std::vector<double>& workers, int w) { return std::ranges::count(workers, w); };
    EXPECT_EQ(ran_on(of_a, 0) + ran_on(of_a, 1) + ran_on(of_a, 2), tasks);
    EXPECT_EQ(ran_on(of_b, 1) + ran_on(of_b, 2) + ran_on(of_b, 3), tasks);
    EXPECT_GT(ran_on(of_a, 2), 0);
    EXPECT_GT(ran_on(of_b, 1), 0);
}

TEST(WorkersOfAStream, CannotChangeUnderSchedulersThatAssignEarly) {
    const WithEngine lws({.workers = 3, .scheduler = "lws"});
    Stream s(engine(), {.workers = {2}});  // chosen once, they are kept
    EXPECT_THAT(workers_of(s, 50), ::testing::ElementsAre(cores_of_starpu()[2]));
    EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 300, .tile = 40}).worst(), 1);
    EXPECT_THAT([&] { s.set_workers({1}); }, ThrowsMessage<Error>(HasSubstr("scheduler lws")));
}

TEST(WorkersOfAStream, AnUnknownSchedulerIsRefusedWithTheOnesThereAre) {
    testing::engine_slot().reset();
    EXPECT_THAT([] { StarpuEngine({.workers = 2, .scheduler = "heteroprio"}); },
                ThrowsMessage<Error>(::testing::AllOf(HasSubstr("no scheduler \"heteroprio\""), HasSubstr("streams"),
                                                      HasSubstr("dmdas"))));
    testing::engine_slot() = std::make_unique<StarpuEngine>(StarpuOptions{.workers = 2, .warnings = Warnings::keep});
}

TEST(Environment, OfStarpuIsReadWithoutItsHelp) {
    setenv("STARPU_NCPU", "two", 1);
    {
        const WithEngine engine_of_env({.workers = 3});
        EXPECT_EQ(engine().worker_count(), 3);
        EXPECT_THAT(engine().description().warnings, ::testing::Contains(HasSubstr("STARPU_NCPU=two is not a number")));
        unsetenv("STARPU_NCPU");
    }
}

TEST(Warnings, OfAnEngineAreSeenInAnyProgram) {
    testing::engine_slot().reset();
    setenv("STARPU_NCPU", "7", 1);
    ::testing::internal::CaptureStderr();
    testing::engine_slot() = std::make_unique<StarpuEngine>(StarpuOptions{.workers = 2});
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                HasSubstr("tesela: node 0: warning: STARPU_NCPU=7 is overruled"));
    unsetenv("STARPU_NCPU");
}

TEST(CriticalWorker, TakesCriticalTasksOnly) {
    const WithEngine critical({.workers = 2, .critical_worker = CriticalWorker::shared_core});
    EXPECT_EQ(engine().worker_count(), 2);
    const std::vector<int> cores = cores_of_starpu();
    ASSERT_EQ(cores.size(), 3U);
    EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 300, .tile = 40}).worst(), 1);
    Stream s(engine());
    EXPECT_THAT(workers_of(s, 300), ::testing::IsSubsetOf({cores[0], cores[1]}));
    EXPECT_THAT(workers_of(s, 300, Urgency::critical), ::testing::Contains(cores[2]));
    EXPECT_THROW(s.set_workers({2}), Error);  // it has no number
    s.set_workers({1});
    EXPECT_THAT(workers_of(s, 100), ::testing::ElementsAre(cores[1]));
    EXPECT_THAT(workers_of(s, 300, Urgency::critical), ::testing::IsSubsetOf({cores[1], cores[2]}));
}

TEST(Accelerators, HaveNoWorkersUnlessAskedFor) {
    EXPECT_EQ(engine().description().accelerators, 0);
    EXPECT_EQ(engine().worker_count(), 2);
}

// Where there are none this is the same as without; where there are, StarPU numbers their workers before the cores.
TEST(Accelerators, LeaveTheNumbersOfCoresAsTheyAre) {
    for (const char* scheduler : {"", "streams"}) {
        const WithEngine shared({.workers = 2,
                                 .scheduler = scheduler,
                                 .critical_worker = CriticalWorker::shared_core,
                                 .accelerators = Accelerators::shared});
        EXPECT_EQ(engine().description().workers, 2);
        EXPECT_EQ(engine().worker_count(), 2 + engine().description().accelerators);
        EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 300, .tile = 40}).worst(), 1);
        Stream s(engine(), {.workers = {1}});
        EXPECT_THAT(workers_of(s, 100), ::testing::ElementsAre(cores_of_starpu()[1]));
        Stream all(engine());
        EXPECT_THAT(workers_of(all, 300), ::testing::IsSubsetOf({cores_of_starpu()[0], cores_of_starpu()[1]}));
    }
}

// --- limited resources

/// How many of its kind run, and the most that did.
struct Crowd {
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    std::atomic<int> ran{0};
};
struct CrowdArguments {
    Crowd* crowd;
};
const Kernel join_crowd{"join", nullptr, [](const KernelCall& call) noexcept -> KernelResult {
                            Crowd& crowd = *call.args<CrowdArguments>().crowd;
                            const int here = ++crowd.now;
                            for (int most = crowd.most; here > most && !crowd.most.compare_exchange_weak(most, here);) {
                            }
                            std::this_thread::sleep_for(std::chrono::microseconds(200));
                            --crowd.now;
                            ++crowd.ran;
                            return {};
                        }};

class LimitedResources : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, LimitedResources, ::testing::Values("streams", "prio", "eager", "lws", "dmdas"),
                         [](const auto& tested) { return std::string(tested.param); });

void expect_at_most_three_readers() {
    const LimitedResource readers{"reader", 3};
    Crowd limited;
    Crowd free;
    Stream s(engine());
    Stream t(engine());
    Matrix<double> x = row_of(s, 300);
    Matrix<double> y = row_of(t, 300);
    for (Index i = 0; i < 300; ++i) {
        auto& stream = i % 2 == 0 ? s : t;
        auto& matrix = i % 2 == 0 ? x : y;
        stream.submit(
            Task::unchecked(join_crowd, {{matrix(i, 0), AccessMode::write}}, CrowdArguments{&limited}).needs(readers));
        stream.submit(Task::unchecked(join_crowd, {{matrix(i, 0), AccessMode::read_write}}, CrowdArguments{&free}));
    }
    EXPECT_TRUE(s.wait().ok());
    EXPECT_TRUE(t.wait().ok());
    EXPECT_EQ(limited.ran, 300);
    EXPECT_EQ(free.ran, 300);
    EXPECT_LE(limited.most, 3);
    EXPECT_GE(limited.most, 2);  // all three at once is a matter of luck
    EXPECT_GT(free.most + limited.most, 3);
}

TEST_P(LimitedResources, AreUsedByAtMostSoManyTasksAtATime) {
    const WithEngine four({.workers = 4, .scheduler = GetParam()});
    expect_at_most_three_readers();
}

TEST(LimitedResource, HoldsUnderASchedulerThatTheEnvironmentNames) {
    setenv("STARPU_SCHED", "lws", 1);
    {
        const WithEngine four({.workers = 4});
        EXPECT_EQ(engine().description().scheduler, "lws");
        EXPECT_STREQ(std::getenv("STARPU_SCHED"), "lws");
        unsetenv("STARPU_SCHED");
        expect_at_most_three_readers();
    }
    EXPECT_EQ(engine().description().scheduler, "streams");
}

TEST(LimitedResource, IsAnotherOneWithAnotherLimit) {
    const WithEngine four({.workers = 4});
    Stream s(engine());
    Matrix<double> x = row_of(s, 200);
    Crowd two;
    Crowd three;
    const auto with = [&](Index i, Crowd& crowd, int at_most) {
        s.submit(Task::unchecked(join_crowd, {{x(i, 0), AccessMode::write}}, CrowdArguments{&crowd})
                     .needs({"scanner", at_most}));
    };
    for (Index i = 0; i < 200; i += 2) {
        with(i, two, 2);
        with(i + 1, three, 3);
    }
    EXPECT_THAT([&] { with(0, two, 0); }, ThrowsMessage<Error>(HasSubstr("at least 1")));
    EXPECT_TRUE(s.wait().ok());
    EXPECT_EQ(two.ran, 100);
    EXPECT_EQ(three.ran, 100);
    EXPECT_LE(two.most, 2);
    EXPECT_LE(three.most, 3);
}

class ResourceWorkers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schedulers, ResourceWorkers, ::testing::Values("streams", "prio", "eager", "lws", "dmdas"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(ResourceWorkers, TakeAllTasksThatHoldAResourceAndNoOthers) {
    const WithEngine more({.workers = 2, .scheduler = GetParam(), .resource_workers = 3});
    EXPECT_EQ(engine().worker_count(), 2);
    EXPECT_EQ(engine().description().resource_workers, 3);
    const std::vector<int> cores = cores_of_starpu();
    ASSERT_EQ(cores.size(), 5U);
    const LimitedResource readers{"reader", 3};
    Stream s(engine(), {.workers = {1}});
    EXPECT_THAT(workers_of(s, 100), ::testing::ElementsAre(cores[1]));
    EXPECT_THAT(workers_of(s, 100, Urgency::ordinary, &readers), ::testing::IsSubsetOf({cores[2], cores[3], cores[4]}));
    EXPECT_THAT(workers_of(s, 100, Urgency::critical, &readers), ::testing::IsSubsetOf({cores[2], cores[3], cores[4]}));
    EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 300, .tile = 40}).worst(), 1);
    expect_at_most_three_readers();
}

/// Sleeps, as one that waits for a disk.
const Kernel wait_for_disk{"wait_for_disk",
                           [](std::span<const TileShape>, const void*) noexcept { return KernelCost{}; },
                           [](const KernelCall&) noexcept -> KernelResult {
                               std::this_thread::sleep_for(std::chrono::milliseconds(20));
                               return {};
                           }};

/// Of so many tasks that wait, how many had ended when the last of many that compute did.
Index waited_meanwhile(int resource_workers) {
    const WithEngine one({.workers = 1, .resource_workers = resource_workers});
    const testing::TraceFile file;
    engine().start_trace({.path = file.path});
    {
        Stream s(engine());
        Matrix<double> x = row_of(s, 4);
        Matrix<double> y = row_of(s, 4000);
        for (Index i = 0; i < 4; ++i)
            s.submit(Task::unchecked(wait_for_disk, {{x(i, 0), AccessMode::write}}).needs({"reader", 2}));
        for (Index i = 0; i < 4000; ++i) s.submit(Task::unchecked(spin, {{y(i, 0), AccessMode::write}}).at(0, 1));
        EXPECT_TRUE(s.wait().ok());
    }
    engine().stop_trace();
    const trace::Trace trace = trace::read_trace(file.path);
    const auto kernel = [&](const trace::TaskRow& task) {
        return trace.kernels[static_cast<std::size_t>(task.kernel)];
    };
    trace::Time computed = 0;
    for (const trace::TaskRow& task : trace.tasks)
        if (kernel(task) == "spin") computed = std::max(computed, task.end);
    return std::ranges::count_if(trace.tasks, [&](const trace::TaskRow& task) {
        return kernel(task) == "wait_for_disk" && task.end < computed;
    });
}

// The other tasks are more urgent, so that one worker alone leaves those that wait to the end.
TEST(ResourceWorker, WaitsWhileTheOthersCompute) {
    EXPECT_EQ(waited_meanwhile(2), 4);
    EXPECT_LE(waited_meanwhile(0), 1);
}

}  // namespace
}  // namespace tesela::workers_test
