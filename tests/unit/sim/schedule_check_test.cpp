// The check of schedules finds what is wrong: each rule is broken here in a schedule that kept it.

#include "schedule_check.hpp"
#include "geo_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tesela::schedule_check_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

/// A schedule that is right, to be spoilt.
class SpoiltSchedule : public ::testing::Test {
protected:
    Simulated simulated_;

    void run(Platform platform, const SimulationOptions& options, const std::function<void(Stream&)>& work) {
        simulated_.platform = std::move(platform);
        simulate(simulated_, options, work);
        ASSERT_EQ(broken(), "");
    }
    [[nodiscard]] std::string broken() const { return ScheduleCheck(simulated_).broken(); }

    /// The tasks of the recorded items with this kernel, in the order of the stream.
    std::vector<ScheduledTask*> tasks_of(std::string_view kernel) {
        std::vector<ScheduledTask*> found;
        for (ScheduledTask& task : simulated_.schedule->tasks)
            if (kernel == task.kernel->name) found.push_back(&task);
        std::ranges::sort(found, {}, &ScheduledTask::item);
        return found;
    }
    /// It takes as long, from then on, on another worker.
    static void put(ScheduledTask& task, double start, std::int32_t worker) {
        task.end = start + (task.end - task.start);
        task.start = start;
        task.ready = std::min(task.ready, start);
        task.submitted = std::min(task.submitted, start);
        task.worker = worker;
    }

    static Platform one_node(Index workers) { return platform_of({cores("node", 1, workers)}); }
    static Matrix<double> column(Stream& s, Index rows, const Distribution& owners) {
        return {s,
                Tiling::uniform({rows * tile_size, tile_size}, {tile_size, tile_size}),
                owners,
                {.name = "A", .memory = [](TileIndex) { return TileMemory{}; }}};
    }
    static inline const SimulationOptions at_once{.submission_seconds = 0, .passing_seconds = 0};
};

TEST_F(SpoiltSchedule, WithATaskThatDoesNotWaitForItsDataIsFound) {
    run(one_node(4), at_once, [](Stream& s) {
        const auto A = column(s, 2, all_on(1, 0, {2, 1}));
        s.submit(tasks::potrf(A(0, 0)));
        s.submit(tasks::syrk(-1, A(0, 0), 1, A(1, 0)));
    });
    put(*tasks_of("dsyrk").front(), 0, 3);
    EXPECT_THAT(broken(), HasSubstr("item 1 starts before datum 0 is there"));
}

TEST_F(SpoiltSchedule, WithATaskThatOverwritesWhatIsReadIsFound) {
    run(one_node(4), at_once, [](Stream& s) {
        const auto A = column(s, 2, all_on(1, 0, {2, 1}));
        s.submit(tasks::syrk(-1, A(0, 0), 1, A(1, 0)));
        s.submit(tasks::laset({}, A(0, 0)));
    });
    put(*tasks_of("dlaset").front(), 0, 3);
    EXPECT_THAT(broken(), HasSubstr("item 1 overwrites what item 0 still uses"));
}

TEST_F(SpoiltSchedule, WithAMessageThatComesTooLateIsFound) {
    run(platform_of({cores("node", 2, 2)}), at_once, [](Stream& s) {
        const auto A = column(s, 2, Distribution({2, 1}, 2, {0, 1}));
        s.submit(tasks::potrf(A(0, 0)));
        s.submit(tasks::syrk(-1, A(0, 0), 1, A(1, 0)));
        s.submit(tasks::laset({}, A(0, 0)));
    });
    ScheduledMessage& message = simulated_.schedule->messages.front();
    const ScheduledMessage right = message;
    message.arrival += 1;
    EXPECT_THAT(broken(), HasSubstr("item 1 starts before datum 0 is there"));
    message = right;
    message.start = 0;  // with an older value
    EXPECT_THAT(broken(), HasSubstr("item 1 starts before datum 0 is there"));
    message = right;
    message.sent += 1;
    EXPECT_THAT(broken(), HasSubstr("item 2 overwrites datum 0 while it is sent"));
}

TEST_F(SpoiltSchedule, WithALinkThatCarriesMoreThanItCanIsFound) {
    run(platform_of({cores("node", 2, 4)}), at_once, [](Stream& s) {
        const auto A = column(s, 3, Distribution({3, 1}, 2, {0, 1, 1}));
        s.submit(tasks::syrk(-1, A(0, 0), 1, A(1, 0)));
        s.submit(tasks::laset({}, A(2, 0)));
    });
    simulated_.schedule->messages.front().sent *= 0.9;
    EXPECT_THAT(broken(), HasSubstr("above its capacity"));
}

/// Three tasks that add to one tile, in any order.
void add_three_times(Stream& s, const Matrix<double>& A) {
    for (Index i = 1; i < 4; ++i) {
        Task task = tasks::gemm(1, A(0, 0), A(i, 0), 1, A(4, 0));
        task.accesses[2].mode = AccessMode::commute;
        s.submit(task.at(0, static_cast<std::int32_t>(i)));  // the last is the first
    }
}

TEST_F(SpoiltSchedule, WithTwoCommutingTasksAtOnceIsFound) {
    run(one_node(4), at_once, [](Stream& s) { add_three_times(s, column(s, 5, all_on(1, 0, {5, 1}))); });
    const auto products = tasks_of("dgemm");
    ASSERT_EQ(products[0]->start, 0);
    put(*products[2], products[0]->end / 2, 3);
    EXPECT_THAT(broken(), HasSubstr("commute on datum 4 at the same time"));
}

TEST_F(SpoiltSchedule, WithAReaderAmongCommutingTasksIsFound) {
    run(one_node(4), at_once, [](Stream& s) {
        const auto A = column(s, 6, all_on(1, 0, {6, 1}));
        add_three_times(s, A);
        s.submit(tasks::syrk(-1, A(4, 0), 1, A(5, 0)));
    });
    // After two of the three.
    put(*tasks_of("dsyrk").front(), 2 * 2.3e-3, 3);
    EXPECT_THAT(broken(), HasSubstr("item 3 starts before datum 4 is there"));
}

TEST_F(SpoiltSchedule, WithMoreTasksOfAKernelThanItsNodeAllowsIsFound) {
    Platform platform = one_node(4);
    platform.node_types[0].limits["dlaset"] = 2;
    run(platform, at_once, [](Stream& s) { zero_tiles(s, 3); });
    put(*tasks_of("dlaset").back(), 0.05e-3, 3);
    EXPECT_THAT(broken(), HasSubstr("more than 2 tasks that need dlaset run"));
}

TEST_F(SpoiltSchedule, WithMoreTasksThanAResourceServesIsFound) {
    for (const bool node_has_fewer : {false, true}) {
        simulated_ = {};
        Platform platform = one_node(4);
        if (node_has_fewer) platform.node_types[0].limits["reader"] = 1;
        run(platform, at_once, [&](Stream& s) {
            const auto A = column(s, 2, all_on(1, 0, {2, 1}));
            for (Index i = 0; i < 2; ++i) s.submit(tasks::laset({}, A(i, 0)).needs({"reader", node_has_fewer ? 2 : 1}));
        });
        put(*tasks_of("dlaset").back(), 0, 3);
        EXPECT_THAT(broken(), HasSubstr("more than 1 tasks that need reader run"));
    }
}

TEST_F(SpoiltSchedule, WithAnotherOrderThanThatOfPrioritiesIsFound) {
    run(one_node(1), {.submission_seconds = 0, .passing_seconds = 0}, [](Stream& s) {
        const auto A = column(s, 3, all_on(1, 0, {3, 1}));
        for (Index i = 0; i < 3; ++i) s.submit(tasks::laset({}, A(i, 0)).at(0, i == 2 ? 1 : 0));
    });
    const auto zeroed = tasks_of("dlaset");  // the last is more urgent than the second
    ASSERT_LT(zeroed[2]->start, zeroed[1]->start);
    std::swap(zeroed[1]->start, zeroed[2]->start);
    std::swap(zeroed[1]->end, zeroed[2]->end);
    EXPECT_THAT(broken(), HasSubstr("before item 2, which was ready and more urgent"));
}

TEST_F(SpoiltSchedule, WithAnOrdinaryTaskOnTheCriticalWorkerIsFound) {
    SimulationOptions options = at_once;
    options.critical = CriticalWorker::shared_core;
    run(one_node(2), options, [](Stream& s) { zero_tiles(s, 3); });
    put(*tasks_of("dlaset").back(), 0, 2);
    EXPECT_THAT(broken(), HasSubstr("item 2 is not critical"));
}

TEST_F(SpoiltSchedule, WithACriticalTaskThatWaitsBesideItsWorkerIsFound) {
    SimulationOptions options = at_once;
    options.critical = CriticalWorker::shared_core;
    run(one_node(1), options, [](Stream& s) {
        const auto A = column(s, 2, all_on(1, 0, {2, 1}));
        s.submit(tasks::laset({}, A(0, 0)));
        s.submit(tasks::potrf(A(1, 0)).critical());
    });
    ScheduledTask& critical = *tasks_of("dpotrf").front();
    ASSERT_EQ(critical.worker, 1);
    critical.start += 0.1e-3;
    critical.end += 0.1e-3;
    simulated_.result.makespan += 0.1e-3;
    EXPECT_THAT(broken(), HasSubstr("item 1 waits beside worker 1, which is idle"));
}

TEST_F(SpoiltSchedule, WithATaskThatWaitsForNothingIsFound) {
    run(one_node(4), at_once, [](Stream& s) { zero_tiles(s, 4); });
    ScheduledTask& late = *tasks_of("dlaset").back();
    late.start += 0.1e-3;
    late.end += 0.1e-3;
    simulated_.result.makespan += 0.1e-3;
    EXPECT_THAT(broken(), HasSubstr("item 3 waits beside worker"));
}

TEST_F(SpoiltSchedule, WithTwoCoresThatTakeTasksAtOnceIsFound) {
    Platform platform = one_node(2);
    platform.node_types[0].runtime.turn = 0.01e-3;
    run(platform, at_once, [](Stream& s) { zero_tiles(s, 2); });
    put(*tasks_of("dlaset").back(), 0, 1);
    EXPECT_THAT(broken(), HasSubstr("two cores of node 0 take tasks at once"));
}

TEST_F(SpoiltSchedule, WithOtherDurationsThanThoseOfItsNoiseIsFound) {
    SimulationOptions options = at_once;
    options.noise = 0.3;
    options.seed = 4;
    run(one_node(2), options, [](Stream& s) { zero_tiles(s, 4); });
    simulated_.options.seed = 5;
    EXPECT_THAT(broken(), HasSubstr("takes"));
    simulated_.options.seed = 4;
    simulated_.options.noise = 0;
    EXPECT_THAT(broken(), HasSubstr("takes"));
}

TEST_F(SpoiltSchedule, WithATaskThatDoesNotWaitWithItsStreamIsFound) {
    run(one_node(2), at_once, [](Stream& s) {
        const auto A = column(s, 2, all_on(1, 0, {2, 1}));
        s.submit(tasks::potrf(A(0, 0)));
        require_done(s.wait());
        s.submit(tasks::laset({}, A(1, 0)));
    });
    put(*tasks_of("dlaset").front(), 0, 1);
    EXPECT_THAT(broken(), HasSubstr("item 1 did not wait for all before item 1"));
}

TEST_F(SpoiltSchedule, OnAGpuThatHoldsTooMuchOrNotWhatItNeedsIsFound) {
    Platform platform = platform_of({with_gpus(cores("node", 1, 1), {.memory = 4 * tile_of_doubles})});
    platform.node_types[0].workers[0].kernels = kernels({{"dlaset", 0.1e-3}, {"dgemm", 1}});
    run(platform, at_once, [](Stream& s) {
        const auto A = column(s, 4, all_on(1, 0, {4, 1}));
        s.submit(tasks::gemm(1, A(0, 0), A(1, 0), 1, A(2, 0)));
        s.submit(tasks::gemm(1, A(0, 0), A(1, 0), 1, A(3, 0)));
    });
    ASSERT_EQ(tasks_of("dgemm").front()->worker, 1);
    WorkerGroup& gpus = simulated_.platform.node_types[0].workers[1];
    gpus.memory = 2 * tile_of_doubles;
    EXPECT_THAT(broken(), HasSubstr("GPU 1 of node 0 holds more than it can"));
    gpus.memory = 4 * tile_of_doubles;
    std::erase_if(simulated_.schedule->memory_changes,
                  [](const ScheduledMemory& change) { return change.memory == 1 && change.bytes > 0; });
    std::erase_if(simulated_.schedule->memory_changes,
                  [](const ScheduledMemory& change) { return change.memory == 1; });
    EXPECT_THAT(broken(), HasSubstr("memory 1 does not hold the tiles of what runs"));
}

TEST_F(SpoiltSchedule, OnAGpuThatIsFasterThanItCanBeIsFound) {
    Platform platform = platform_of({with_gpus(cores("node", 1, 1), {.streams = 2})});
    platform.node_types[0].workers[0].kernels = kernels({{"dgemm", 1}});
    run(platform, at_once, [](Stream& s) {
        const auto A = column(s, 4, all_on(1, 0, {4, 1}));
        s.submit(tasks::gemm(1, A(0, 0), A(1, 0), 1, A(2, 0)));
        s.submit(tasks::gemm(1, A(0, 0), A(1, 0), 1, A(3, 0)));
    });
    for (ScheduledTask* task : tasks_of("dgemm")) task->end = task->start + 0.23e-3;  // as if each were alone
    EXPECT_THAT(broken(), HasSubstr("GPU 1 of node 0 is above its rate"));
}

TEST_F(SpoiltSchedule, OfANodeWithTooLittleMemoryThatIsNotNamedIsFound) {
    Platform platform = one_node(2);
    platform.node_types[0].memory = 2 * tile_of_doubles;
    run(platform, at_once, [](Stream& s) { zero_tiles(s, 3); });
    ASSERT_EQ(simulated_.result.warnings.size(), 1U);
    const std::vector<std::string> warnings = std::exchange(simulated_.result.warnings, {});
    EXPECT_THAT(broken(), HasSubstr("no warning that node 0 has too little memory"));
    simulated_.result.warnings = warnings;
    simulated_.platform.node_types[0].memory = 3 * tile_of_doubles;
    EXPECT_THAT(broken(), HasSubstr("a warning of memory that suffices"));
    simulated_.result.memory_peak[0] += 8;
    EXPECT_THAT(broken(), HasSubstr("the peak of memory is wrong"));
}

TEST_F(SpoiltSchedule, OfALikelihoodWhosePhasesDoNotWaitForEachOtherIsFound) {
    const auto evaluate = [&] {
        simulated_ = {};
        run(for_geo(platform_of({cores("node", 2, 8)})), at_once, [](Stream& s) {
            evaluate_likelihood(s, Distribution({3, 3}, 2, {0, 0, 0, 1, 1, 1, 0, 0, 1}), geo::Overlap::async);
        });
    };
    evaluate();
    // Generation, Cholesky, determinant, solve, the products of its result, and sums over nodes.
    std::set<std::string> readers;
    for (const RecordedItem& item : simulated_.recording.items)
        if (item.kind == RecordedItem::Kind::task && reads(simulated_.recording.accesses_of(item).front().mode))
            readers.insert(item.kernel->name);
    EXPECT_THAT(readers, IsSupersetOf({"dpotrf", "dtrsm", "dsyrk", "dgemm", "dlogdet", "dgeadd"}));
    for (const std::string& kernel : readers) {
        evaluate();
        put(*tasks_of(kernel).front(), 0, 7);
        EXPECT_THAT(broken(), HasSubstr("is there")) << kernel;
    }
}

}  // namespace
}  // namespace tesela::schedule_check_test
