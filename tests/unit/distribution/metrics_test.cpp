#include "tesela/distribution/metrics.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tesela::metrics_test {
namespace {

TEST(SummariseLoads, IsPerfectWhenLoadsFollowPowers) {
    const std::vector<double> loads{2, 4, 6}, powers{1, 2, 3};
    const LoadSummary summary = summarise_loads(loads, powers);
    EXPECT_NEAR(summary.max_over_ideal, 1, 1e-15);
    EXPECT_NEAR(summary.dispersion, 0, 1e-15);
    EXPECT_NEAR(summarise_loads(loads).max_over_ideal, 6.0 / 4, 1e-15);
    EXPECT_NEAR(summarise_loads(loads).dispersion, std::sqrt(8.0 / 3) / 4, 1e-15);
}

TEST(SummariseLoads, ForgivesANodeWithoutPowerThatHasNoLoad) {
    EXPECT_NEAR(summarise_loads(std::vector<double>{3, 0}, std::vector<double>{1, 0}).max_over_ideal, 1, 1e-15);
    EXPECT_TRUE(std::isinf(summarise_loads(std::vector<double>{3, 1}, std::vector<double>{1, 0}).max_over_ideal));
    EXPECT_THROW((void)summarise_loads(std::vector<double>{3, 1}, std::vector<double>{1}), Error);
}

RC_GTEST_PROP(NodesPerRow, CountsTheDistinctOwners, ()) {
    const Index rows = *rc::gen::inRange<Index>(1, 12), cols = *rc::gen::inRange<Index>(1, 12);
    const Distribution d =
        random_distribution({rows, cols}, *rc::gen::inRange<Index>(1, 9), *rc::gen::arbitrary<std::uint64_t>());
    for (const auto stored : {Stored::full, Stored::lower}) {
        const auto per_row = nodes_per_row(d, stored), per_column = nodes_per_column(d, stored);
        for (Index i = 0; i < rows; ++i) {
            std::set<Index> seen;
            for (Index j = 0; j < cols; ++j)
                if (is_stored({i, j}, stored)) seen.insert(d.owner({i, j}).number());
            RC_ASSERT(per_row[static_cast<std::size_t>(i)] == static_cast<Index>(seen.size()));
        }
        for (Index j = 0; j < cols; ++j) {
            std::set<Index> seen;
            for (Index i = 0; i < rows; ++i)
                if (is_stored({i, j}, stored)) seen.insert(d.owner({i, j}).number());
            RC_ASSERT(per_column[static_cast<std::size_t>(j)] == static_cast<Index>(seen.size()));
        }
    }
}

/// The definition, in cubic time.
double plain_step_imbalance(const Distribution& d, const Workload& workload, const std::vector<double>& powers) {
    double slowest = 0, work = 0, all_power = 0;
    for (const double power : powers) all_power += power;
    const GridSize grid = d.grid();
    for (Index k = 0; k < grid.cols; ++k) {
        std::vector<double> loads(static_cast<std::size_t>(d.nodes()));
        for (Index i = 0; i < grid.rows; ++i)
            for (Index j = 0; j < grid.cols; ++j)
                loads[static_cast<std::size_t>(d.owner({i, j}).number())] += step_cost(workload, {i, j}, k);
        double slowest_here = 0;
        for (std::size_t p = 0; p < loads.size(); ++p) {
            slowest_here = std::max(slowest_here, loads[p] / powers[p]);
            work += loads[p];
        }
        slowest += slowest_here;
    }
    return slowest / (work / all_power);
}

RC_GTEST_PROP(StepImbalance, FollowsItsDefinitionAndBoundsTheLoad, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 14);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Distribution d = random_distribution({n, n}, *rc::gen::inRange<Index>(1, 7), seed);
    for (const auto operation : {Operation::product, Operation::lu, Operation::cholesky}) {
        const Workload workload{.operation = operation, .density = synthetic_density(n, {.seed = seed})};
        const std::vector<double> equal(static_cast<std::size_t>(d.nodes()), 1.0);
        const double fast = step_imbalance(d, workload);
        RC_ASSERT(std::abs(fast - plain_step_imbalance(d, workload, equal)) < 1e-9);
        RC_ASSERT(fast > summarise_loads(node_loads(d, tile_weights(workload))).max_over_ideal - 1e-9);
        std::vector<double> powers;
        for (Index p = 0; p < d.nodes(); ++p) powers.push_back(0.5 * static_cast<double>(*rc::gen::inRange(1, 20)));
        const double unequal = step_imbalance(d, workload, powers);
        RC_ASSERT(std::abs(unequal - plain_step_imbalance(d, workload, powers)) < 1e-9 * unequal);
        RC_ASSERT(unequal > summarise_loads(node_loads(d, tile_weights(workload)), powers).max_over_ideal - 1e-9);
    }
}

RC_GTEST_PROP(NodeMemory, AddsUpToTheMatrix, ()) {
    const Index m = *rc::gen::inRange<Index>(1, 60), n = *rc::gen::inRange<Index>(1, 60);
    const Tiling tiling = Tiling::uniform({m, n}, {*rc::gen::inRange<Index>(1, 20), *rc::gen::inRange<Index>(1, 20)});
    const Distribution d = random_distribution(tiling.grid(), *rc::gen::inRange<Index>(1, 6), 1);
    double total = 0;
    for (const double bytes : node_memory(d, {.tiling = tiling, .element_bytes = 4})) total += bytes;
    RC_ASSERT(total == static_cast<double>(4 * m * n));
}

TEST(NodeMemory, OfALowRankTileIsThatOfItsFactors) {
    const Tiling tiling = Tiling::uniform({30, 20}, {20, 10});
    const Distribution d({2, 2}, 4, {0, 1, 2, 3});
    EXPECT_EQ(node_memory(d, {.tiling = tiling, .ranks = {-1, 3, 0, 2}}),
              (std::vector<double>{8 * 200, 8 * 30 * 3, 0, 8 * 20 * 2}));
}

TEST(CountMoves, CountsStoredTilesOnly) {
    const Distribution a({2, 2}, 2, {0, 0, 1, 1}), b({2, 2}, 2, {1, 1, 0, 1});
    EXPECT_EQ(count_moves(a, b).moved, 3);
    EXPECT_EQ(count_moves(a, b).minimum, 1);
    EXPECT_EQ(count_moves(a, b, Stored::lower).moved, 2);
    EXPECT_EQ(count_moves(a, b, Stored::lower).minimum, 0);
}

TEST(CountMoves, HoldsBetweenDifferentNumbersOfNodes) {
    const Distribution a({1, 3}, 3, {0, 1, 2}), b({1, 3}, 1, {0, 0, 0});
    EXPECT_EQ(count_moves(a, b).moved, 2);
    EXPECT_EQ(count_moves(a, b).minimum, 2);
    EXPECT_EQ(count_moves(b, a).minimum, 2);
}

}  // namespace
}  // namespace tesela::metrics_test
