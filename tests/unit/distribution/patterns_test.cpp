// Paper 001: block-cyclic by its rule, extended block-cyclic, random subsets, and the hybrid of the two.
#include "support/seed.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/extended_block_cyclic.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/hybrid.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/distribution/random_subsets.hpp"
#include "tesela/distribution/step_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela::patterns_test {
namespace {

double max_load(const Distribution& distribution, const TileMap& weights) {
    return summarise_loads(node_loads(distribution, weights)).max_over_ideal;
}

Index most_nodes_per_line(const Distribution& distribution) {
    return std::max(std::ranges::max(nodes_per_row(distribution)), std::ranges::max(nodes_per_column(distribution)));
}

TEST(LineLimit, IsTheCeilingWithoutRoundingErrors) {
    EXPECT_EQ(line_limit(34, 2), 12);
    EXPECT_EQ(line_limit(100, 1.1), 11);
    EXPECT_EQ(line_limit(90, 1), 10);
    EXPECT_EQ(line_limit(4, 3), 4);  // there are no more than 4 nodes
    EXPECT_THROW((void)line_limit(4, 0.9), Error);
    EXPECT_THROW((void)line_limit(0, 1), Error);
}

TEST(RuleBlockCyclic, TakesTheLargestGridOfTheRule) {
    for (Index nodes = 1; nodes <= 300; ++nodes) {
        const auto counts = tile_counts(rule_block_cyclic({60, 60}, nodes), Stored::full);
        const auto used = std::ranges::count_if(counts, [](Index count) { return count > 0; });
        // The largest c(c-1) ≤ P in closed form: c = ⌊(1 + √(1 + 4P))/2⌋; one node stays one node.
        const auto c = static_cast<Index>((1 + std::sqrt(1 + 4.0 * static_cast<double>(nodes))) / 2);
        EXPECT_EQ(used, std::max<Index>(1, c * (c - 1))) << nodes;
    }
    EXPECT_EQ(rule_block_cyclic({4, 4}, 6), block_cyclic({4, 4}, {.p = 2, .q = 3}));
}

/// Optimal maximum load of `items` on `nodes`, by trying everything.
double optimal_packing(const std::vector<double>& items, std::vector<double>& loads, std::size_t at = 0) {
    if (at == items.size()) return std::ranges::max(loads);
    double best = 1e300;
    for (auto& load : loads) {
        load += items[at];
        best = std::min(best, optimal_packing(items, loads, at + 1));
        load -= items[at];
    }
    return best;
}

TEST(ExtendedBlockCyclic, PacksWithinTheBoundOfLargestProcessingTime) {
    // Graham: LPT ≤ (4/3 - 1/(3m))·optimum, for each pattern.
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const TileMap weights =
            tile_weights({.operation = Operation::lu, .density = synthetic_density(12, {.seed = seed})});
        const GridSize cells{2, 4};
        const auto packed =
            node_loads(extended_block_cyclic(weights, {.nodes = 4, .alpha = 2, .pattern = cells}), weights);
        std::vector<double> loads(4);
        const double optimum = optimal_packing(pattern_loads(weights, cells), loads);
        EXPECT_LE(std::ranges::max(packed), (4.0 / 3 - 1.0 / 12) * optimum + 1e-9);
        EXPECT_GE(std::ranges::max(packed), optimum - 1e-9);
    }
}

TEST(ExtendedBlockCyclic, IsNoWorseThanAnyPatternItMayUse) {
    const TileMap weights = tile_weights({.operation = Operation::lu, .density = synthetic_density(20, {.seed = 2})});
    const double best = max_load(extended_block_cyclic(weights, {.nodes = 7, .alpha = 2}), weights);
    for (Index r = 1; r <= 6; ++r)
        for (Index c = 1; c <= 6; ++c)
            EXPECT_LE(
                best,
                max_load(extended_block_cyclic(weights, {.nodes = 7, .alpha = 2, .pattern = GridSize{r, c}}), weights) +
                    1e-12);
    EXPECT_THROW((void)extended_block_cyclic(weights, {.nodes = 7, .alpha = 2, .pattern = GridSize{7, 1}}), Error);
}

TEST(PatternLoads, AddTheTilesOfEachCell) {
    const TileMap weights = tile_weights({.operation = Operation::lu, .density = synthetic_density(11, {.seed = 1})});
    const GridSize cells{3, 4};
    std::vector<std::int32_t> own(12);
    std::iota(own.begin(), own.end(), 0);
    const auto expected = node_loads(repeat(Distribution(cells, 12, own), weights.grid()), weights);
    const auto loads = pattern_loads(weights, cells);
    for (std::size_t n = 0; n < 12; ++n) EXPECT_NEAR(loads[n], expected[n], 1e-9);
}

struct Instance {
    Index n, nodes;
    double alpha;
    Workload workload;
};

Instance random_instance(std::uint64_t seed, std::uint64_t number) {
    const Random random(seed);
    const auto n = 1 + static_cast<Index>(random.below(40, {number, 0}));
    const double u = random.uniform({number, 2});
    return {.n = n,
            .nodes = 1 + static_cast<Index>(random.below(100, {number, 1})),
            .alpha = random.below(4, {number, 3}) == 0 ? 1 : 1 + 3 * u * u,
            .workload = {.operation = static_cast<Operation>(random.below(3, {number, 4})),
                         .density = synthetic_density(n, {.seed = number})}};
}

TEST(PatternsOfPaper001, KeepTheLimitOnAThousandRandomInstances) {
    const std::uint64_t seed = testing::seed();
    double slowest = 0;
    for (std::uint64_t number = 0; number < 1000; ++number) {
        const auto [n, nodes, alpha, workload] = random_instance(seed, number);
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", instance " << number << ": N = " << n
                                          << ", P = " << nodes << ", alpha = " << alpha);
        const TileMap weights = tile_weights(workload);
        const auto limit = static_cast<Index>(std::ceil(alpha * std::sqrt(static_cast<double>(nodes))));
        const auto start = Clock::now();
        EXPECT_LE(most_nodes_per_line(rule_block_cyclic({n, n}, nodes)), limit);
        EXPECT_LE(most_nodes_per_line(extended_block_cyclic(weights, {.nodes = nodes, .alpha = alpha})), limit);
        EXPECT_LE(most_nodes_per_line(random_subsets(weights, {.nodes = nodes, .alpha = alpha, .seed = number})),
                  limit);
        EXPECT_LE(most_nodes_per_line(hybrid_pattern(workload, {.nodes = nodes, .alpha = alpha, .patterns = 4})),
                  limit);
        slowest = std::max(slowest, seconds_since(start));
    }
    EXPECT_LT(slowest, 5) << "seconds for one instance";
}

TEST(RandomSubsets, AreAFunctionOfTheSeed) {
    const TileMap weights = tile_weights({.operation = Operation::lu, .density = synthetic_density(20, {})});
    const Distribution once = random_subsets(weights, {.nodes = 11, .alpha = 2, .seed = 5});
    EXPECT_EQ(once, random_subsets(weights, {.nodes = 11, .alpha = 2, .seed = 5}));
    EXPECT_NE(once, random_subsets(weights, {.nodes = 11, .alpha = 2, .seed = 6}));
}

TEST(RandomSubsets, UseEveryNodeNearAlphaOne) {
    const TileMap weights = tile_weights({.operation = Operation::product, .density = full_density({60, 60})});
    for (const Index nodes : {12, 25, 30, 34, 90})
        EXPECT_GT(std::ranges::min(tile_counts(random_subsets(weights, {.nodes = nodes, .alpha = 1}), Stored::full)), 0)
            << nodes;
}

TEST(RandomSubsets, BalanceTheProductOfPaper001) {
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const Index nodes : {12, 30}) {
            const TileMap weights =
                tile_weights({.operation = Operation::product, .density = synthetic_density(60, {.seed = seed})});
            EXPECT_LT(max_load(random_subsets(weights, {.nodes = nodes, .alpha = 3, .seed = seed}), weights), 1.001);
        }
}

TEST(ExtendedBlockCyclic, BalancesTheLuOfPaper001) {
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const Index nodes : {12, 30, 90}) {
            const TileMap weights =
                tile_weights({.operation = Operation::lu, .density = synthetic_density(60, {.seed = seed})});
            EXPECT_LT(max_load(extended_block_cyclic(weights, {.nodes = nodes, .alpha = 3}), weights), 1.015);
        }
}

TEST(Figure8, RandomSubsetsFitThirtyFourNodesAndAPatternDoesNot) {
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const auto operation : {Operation::product, Operation::lu}) {
            const Workload workload{.operation = operation, .density = synthetic_density(60, {.seed = seed})};
            const TileMap weights = tile_weights(workload);
            EXPECT_LT(max_load(random_subsets(weights, {.nodes = 34, .alpha = 2, .seed = seed}), weights), 1.01);
            for (const GridSize pattern : {GridSize{10, 12}, GridSize{12, 11}, GridSize{12, 12}})
                EXPECT_GT(
                    max_load(extended_block_cyclic(weights, {.nodes = 34, .alpha = 2, .pattern = pattern}), weights),
                    1.01);
        }
}

TEST(Hybrid, HasTheLoadOfRandomSubsetsAndEndsBeforeThemAndAPattern) {
    for (const Index nodes : {34, 37, 41, 53})
        for (std::uint64_t seed = 0; seed < 2; ++seed) {
            SCOPED_TRACE(::testing::Message() << "P = " << nodes << ", seed " << seed);
            const Workload workload{.operation = Operation::lu, .density = synthetic_density(60, {.seed = seed})};
            const TileMap weights = tile_weights(workload);
            const Distribution hybrid = hybrid_pattern(workload, {.nodes = nodes, .alpha = 2});
            const Distribution pattern = extended_block_cyclic(weights, {.nodes = nodes, .alpha = 2});
            const Distribution subsets = random_subsets(weights, {.nodes = nodes, .alpha = 2, .seed = seed});
            EXPECT_LT(max_load(hybrid, weights), max_load(subsets, weights) + 0.005);
            EXPECT_LT(max_load(hybrid, weights), max_load(pattern, weights));
            const auto times = times_by_power(workload.costs, nodes);
            const auto order = by_longest_path(workload);
            const double makespan = step_makespan(hybrid, workload, times);
            const double by_path = step_makespan(hybrid, workload, times, order);
            for (const Distribution* other : {&pattern, &subsets}) {
                EXPECT_LT(makespan, step_makespan(*other, workload, times));
                EXPECT_LT(by_path, step_makespan(*other, workload, times, order));
            }
            EXPECT_LT(step_imbalance(hybrid, workload), step_imbalance(subsets, workload));
        }
}

}  // namespace
}  // namespace tesela::patterns_test
