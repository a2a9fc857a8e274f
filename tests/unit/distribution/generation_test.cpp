// Algorithm 2 of paper 000.
#include "tesela/distribution/generation.hpp"

#include "support/seed.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/distribution/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tesela::generation_test {
namespace {

/// Moves as few tiles, without care for the order: the first tiles of whoever has too many, to the first who lacks.
Distribution naive(const Distribution& from, const std::vector<Index>& counts, Stored stored) {
    auto surplus = tile_counts(from, stored);
    for (std::size_t p = 0; p < surplus.size(); ++p) surplus[p] -= counts[p];
    Distribution result = from;
    for (Index i = 0; i < from.grid().rows; ++i)
        for (Index j = 0; j < from.grid().cols; ++j) {
            const auto p = static_cast<std::size_t>(from.owner({i, j}).number());
            if (!is_stored({i, j}, stored) || surplus[p] <= 0) continue;
            std::size_t q = 0;
            while (surplus[q] >= 0) ++q;
            result.set_owner({i, j}, NodeId{static_cast<Index>(q)});
            --surplus[p];
            ++surplus[q];
        }
    return result;
}

/// Paper 000, section 4.4: two nodes without GPUs and two with, 50 x 50 lower tiles.
Distribution factorization_of_the_example() { return one_d_one_d_triangle(50, {60, 60, 565, 590}); }

TEST(OneDOneDTriangle, GivesEveryNodeItsShareOfTheLowerTiles) {
    const Random random(91);
    for (std::uint64_t number = 0; number < 200; ++number) {
        const auto n = static_cast<Index>(1 + random.below(60, {number, 0}));
        std::vector<double> powers(1 + random.below(14, {number, 1}));
        double total = 0;
        for (std::size_t p = 0; p < powers.size(); ++p)
            total += powers[p] = std::exp(3 * random.uniform({number, 10 + p}));
        const auto counts = tile_counts(one_d_one_d_triangle(n, powers), Stored::lower);
        for (std::size_t p = 0; p < powers.size(); ++p)
            EXPECT_LT(
                std::abs(static_cast<double>(counts[p]) - static_cast<double>(n * (n + 1) / 2) * powers[p] / total), 1)
                << "instance " << number << ", node " << p;
    }
}

/// Algorithm 2 as the paper prints it, read as its text means it, with a ratio per node in whole numbers.
Distribution printed_algorithm_2(const Distribution& from, const std::vector<Index>& wanted, Stored stored) {
    const auto before = tile_counts(from, stored);
    std::vector<Index> diff = before;
    for (std::size_t p = 0; p < diff.size(); ++p) diff[p] -= wanted[p];
    const std::vector<Index> surplus = diff;
    std::vector<Index> count(diff.size()), given(diff.size());
    Distribution result = from;
    for (Index i = 0; i < from.grid().rows; ++i)
        for (Index j = 0; j < from.grid().cols; ++j) {
            const auto node = static_cast<std::size_t>(from.owner({i, j}).number());
            if (!is_stored({i, j}, stored) || surplus[node] <= 0) continue;
            ++count[node];
            // count ≥ (given + 1)·before / surplus
            if (count[node] * surplus[node] < (given[node] + 1) * before[node]) continue;
            const auto neediest = std::ranges::min_element(diff);
            if (*neediest >= 0) return result;
            result.set_owner({i, j}, NodeId{neediest - diff.begin()});
            ++*neediest;
            --diff[node];
            ++given[node];
        }
    return result;
}

TEST(GenerationDistribution, MovesExactlyWhatThePaperSays) {
    const Distribution factorization = factorization_of_the_example();
    ASSERT_EQ(tile_counts(factorization, Stored::lower), (std::vector<Index>{60, 60, 565, 590}));
    const std::vector<Index> target{318, 319, 319, 319};
    const Distribution generation = generation_distribution(factorization, target, Stored::lower);
    EXPECT_EQ(tile_counts(generation, Stored::lower), target);
    EXPECT_EQ(count_moves(factorization, generation, Stored::lower).moved, 517);
    EXPECT_EQ(count_moves(factorization, generation, Stored::lower).minimum, 517);
    EXPECT_LT(cyclic_disorder(generation, Stored::lower),
              0.3 * cyclic_disorder(naive(factorization, target, Stored::lower), Stored::lower));
    EXPECT_EQ(generation, printed_algorithm_2(factorization, target, Stored::lower));
}

TEST(Moves, BetweenIndependentDistributionsDependOnHowNodesAreNumbered) {
    // Section 4.4 counts 890. On the average each node generates a quarter of what any of them factors.
    const Distribution factorization = factorization_of_the_example();
    std::vector<Index> number{0, 1, 2, 3};
    std::vector<Index> moved;
    do {
        const Distribution grid = tabulate(
            {50, 50}, 4, [&](Index i, Index j) { return number[static_cast<std::size_t>(2 * (i % 2) + j % 2)]; });
        moved.push_back(count_moves(factorization, grid, Stored::lower).moved);
    } while (std::ranges::next_permutation(number).found);
    EXPECT_EQ(moved.front(), 959);
    EXPECT_EQ(std::accumulate(moved.begin(), moved.end(), Index{0}), 24 * 1275 * 3 / 4);
    EXPECT_EQ(std::ranges::min(moved), 711);
    EXPECT_EQ(std::ranges::max(moved), 1114);
}

struct Instance {
    Distribution computation;
    std::vector<Index> counts;
    Stored stored;
};

std::vector<Index> random_counts(const Random& random, std::uint64_t number, std::size_t nodes, Index tiles) {
    std::vector<double> shares(nodes);
    for (std::size_t p = 0; p < nodes; ++p) shares[p] = random.uniform({number, 100 + p});
    const double total = std::accumulate(shares.begin(), shares.end(), 1e-9);
    std::vector<Index> counts(nodes);
    for (std::size_t p = 0; p < nodes; ++p)
        counts[p] = static_cast<Index>(static_cast<double>(tiles) * shares[p] / total);
    counts[0] += tiles - std::accumulate(counts.begin(), counts.end(), Index{0});
    return counts;
}

Instance random_instance(std::uint64_t seed, std::uint64_t number) {
    const Random random(seed);
    const auto n = static_cast<Index>(1 + random.below(40, {number, 0}));
    const auto nodes = static_cast<Index>(1 + random.below(12, {number, 1}));
    std::vector<double> powers(static_cast<std::size_t>(nodes));
    for (std::size_t p = 0; p < powers.size(); ++p) powers[p] = std::exp(3 * random.uniform({number, 10 + p}));
    Instance instance{
        .computation = {}, .counts = {}, .stored = random.below(2, {number, 2}) ? Stored::full : Stored::lower};
    switch (random.below(4, {number, 3})) {
        case 0: instance.computation = one_d_one_d({n, n}, powers); break;
        case 1: instance.computation = one_dimensional({n, n}, powers); break;
        case 2: instance.computation = squarest_block_cyclic({n, n}, nodes); break;
        default: instance.computation = random_distribution({n, n}, nodes, number);
    }
    const auto before = tile_counts(instance.computation, instance.stored);
    instance.counts =
        random_counts(random, number, before.size(), std::accumulate(before.begin(), before.end(), Index{0}));
    return instance;
}

TEST(GenerationDistribution, IsMinimalExactAndSteadyOnTwoThousandRandomInstances) {
    const std::uint64_t seed = testing::seed();
    Index better = 0;
    for (std::uint64_t number = 0; number < 2000; ++number) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed << ", instance " << number);
        const auto [computation, counts, stored] = random_instance(seed, number);
        EXPECT_EQ(generation_distribution(computation, counts, stored),
                  printed_algorithm_2(computation, counts, stored));
        const Distribution generation = generation_distribution(computation, counts, stored, HandOver::steadiest);
        EXPECT_EQ(tile_counts(generation, stored), counts);
        const Moves moves = count_moves(computation, generation, stored);
        EXPECT_EQ(moves.moved, moves.minimum);
        const double ours = cyclic_disorder(generation, stored);
        const double plain = cyclic_disorder(naive(computation, counts, stored), stored);
        EXPECT_LE(ours, plain + 1e-9);
        better += ours < 0.9 * plain ? 1 : 0;
    }
    EXPECT_GT(better, 1500);
}

TEST(CyclicDisorder, FollowsItsDefinition) {
    const Distribution d = random_distribution({5, 7}, 3, 11);
    const auto counts = tile_counts(d, Stored::full);
    std::vector<double> so_far(3);
    double sum = 0, t = 0;
    for (const auto owner : d.owners()) {
        ++so_far[static_cast<std::size_t>(owner)];
        ++t;
        for (std::size_t p = 0; p < 3; ++p) sum += std::pow(so_far[p] - t * static_cast<double>(counts[p]) / 35, 2);
    }
    EXPECT_NEAR(cyclic_disorder(d), std::sqrt(sum / (35 * 3)), 1e-12);
    // One node after the other is the least steady order there is.
    EXPECT_LT(cyclic_disorder(block_cyclic({4, 4}, {.p = 1, .q = 4})),
              cyclic_disorder(Distribution({4, 4}, 4, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3})));
}

TEST(GenerationDistribution, RefusesCountsThatDoNotFit) {
    const Distribution d = block_cyclic({4, 4}, {.p = 2, .q = 2});
    EXPECT_THROW((void)generation_distribution(d, {4, 4, 4}), Error);
    EXPECT_THROW((void)generation_distribution(d, {4, 4, 4, 5}), Error);
    EXPECT_THROW((void)generation_distribution(d, {20, -4, 0, 0}), Error);
}

}  // namespace
}  // namespace tesela::generation_test
