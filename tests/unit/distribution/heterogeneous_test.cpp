// Paper 000, sections 3 and 4.4: one-dimensional and 1D-1D distributions for nodes of different power.
#include "tesela/distribution/heterogeneous.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tesela::heterogeneous_test {
namespace {

constexpr std::uint64_t seed = 1901;

/// 1 to 20 powers, some equal, some very different.
std::vector<double> random_powers(std::uint64_t number) {
    const Random random(seed);
    std::vector<double> powers(1 + random.below(20, {number, 0}));
    const double spread = 4 * random.uniform({number, 1});
    for (std::size_t p = 0; p < powers.size(); ++p)
        powers[p] = std::exp(spread * std::round(4 * random.uniform({number, 2 + p})) / 4);
    return powers;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(DealLines, SharesEveryTrailingPartOptimally) {
    // The best completion time of m equal lines is the m-th smallest of k/power over nodes and k = 1, 2, …
    for (std::uint64_t number = 0; number < 50; ++number) {
        const auto powers = random_powers(number);
        const Index n = 40;
        const auto lines = deal_lines(n, powers);
        std::vector<double> finishes;
        for (const double power : powers)
            for (Index k = 1; k <= n; ++k) finishes.push_back(static_cast<double>(k) / power);
        std::ranges::sort(finishes);
        std::vector<double> dealt(powers.size());
        double makespan = 0;
        for (Index m = 1; m <= n; ++m) {
            const auto node = static_cast<std::size_t>(lines[static_cast<std::size_t>(n - m)]);
            makespan = std::max(makespan, ++dealt[node] / powers[node]);
            EXPECT_NEAR(makespan, finishes[static_cast<std::size_t>(m - 1)], 1e-12)
                << "seed " << seed << ", " << number;
        }
    }
}

TEST(DealLines, RefusesPowersThatMeanNothing) {
    EXPECT_THROW((void)deal_lines(3, {}), Error);
    EXPECT_THROW((void)deal_lines(3, {0, 0}), Error);
    EXPECT_THROW((void)deal_lines(3, {1, -1}), Error);
    // Quotients of these are no numbers.
    EXPECT_THROW((void)deal_lines(3, {1e-308, 1e-308}), Error);
    EXPECT_THROW((void)deal_lines(3, {1e308, 1e308}), Error);
    EXPECT_EQ(deal_lines(3, {1e-99, 0}), (std::vector<Index>{0, 0, 0}));
}

TEST(OneDimensional, OwnsWholeRows) {
    const Distribution d = one_dimensional({9, 4}, {1, 2});
    EXPECT_EQ(std::ranges::max(nodes_per_row(d)), 1);
    EXPECT_EQ(tile_counts(d, Stored::full), (std::vector<Index>{12, 24}));
}

TEST(ColumnPartition, CoversTheSquareWithTheRightAreas) {
    for (std::uint64_t number = 0; number < 200; ++number) {
        const auto powers = random_powers(number);
        const ColumnPartition partition = column_partition(powers);
        double width = 0;
        std::vector<int> seen(powers.size());
        for (const auto& column : partition.columns) {
            width += column.front().width;
            double height = 0;
            for (const auto& [node, w, h] : column) {
                ++seen[static_cast<std::size_t>(node)];
                height += h;
                EXPECT_NEAR(w * h, powers[static_cast<std::size_t>(node)] / sum(powers), 1e-12);
            }
            EXPECT_NEAR(height, 1, 1e-12);
        }
        EXPECT_NEAR(width, 1, 1e-12);
        EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    }
}

/// The least sum of half-perimeters over every way to put nodes into columns, one by one.
double best_by_trying(const std::vector<double>& areas) {
    double best = 1e300;
    std::vector<double> widths;
    std::vector<int> sizes;
    const std::function<void(std::size_t)> place = [&](std::size_t p) {
        if (p == areas.size()) {
            double cost = 0;
            for (std::size_t c = 0; c < widths.size(); ++c) cost += sizes[c] * widths[c] + 1;
            best = std::min(best, cost);
            return;
        }
        for (std::size_t c = 0; c < widths.size(); ++c) {
            widths[c] += areas[p], ++sizes[c];
            place(p + 1);
            widths[c] -= areas[p], --sizes[c];
        }
        widths.push_back(areas[p]), sizes.push_back(1);
        place(p + 1);
        widths.pop_back(), sizes.pop_back();
    };
    place(0);
    return best;
}

TEST(ColumnPartition, IsTheBestOfAllColumnPartitions) {
    for (std::uint64_t number = 0; number < 60; ++number) {
        auto powers = random_powers(number);
        powers.resize(std::min<std::size_t>(powers.size(), 8));
        std::vector<double> areas;
        for (const double power : powers) areas.push_back(power / sum(powers));
        EXPECT_NEAR(column_partition(powers).half_perimeters(), best_by_trying(areas), 1e-9)
            << "seed " << seed << ", " << number;
    }
}

TEST(ColumnPartition, IsWithinSevenQuartersOfTheBoundOnAThousandPowerVectors) {
    double worst = 0;
    for (std::uint64_t number = 0; number < 1000; ++number) {
        const auto powers = random_powers(number);
        double bound = 0;
        for (const double power : powers) bound += 2 * std::sqrt(power / sum(powers));
        const double ratio = column_partition(powers).half_perimeters() / bound;
        EXPECT_LE(ratio, 1.75) << "seed " << seed << ", " << number;
        worst = std::max(worst, ratio);
    }
    RecordProperty("worst_ratio", std::to_string(worst));
}

TEST(OneDOneD, GivesEveryNodeItsShareWithinARowAndAColumn) {
    for (std::uint64_t number = 0; number < 1000; ++number) {
        const auto powers = random_powers(number);
        const auto n = static_cast<Index>(1 + Random(seed).below(80, {number, 1000}));
        const auto counts = tile_counts(one_d_one_d({n, n}, powers), Stored::full);
        const auto size = static_cast<double>(n);
        for (const auto& column : column_partition(powers).columns)
            for (const auto& [node, width, height] : column) {
                const double share = size * size * width * height;
                const double row_and_column = std::ceil(size * width) + std::ceil(size * height);
                EXPECT_LE(std::abs(static_cast<double>(counts[static_cast<std::size_t>(node)]) - share), row_and_column)
                    << "seed " << seed << ", " << number << ": N = " << n << ", node " << node;
            }
    }
}

TEST(OneDOneD, ShufflesTheSameRectangles) {
    const std::vector<double> powers{1, 1, 2, 4, 4, 6};
    const Distribution blocks = one_d_one_d({36, 36}, powers, Shuffle::none);
    const Distribution shuffled = one_d_one_d({36, 36}, powers);
    EXPECT_EQ(tile_counts(blocks, Stored::full), tile_counts(shuffled, Stored::full));
    // Shuffled, the trailing half of the matrix is shared like the whole; as blocks it is not.
    TileMap trailing({36, 36});
    for (Index i = 18; i < 36; ++i)
        for (Index j = 18; j < 36; ++j) trailing[{i, j}] = 1;
    EXPECT_LT(summarise_loads(node_loads(shuffled, trailing), powers).max_over_ideal, 1.2);
    EXPECT_GT(summarise_loads(node_loads(blocks, trailing), powers).max_over_ideal, 1.5);
}

TEST(OneDOneD, GivesNothingToANodeWithoutPower) {
    EXPECT_EQ(tile_counts(one_d_one_d({6, 6}, {1, 0, 1}), Stored::full), (std::vector<Index>{18, 0, 18}));
}

TEST(ConstrainedOneDimensional, GivesTheLastRowsToNodesWithShortChains) {
    // Row i is read at 1 s · (i + 1); all is expected to last 12 s. A chain of 5 s fits rows read before 7 s only.
    std::vector<double> ready(10);
    for (std::size_t i = 0; i < ready.size(); ++i) ready[i] = static_cast<double>(i + 1);
    const Distribution d = constrained_one_dimensional(
        {10, 1}, {1, 1}, {.chain_seconds = {5, 0.5}, .ready_seconds = ready, .expected_seconds = 12});
    for (Index i = 6; i < 10; ++i) EXPECT_EQ(d.owner({i, 0}).number(), 1) << i;
    EXPECT_EQ(tile_counts(d, Stored::full), (std::vector<Index>{5, 5}));  // the slow node makes up for it before
}

TEST(ConstrainedOneDimensional, AllowsChainsWithinTheTolerance) {
    const RowConstraint tight{.chain_seconds = {5, 4}, .expected_seconds = 1};
    EXPECT_EQ(tile_counts(constrained_one_dimensional({8, 1}, {1, 1}, tight), Stored::full),
              (std::vector<Index>{0, 8}));
    RowConstraint tolerant = tight;
    tolerant.tolerance_seconds = 1.5;
    EXPECT_EQ(constrained_one_dimensional({8, 1}, {1, 1}, tolerant), one_dimensional({8, 1}, {1, 1}));
}

TEST(IdleLastSteps, ComparesCriticalPathWithAreaBound) {
    // Together 100 updates/s: the step with m rows left takes m(m-1)/200 s; it is below 1 s up to m = 14.
    EXPECT_EQ(idle_last_steps(50, {.step_seconds = {1, 0.1}, .powers = {10, 90}}), (std::vector<Index>{14, 0}));
    EXPECT_EQ(idle_last_steps(10, {.step_seconds = {1, 0.1}, .powers = {10, 90}}), (std::vector<Index>{10, 0}));
}

TEST(ConstrainedOneDOneD, KeepsTheLastStepsOnFastNodesAndTheShares) {
    const TileMap weights = tile_weights({.operation = Operation::cholesky, .density = full_density({60, 60})});
    const StepConstraint constraint{.step_seconds = {1, 1, 0.1, 0.1}, .powers = {10, 10, 40, 40}};
    const Index idle = idle_last_steps(60, constraint)[0];
    ASSERT_GT(idle, 0);
    const Distribution d = constrained_one_d_one_d(weights, constraint);
    for (Index i = 60 - idle; i < 60; ++i)
        for (Index j = 60 - idle; j < 60; ++j) EXPECT_GE(d.owner({i, j}).number(), 2);
    EXPECT_LT(summarise_loads(node_loads(d, weights), constraint.powers).max_over_ideal, 1.08);
    // Without a slow critical path there is nothing to constrain.
    const StepConstraint equal{.step_seconds = {1, 1}, .powers = {1, 2}};
    EXPECT_EQ(constrained_one_d_one_d(weights, equal), one_d_one_d({60, 60}, {1, 2}));
}

}  // namespace
}  // namespace tesela::heterogeneous_test
