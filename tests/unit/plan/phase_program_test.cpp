#include "tesela/plan/phase_program.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/plan/bounds.hpp"
#include "unit/plan/phase_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

namespace tesela::plan::phase_program_test {
namespace {

using plan::testing::never;
using plan::testing::phase_instances;
using plan::testing::PhaseInstance;

PhaseModel model_of(const PhaseInstance& instance) {
    PhaseModel model;
    model.first = instance.strict ? FirstPhase::a_task_per_step : FirstPhase::starts_with_a_task;
    model.counts.steps = instance.steps;
    model.counts.counts.assign(instance.counts.begin(), instance.counts.end());
    for (int t = 0; t < instance.types; ++t) {
        TaskType& type = model.counts.types.emplace_back();
        type.kernel = "k" + std::to_string(t);
        type.part = t < instance.first ? Part::first : Part::second;
        for (Index s = 0; s < instance.steps; ++s)
            type.tasks += instance.counts[static_cast<std::size_t>(s * instance.types + t)];
    }
    for (std::size_t r = 0; r < instance.workers.size(); ++r) {
        ResourceGroup& group = model.groups.emplace_back();
        group.name = "g" + std::to_string(r);
        group.nodes = {static_cast<Index>(r)};
        group.worker_seconds = instance.worker_seconds[r];
        group.workers = instance.workers[r];
        for (const double seconds : group.worker_seconds) group.group_seconds.push_back(seconds / instance.workers[r]);
    }
    return model;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(PhaseProgram, SumsOfEndsEqualThoseOfScipy) {
    for (const PhaseInstance& instance : phase_instances) {
        const PhaseSolution solution = solve_phases(model_of(instance));
        ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
        EXPECT_NEAR(sum(solution.first_ends) + sum(solution.second_ends), instance.sum_of_ends,
                    1e-6 * instance.sum_of_ends);
        EXPECT_LE(solution.certificate.gap, 1e-6);
        EXPECT_LE(solution.certificate.primal_violation, 1e-7);
        EXPECT_LE(solution.certificate.dual_violation, 1e-7);
    }
}

TEST(AreaBound, FewReadersLeaveTheOtherWorkersToOtherTasks) {
    // 10 workers, of which 2 can read at a time: 10 reads of 1 s take 5 s, and 30 other tasks fit beside them.
    StepCounts counts{.steps = 1,
                      .types = {{.kernel = "read", .part = Part::first, .tasks = 10}, {.kernel = "other", .tasks = 30}},
                      .counts = {10, 30}};
    const std::vector<ResourceGroup> groups{
        {.name = "cores", .nodes = {0}, .worker_seconds = {1, 1}, .group_seconds = {0.5, 0.1}, .workers = 10}};
    EXPECT_NEAR(area_bound(counts, groups), 5, 1e-9);
    counts.types[1].tasks = 60;
    EXPECT_NEAR(area_bound(counts, groups), 7, 1e-9);
}

TEST(PhaseProgram, OneWorkerDoesOneThingAfterTheOther) {
    // Two steps of one task each of 2 s and 3 s on a single worker: generation ends at 2 and 4, computation at 5
    // and 10.
    const PhaseModel model = model_of({.steps = 2,
                                       .types = 2,
                                       .first = 1,
                                       .strict = false,
                                       .counts = {1, 1, 1, 1},
                                       .worker_seconds = {{2, 3}},
                                       .workers = {1},
                                       .sum_of_ends = 0});
    const PhaseSolution solution = solve_phases(model);
    ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
    EXPECT_THAT(solution.first_ends, ::testing::Pointwise(::testing::DoubleNear(1e-6), {2.0, 4.0}));
    EXPECT_THAT(solution.second_ends, ::testing::Pointwise(::testing::DoubleNear(1e-6), {5.0, 10.0}));
    EXPECT_NEAR(solution.ideal, 10, 1e-6);
    EXPECT_NEAR(area_bound(model.counts, model.groups), 10, 1e-9);
    EXPECT_NEAR(phase_powers(model, solution, Part::first, 1)[0], 1, 1e-9);
}

TEST(PhaseProgram, WorkThatOnlyOneNodeCanDoGoesThere) {
    // A GPU node computes, and both generate: 12 tasks of 1 s on 1 worker each, 4 tasks of 1 s on the GPU alone.
    const PhaseModel model = model_of({.steps = 1,
                                       .types = 2,
                                       .first = 1,
                                       .strict = false,
                                       .counts = {12, 4},
                                       .worker_seconds = {{1, never}, {1, never}, {never, 1}},
                                       .workers = {1, 1, 1},
                                       .sum_of_ends = 0});
    const PhaseSolution solution = solve_phases(model);
    ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
    EXPECT_NEAR(solution.first_ends[0], 6, 1e-6);
    EXPECT_NEAR(solution.ideal, 10, 1e-6);
    EXPECT_NEAR(solution.tasks[0][0], 6, 1e-6);
    EXPECT_NEAR(solution.tasks[0][1], 6, 1e-6);
    EXPECT_NEAR(solution.tasks[1][2], 4, 1e-6);
    EXPECT_NEAR(phase_powers(model, solution, Part::second, 3)[2], 1, 1e-9);
}

TEST(PhaseProgram, SaysWhyThereIsNoSolution) {
    const PhaseModel model = model_of({.steps = 1,
                                       .types = 2,
                                       .first = 1,
                                       .strict = false,
                                       .counts = {1, 1},
                                       .worker_seconds = {{1, never}},
                                       .workers = {1},
                                       .sum_of_ends = 0});
    const PhaseSolution solution = solve_phases(model);
    EXPECT_EQ(solution.outcome, lp::Outcome::infeasible);
    EXPECT_EQ(solution.reason, "no node that takes part can run k1");
}

RC_GTEST_PROP(PhaseProgram, RandomInstancesAreProvenByTheirDuals, ()) {
    const auto number = [](int least, int most) { return *rc::gen::inRange(least, most + 1); };
    PhaseInstance instance{.steps = number(1, 8),
                           .types = number(2, 5),
                           .first = 1,
                           .strict = number(0, 1) == 1,
                           .counts = {},
                           .worker_seconds = {},
                           .workers = {},
                           .sum_of_ends = 0};
    for (int k = 0; k < instance.steps * instance.types; ++k) instance.counts.push_back(number(0, 20));
    for (int t = 0; t < instance.types; ++t) instance.counts[static_cast<std::size_t>(t)] = number(1, 20);
    const int groups = number(1, 5);
    for (int r = 0; r < groups; ++r) {
        std::vector<double> seconds;
        for (int t = 0; t < instance.types; ++t)
            seconds.push_back(r > 0 && number(0, 3) == 0 ? never : 0.001 * number(1, 900));
        instance.worker_seconds.push_back(seconds);
        instance.workers.push_back(number(1, 40));
    }
    const PhaseModel model = model_of(instance);
    const PhaseSolution solution = solve_phases(model);
    RC_ASSERT(solution.outcome == lp::Outcome::optimal);
    RC_ASSERT(solution.certificate.gap <= 1e-6);
    RC_ASSERT(solution.certificate.primal_violation <= 1e-6);
    RC_ASSERT(solution.certificate.dual_violation <= 1e-6);
    RC_ASSERT(solution.ideal >= area_bound(model.counts, model.groups) * (1 - 1e-6));
    for (const Part part : {Part::first, Part::second})
        RC_ASSERT(std::abs(sum(phase_powers(model, solution, part, groups)) - 1) < 1e-9);
}

/// Node types a and b differ in name alone; c is faster.
Platform mixed(const std::vector<std::string>& order) {
    const auto kernel = [](const char* name, double seconds) {
        return KernelTime{.kernel = name, .time = TimedKernel{.seconds = {{.tile = 100, .value = seconds}}}};
    };
    Platform platform{.name = "mixed", .node_types = {}, .subnets = {}};
    for (const std::string& name : order) {
        const double speed = name == "c" ? 4 : 1;
        NodeType& type = platform.node_types.emplace_back();
        type.name = name;
        type.count = name == "b" ? 2 : 1;
        type.memory = 1e12;
        type.nic = {.bandwidth = 1e9, .latency = 1e-5};
        WorkerGroup& group = type.workers.emplace_back();
        group.name = "cores";
        group.count = 4;
        group.kernels = {kernel("make", 1), kernel("use", 1 / speed)};
    }
    return platform;
}

StepCounts some_counts() {
    StepCounts counts{.steps = 3, .types = {}, .counts = {7, 9, 11, 20, 3, 40}};
    counts.types.push_back({.kernel = "make", .part = Part::first, .work = {.tile = 100}, .tasks = 21});
    counts.types.push_back({.kernel = "use", .part = Part::second, .work = {.tile = 100}, .tasks = 69});
    return counts;
}

TEST(PhaseProgram, EqualNodesGetEqualPowersHoweverTheyAreNumberedAndCalled) {
    std::vector<std::vector<double>> sorted;
    for (const auto& order : std::vector<std::vector<std::string>>{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}}) {
        const Platform platform = mixed(order);
        const PhaseModel model{.counts = some_counts(), .groups = resource_groups(platform, some_counts())};
        EXPECT_EQ(model.groups.size(), 2U);
        const PhaseSolution solution = solve_phases(model);
        ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
        std::vector<double> all;
        for (const Part part : {Part::first, Part::second}) {
            std::vector<double> powers = phase_powers(model, solution, part, 4);
            std::ranges::sort(powers);
            all.insert(all.end(), powers.begin(), powers.end());
        }
        for (const std::size_t part : {0U, 4U}) EXPECT_EQ(all[part + 1], all[part + 2]);  // c is at one of the ends
        sorted.push_back(all);
    }
    EXPECT_EQ(sorted[0], sorted[1]);
    EXPECT_EQ(sorted[0], sorted[2]);
}

TEST(PhaseProgram, NodeTypesThatAreLeftOutOfAPhaseHaveNoPowerInIt) {
    const Platform platform = mixed({"a", "b", "c"});
    const PhaseModel model{.counts = some_counts(),
                           .groups = resource_groups(platform, some_counts(), {.first = {}, .second = {0, 0, 1}})};
    const PhaseSolution solution = solve_phases(model);
    ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
    EXPECT_THAT(phase_powers(model, solution, Part::second, 4),
                ::testing::Pointwise(::testing::DoubleNear(1e-9), {0.0, 0.0, 0.0, 1.0}));
    EXPECT_GT(phase_powers(model, solution, Part::first, 4)[0], 0);
    const PhaseModel nobody{.counts = some_counts(),
                            .groups = resource_groups(platform, some_counts(), {.first = {}, .second = {0, 0, 0}})};
    EXPECT_EQ(solve_phases(nobody).reason, "no node that takes part can run use");
}

TEST(PhaseProgram, AFewNodesOfATypeMayTakePartAloneInAPhase) {
    const Platform platform = mixed({"a", "b", "c"});
    const PhaseModel model{
        .counts = some_counts(),
        .groups = resource_groups(platform, some_counts(), {.first = {0, 2, 1}, .second = {0, 1, 0}})};
    const PhaseSolution solution = solve_phases(model);
    ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
    EXPECT_THAT(phase_powers(model, solution, Part::second, 4),
                ::testing::Pointwise(::testing::DoubleNear(1e-9), {0.0, 1.0, 0.0, 0.0}));
    const std::vector<double> first = phase_powers(model, solution, Part::first, 4);
    EXPECT_EQ(first[0], 0);
    EXPECT_GT(first[2], first[1]);
    EXPECT_GT(first[3], 0);
}

TEST(PhaseProgram, SharesKeepToTheMemoryOfNodes) {
    const Platform platform = mixed({"a", "b", "c"});
    const auto powers = [&](const std::vector<double>& most_shares) {
        const PhaseModel model{.counts = some_counts(),
                               .groups = resource_groups(platform, some_counts(), {.most_shares = most_shares})};
        const PhaseSolution solution = solve_phases(model);
        EXPECT_EQ(solution.outcome, lp::Outcome::optimal) << solution.reason;
        std::vector<std::vector<double>> phases;
        for (const Part part : {Part::first, Part::second}) phases.push_back(phase_powers(model, solution, part, 4));
        return phases;
    };
    const auto free = powers({});
    EXPECT_EQ(powers({1, 1, 1}), free);
    EXPECT_GT(free[1][3], 0.5);  // c is the fastest in the second phase
    const auto bounded = powers({1, 0.2, 0.3});
    for (const std::vector<double>& phase : bounded) {
        EXPECT_NEAR(sum(phase), 1, 1e-9);
        EXPECT_LE(phase[1], 0.2 + 1e-9);
        EXPECT_LE(phase[2], 0.2 + 1e-9);
        EXPECT_LE(phase[3], 0.3 + 1e-9);
    }
    EXPECT_NEAR(bounded[1][3], 0.3, 1e-9);
    const PhaseModel full{.counts = some_counts(),
                          .groups = resource_groups(platform, some_counts(), {.most_shares = {0.2, 0.2, 0.3}})};
    EXPECT_EQ(solve_phases(full).reason, "the nodes that take part have no room for the tiles");
}

}  // namespace
}  // namespace tesela::plan::phase_program_test
