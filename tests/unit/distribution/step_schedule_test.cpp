#include "tesela/distribution/step_schedule.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/platform_constraint.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tesela::step_schedule_test {
namespace {

/// A task of a factorization, with the tasks that it needs by name.
struct PlainTask {
    TileIndex tile;
    Index k = 0;
    double KernelCosts::*kernel = nullptr;
    std::vector<std::tuple<Index, Index, Index>> needs;
};

/// The tasks as a textbook has them, loop by loop.
std::vector<PlainTask> plain_tasks(Operation operation, Index n) {
    std::vector<PlainTask> tasks;
    const auto add = [&](TileIndex t, Index k, double KernelCosts::*kernel,
                         std::vector<std::tuple<Index, Index, Index>> needs) {
        if (k > 0) needs.emplace_back(t.i, t.j, k - 1);
        tasks.push_back({t, k, kernel, std::move(needs)});
    };
    for (Index k = 0; k < n; ++k) {
        add({k, k}, k, &KernelCosts::factor, {});
        for (Index i = k + 1; i < n; ++i) {
            add({i, k}, k, &KernelCosts::solve, {{k, k, k}});
            if (operation == Operation::lu) add({k, i}, k, &KernelCosts::solve, {{k, k, k}});
        }
        for (Index j = k + 1; j < n; ++j)
            for (Index i = k + 1; i < n; ++i) {
                if (operation == Operation::lu)
                    add({i, j}, k, &KernelCosts::update, {{i, k, k}, {k, j, k}});
                else if (i == j)
                    add({i, j}, k, &KernelCosts::symmetric_update, {{i, k, k}});
                else if (i > j)
                    add({i, j}, k, &KernelCosts::update, {{i, k, k}, {j, k, k}});
            }
    }
    return tasks;
}

/// The definition, in rounds of one unit in which each node does the most urgent thing that it can: exact where all
/// times are whole.
double makespan_by_rounds(const Distribution& owners, const Workload& workload, const std::vector<NodeTimes>& nodes) {
    std::vector<PlainTask> tasks = plain_tasks(workload.operation, owners.grid().rows);
    std::ranges::sort(tasks, {},
                      [](const PlainTask& t) { return std::tuple(t.tile.i + t.tile.j + t.k, t.k, t.tile.j); });
    std::map<std::tuple<Index, Index, Index>, double> ended;  // when
    std::map<std::size_t, double> left, ready;
    double time = 0;
    const auto settle = [&] {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t t = 0; t < tasks.size(); ++t) {
                const auto& [tile, k, kernel, needs] = tasks[t];
                if (ended.contains({tile.i, tile.j, k})) continue;
                const auto& its = nodes[static_cast<std::size_t>(owners.owner(tile).number())];
                const double density = workload.density[tile];
                if (!ready.contains(t) &&
                    std::ranges::all_of(needs, [&](const auto& need) { return ended.contains(need); })) {
                    ready[t] = time;
                    left[t] = density * its.shared.*kernel;
                    changed = true;
                }
                if (ready.contains(t) && left[t] <= 0 && time >= ready[t] + density * its.alone.*kernel) {
                    ended[{tile.i, tile.j, k}] = time;
                    changed = true;
                }
            }
        }
    };
    settle();
    for (; ended.size() < tasks.size(); settle()) {
        std::vector<bool> busy(nodes.size());
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            const auto node = static_cast<std::size_t>(owners.owner(tasks[t].tile).number());
            if (busy[node] || !ready.contains(t) || left[t] <= 0) continue;
            busy[node] = true;
            left[t] -= 1;
        }
        time += 1;
    }
    return time;
}

double whole(int from, int to) { return static_cast<double>(*rc::gen::inRange(from, to)); }

KernelCosts whole_costs() { return {whole(1, 4), whole(1, 4), whole(1, 4), whole(1, 4)}; }

/// A node of several workers: a call takes so many times as long on one of them.
NodeTimes some_node() {
    const KernelCosts shared = whole_costs();
    const double workers = whole(1, 5);
    return {
        shared,
        {shared.factor * workers, shared.solve * workers, shared.symmetric_update * workers, shared.update * workers}};
}

RC_GTEST_PROP(StepMakespan, AgreesWithRoundsOfOneUnitOnUnequalNodes, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 7);
    const Index count = *rc::gen::inRange<Index>(1, 5);
    const Distribution owners = random_distribution({n, n}, count, *rc::gen::arbitrary<std::uint64_t>());
    std::vector<NodeTimes> nodes;
    for (Index p = 0; p < count; ++p) nodes.push_back(some_node());
    for (const auto operation : {Operation::lu, Operation::cholesky}) {
        Workload workload{.operation = operation, .density = full_density({n, n})};
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) workload.density[{i, j}] = whole(1, 3);
        const double found = step_makespan(owners, workload, nodes);
        RC_ASSERT(found == makespan_by_rounds(owners, workload, nodes));
        RC_ASSERT(found >= std::ranges::max(node_times(owners, workload, nodes)));
        RC_ASSERT(found >= ideal_time(workload, nodes) * (1 - 1e-9));
    }
}

RC_GTEST_PROP(StepMakespan, OfAProductIsTheBusiestNodeOrTheLongestChain, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 6);
    const Distribution owners = random_distribution({n, n}, 3, *rc::gen::arbitrary<std::uint64_t>());
    const std::vector<NodeTimes> nodes{some_node(), some_node(), some_node()};
    const Workload workload{.operation = Operation::product, .density = synthetic_density(n, {})};
    std::vector<double> work(3);
    double longest = 0;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            const auto node = static_cast<std::size_t>(owners.owner({i, j}).number());
            const double calls = static_cast<double>(n) * workload.density[{i, j}];
            work[node] += calls * nodes[node].shared.update;
            longest = std::max({longest, work[node], calls * nodes[node].alone.update});
        }
    RC_ASSERT(std::abs(step_makespan(owners, workload, nodes) - longest) < 1e-9 * longest);
}

RC_GTEST_PROP(NodeTimes, ByPowerAreLoadsOverPowersAndTheIdealAllOfThem, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 10);
    const Index count = *rc::gen::inRange<Index>(1, 8);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Distribution owners = random_distribution({n, n}, count, seed);
    std::vector<double> powers;
    for (Index p = 0; p < count; ++p) powers.push_back(whole(1, 20) / 2);
    for (const auto operation : {Operation::product, Operation::lu, Operation::cholesky}) {
        const Workload workload{.operation = operation, .density = synthetic_density(n, {.seed = seed})};
        const auto nodes = times_by_power(workload.costs, count, powers);
        const auto loads = node_loads(owners, tile_weights(workload));
        const auto times = node_times(owners, workload, nodes);
        for (std::size_t p = 0; p < powers.size(); ++p)
            RC_ASSERT(std::abs(times[p] - loads[p] / powers[p]) < 1e-9 * (1 + times[p]));
        const LoadSummary by_powers = summarise_loads(loads, powers);
        const LoadSummary by_times = summarise_times(times, ideal_time(workload, nodes));
        RC_ASSERT(std::abs(by_powers.max_over_ideal - by_times.max_over_ideal) < 1e-9 * by_powers.max_over_ideal);
        RC_ASSERT(std::abs(by_powers.dispersion - by_times.dispersion) < 1e-9);
    }
}

TEST(StepMakespan, OfOneNodeIsItsWorkAndOfManyWorkersTheChain) {
    const Workload lu{.operation = Operation::lu, .density = full_density({5, 5})};
    const Distribution one({5, 5}, 1, std::vector<std::int32_t>(25, 0));
    EXPECT_DOUBLE_EQ(step_makespan(one, lu, times_by_power(lu.costs, 1)), tile_weights(lu).total());
    // getrf, trsm and gemm of each step but the last, one after the other.
    const std::vector<NodeTimes> many{{{1e-9, 1e-9, 1e-9, 1e-9}, {1, 3, 3, 6}}};
    EXPECT_NEAR(step_makespan(one, lu, many), 4 * 10 + 1, 1e-6);
}

TEST(StepMakespan, RefusesTimesOfOtherNodes) {
    const Workload lu{.operation = Operation::lu, .density = full_density({2, 2})};
    const Distribution two({2, 2}, 2, {0, 1, 1, 0});
    EXPECT_THROW((void)step_makespan(two, lu, times_by_power(lu.costs, 3)), Error);
    EXPECT_THROW((void)times_by_power(lu.costs, 3, std::vector<double>{1, 2}), Error);
    const Workload larger{.operation = Operation::lu, .density = full_density({3, 3})};
    EXPECT_THROW((void)step_makespan(two, larger, times_by_power(lu.costs, 2)), Error);
}

TEST(PlatformTimes, AreThoseOfAllWorkersTogetherAndOfTheFastestAlone) {
    const auto rated = [](const char* kernel, double rate) {
        return KernelTime{.kernel = kernel, .time = RatedKernel{.rate = rate, .efficiency = {}}};
    };
    const auto kernels = [&](double rate) {
        return std::vector{rated("dpotrf", rate / 2), rated("dtrsm", rate), rated("dsyrk", rate), rated("dgemm", rate)};
    };
    const Platform platform{.name = "p",
                            .node_types = {{.name = "slow",
                                            .count = 2,
                                            .workers = {{.name = "cores", .count = 4, .kernels = kernels(1e9)}}},
                                           {.name = "fast",
                                            .count = 1,
                                            .workers = {{.name = "cores", .count = 2, .kernels = kernels(1e9)},
                                                        {.name = "gpu", .count = 1, .kernels = kernels(8e9)}}}},
                            .subnets = {}};
    const auto times = platform_times(platform, Operation::cholesky, 100);
    ASSERT_EQ(times.size(), 3U);
    EXPECT_NEAR(times[1].shared.update, 2e6 / 4e9, 1e-12);
    EXPECT_NEAR(times[1].alone.update, 2e6 / 1e9, 1e-12);
    EXPECT_NEAR(times[2].shared.update, 2e6 / 10e9, 1e-12);
    EXPECT_NEAR(times[2].alone.update, 2e6 / 8e9, 1e-12);
    EXPECT_NEAR(times[2].alone.factor, 1e6 / 3 / 4e9, 1e-12);
    EXPECT_NEAR(times[0].shared.solve, 1e6 / 4e9, 1e-12);
    EXPECT_THROW((void)platform_times(platform, Operation::lu, 100), Error);  // there is no dgetrf
}

}  // namespace
}  // namespace tesela::step_schedule_test
