#include "tesela/sim/allocation_metrics.hpp"

#include "tesela/algs/recorded_operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/step_schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace tesela::allocation_metrics_test {
namespace {

Workload dense(Operation operation, Index tiles) {
    return {.operation = operation, .density = full_density({tiles, tiles})};
}

/// Rounds of one unit in which every node does the most urgent thing it can: exact for whole durations when tasks may
/// give way to each other, and written without events.
double makespan_by_rounds(const AllocationMetrics& metrics, const Recording& recording, const Distribution& owners) {
    const TaskGraph graph = dependency_graph(recording);
    std::vector<double> left = metrics.durations();
    std::vector<bool> done(graph.size(), false);
    const auto can_run = [&](std::size_t v) {
        return std::ranges::all_of(graph.predecessors_of(v), [&](std::uint32_t u) { return done[u]; });
    };
    const auto settle = [&] {
        for (std::size_t v = 0; v < graph.size(); ++v)  // predecessors come first
            if (!done[v] && left[v] <= 0 && can_run(v)) done[v] = true;
    };
    double time = 0;
    settle();
    while (!std::ranges::all_of(done, [](bool d) { return d; })) {
        std::map<Index, std::size_t> chosen;
        for (std::size_t v = 0; v < graph.size(); ++v) {
            if (done[v] || !can_run(v)) continue;
            const auto& accesses = recording.accesses_of(recording.items[v]);
            const auto written = std::ranges::find_if(accesses, [](const RecordedAccess& a) { return writes(a.mode); });
            const TileIndex tile = recording.data[static_cast<std::size_t>(written->datum)].index;
            const Index node = owners.owner(tile).number();
            const auto best = chosen.find(node);
            if (best == chosen.end() || metrics.priorities()[v] > metrics.priorities()[best->second]) chosen[node] = v;
        }
        for (const auto& [node, v] : chosen) left[v] -= 1;
        time += 1;
        settle();
    }
    return time;
}

RC_GTEST_PROP(AllocationMetrics, OfAFactorizationAreThoseOfTasksPlacedByTheirLongestPath, ()) {
    const auto operation = *rc::gen::element(Operation::lu, Operation::cholesky);
    const auto tiles = *rc::gen::inRange<Index>(1, 16);
    const auto nodes = *rc::gen::inRange<Index>(1, 9);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    // Noise on all tiles, so that no two paths are equally long.
    Workload workload = dense(operation, tiles);
    const Random random(seed);
    for (Index i = 0; i < tiles; ++i)
        for (Index j = 0; j < tiles; ++j)
            workload.density[{i, j}] =
                0.1 + random.uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
    const RecordedOperation recorded(operation, {.tiles = tiles, .nodes = nodes});
    const AllocationMetrics metrics(recorded.recording(), workload);
    const Distribution owners = random_distribution({tiles, tiles}, nodes, seed);
    const double placed =
        step_makespan(owners, workload, times_by_power(workload.costs, nodes), by_longest_path(workload));
    RC_ASSERT(std::abs(placed - metrics.dependency_makespan(owners, Preemption::allowed)) < 1e-9 * placed);
}

RC_GTEST_PROP(AllocationMetrics, AgreeWithRoundsOfOneUnit, ()) {
    const auto operation = *rc::gen::element(Operation::product, Operation::lu, Operation::cholesky);
    const auto tiles = *rc::gen::inRange<Index>(1, 6);
    const auto nodes = *rc::gen::inRange<Index>(1, 5);
    const RecordedOperation recorded(operation, {.tiles = tiles, .nodes = nodes});
    // Densities 1, 2 and 3 keep durations whole.
    Workload workload = dense(operation, tiles);
    for (Index i = 0; i < tiles; ++i)
        for (Index j = 0; j < tiles; ++j) workload.density[{i, j}] = *rc::gen::element(1.0, 2.0, 3.0);
    const AllocationMetrics metrics(recorded.recording(), workload);
    const Distribution owners = random_distribution({tiles, tiles}, nodes, *rc::gen::inRange<std::uint64_t>(0, 99));
    RC_ASSERT(metrics.dependency_makespan(owners, Preemption::allowed) ==
              makespan_by_rounds(metrics, recorded.recording(), owners));
}

RC_GTEST_PROP(AllocationMetrics, AreNeverBelowTheirBounds, ()) {
    const auto operation = *rc::gen::element(Operation::product, Operation::lu, Operation::cholesky);
    const auto tiles = *rc::gen::inRange<Index>(1, 12);
    const auto nodes = *rc::gen::inRange<Index>(1, 8);
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 99);
    const RecordedOperation recorded(operation, {.tiles = tiles, .nodes = nodes});
    const Workload workload{.operation = operation, .density = synthetic_density(tiles, {.seed = seed})};
    const AllocationMetrics metrics(recorded.recording(), workload);
    const Distribution owners = random_distribution({tiles, tiles}, nodes, seed);
    const double load = metrics.load(owners);
    // 𝔅 is the largest node load of distribution/metrics, which never sees tasks.
    const auto loads = node_loads(owners, tile_weights(workload));
    RC_ASSERT(std::abs(load - *std::max_element(loads.begin(), loads.end())) <= 1e-9 * (1 + load));
    RC_ASSERT(metrics.ideal(nodes) <= load * (1 + 1e-12));
    for (const Preemption preemption : {Preemption::allowed, Preemption::none}) {
        const double makespan = metrics.dependency_makespan(owners, preemption);
        RC_ASSERT(makespan >= load * (1 - 1e-12));
        RC_ASSERT(makespan >= metrics.critical_path() * (1 - 1e-12));
    }
}

TEST(AllocationMetrics, OfAProductHaveNoIdleTime) {
    // Its tasks are chains per tile, and a node always has a ready one until it has finished.
    const RecordedOperation recorded(Operation::product, {.tiles = 6, .nodes = 4});
    const AllocationMetrics metrics(recorded.recording(), dense(Operation::product, 6));
    const Distribution owners = block_cyclic({6, 6}, {2, 2});
    EXPECT_DOUBLE_EQ(metrics.ideal(4), 6.0 * 6 * 6 * 6 / 4);
    EXPECT_DOUBLE_EQ(metrics.load(owners), metrics.ideal(4));
    EXPECT_DOUBLE_EQ(metrics.dependency_makespan(owners, Preemption::allowed), metrics.ideal(4));
    EXPECT_DOUBLE_EQ(metrics.dependency_makespan(owners, Preemption::none), metrics.ideal(4));
}

TEST(AllocationMetrics, OfTwoTilesOfLuOnTwoNodesByHand) {
    // getrf 1, trsm 3 and 3, gemm 6, getrf 1. One node per tile row: the row of node 0 is getrf, trsm = 4; node 1 has
    // its trsm at 1..4, its gemm when both trsm are there, 4..10, and the last getrf 10..11.
    const RecordedOperation recorded(Operation::lu, {.tiles = 2, .nodes = 2});
    const AllocationMetrics metrics(recorded.recording(), dense(Operation::lu, 2));
    const Distribution rows({2, 2}, 2, {0, 0, 1, 1});
    EXPECT_DOUBLE_EQ(metrics.critical_path(), 1 + 3 + 6 + 1);
    EXPECT_DOUBLE_EQ(metrics.load(rows), 3 + 6 + 1);
    EXPECT_DOUBLE_EQ(metrics.dependency_makespan(rows, Preemption::allowed), 11);
}

TEST(AllocationMetrics, RefuseOtherTiles) {
    const RecordedOperation recorded(Operation::lu, {.tiles = 4, .nodes = 2});
    EXPECT_THROW(AllocationMetrics(recorded.recording(), dense(Operation::lu, 3)), Error);
    const AllocationMetrics metrics(recorded.recording(), dense(Operation::lu, 4));
    EXPECT_THROW((void)metrics.load(block_cyclic({3, 3}, {1, 2})), Error);
}

}  // namespace
}  // namespace tesela::allocation_metrics_test
