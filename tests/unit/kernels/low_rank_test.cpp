#include "tesela/kernels/internal/low_rank.hpp"
#include "tesela/kernels/owned_tile.hpp"

#include "tesela/base/random.hpp"
#include "tesela/geo/covariance.hpp"
#include "tesela/kernels/internal/lapack.hpp"
#include "tesela/kernels/internal/low_rank_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela::low_rank::low_rank_test {
namespace {

constexpr std::array accuracies{1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

std::size_t at(Index i, Index j = 0, Index ld = 0) { return static_cast<std::size_t>(i + j * ld); }

/// A block that is there in full and can be asked for rows and columns too.
template <class T>
struct WholeBlock final : TileSource<T> {
    WholeBlock(Index m, Index n) : size{m, n}, elements(at(m * n)) {}
    template <class Element>
    WholeBlock(Index m, Index n, Element element) : WholeBlock(m, n) {
        for (Index j = 0; j < n; ++j)
            for (Index i = 0; i < m; ++i) elements[at(i, j, m)] = static_cast<T>(element(i, j));
    }
    [[nodiscard]] Index rows() const override { return size.i; }
    [[nodiscard]] Index cols() const override { return size.j; }
    void row(Index i, T* out) const override {
        for (Index j = 0; j < size.j; ++j) out[j] = elements[at(i, j, size.i)];
    }
    void column(Index j, T* out) const override { std::copy_n(&elements[at(0, j, size.i)], size.i, out); }
    [[nodiscard]] blas::Block<const T> block() const { return {elements.data(), size.i, size.j, size.i}; }

    ElementIndex size;
    std::vector<T> elements;
};

/// Counts the elements that are asked for.
template <class T>
struct Counting final : TileSource<T> {
    explicit Counting(const WholeBlock<T>& a) : block(a) {}
    [[nodiscard]] Index rows() const override { return block.rows(); }
    [[nodiscard]] Index cols() const override { return block.cols(); }
    void row(Index i, T* out) const override {
        asked += cols();
        block.row(i, out);
    }
    void column(Index j, T* out) const override {
        asked += rows();
        block.column(j, out);
    }
    const WholeBlock<T>& block;
    mutable Index asked = 0;
};

/// U·Vᵀ, element by element in double precision.
template <class T>
std::vector<double> product(const Factors<T>& f) {
    std::vector<double> a(at(f.rows * f.cols));
    for (Index k = 0; k < f.rank; ++k)
        for (Index j = 0; j < f.cols; ++j) {
            const auto v = static_cast<double>(f.v[at(j, k, f.cols)]);
            for (Index i = 0; i < f.rows; ++i) a[at(i, j, f.rows)] += static_cast<double>(f.u[at(i, k, f.rows)]) * v;
        }
    return a;
}

template <class A, class B>
double distance(const std::vector<A>& a, const std::vector<B>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
        sum += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    return std::sqrt(sum);
}

template <class T>
std::vector<double> singular_values(Index rows, Index cols, const std::vector<T>& block) {
    std::vector<double> a(block.begin(), block.end());
    const int m = static_cast<int>(rows);
    const int n = static_cast<int>(cols);
    const int one = 1;
    const int room = 8 * std::max(m, n) * (std::max(m, n) + 8);
    std::vector<double> values(at(std::min(m, n))), work(at(room));
    std::vector<int> integers(8 * values.size());
    int info = 0;
    dgesdd_("N", &m, &n, a.data(), &m, values.data(), nullptr, &one, nullptr, &one, work.data(), &room, integers.data(),
            &info);
    EXPECT_EQ(info, 0);
    return values;
}

/// The least rank to the accuracy (Eckart and Young).
Index best_rank(const std::vector<double>& values, double accuracy) {
    double tail = 0;
    auto rank = values.size();
    while (rank > 0 && (tail += values[rank - 1] * values[rank - 1]) <= accuracy * accuracy) --rank;
    return static_cast<Index>(rank);
}

/// n·eps·norm
template <class T>
double rounding(Index n, double norm) {
    return 2 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm;
}

double norm(const std::vector<double>& values) {
    double sum = 0;
    for (const double x : values) sum += x * x;
    return std::sqrt(sum);
}

struct Oracle {
    std::vector<double> values;
    double accuracy;
};

template <class T>
void expect_good(const Factors<T>& f, const WholeBlock<T>& a, const Oracle& oracle) {
    ASSERT_EQ(f.rows, a.rows());
    ASSERT_EQ(f.cols, a.cols());
    ASSERT_EQ(f.u.size(), at(f.rows * f.rank));
    ASSERT_EQ(f.v.size(), at(f.cols * f.rank));
    const double slack = rounding<T>(std::max(f.rows, f.cols), norm(oracle.values));
    EXPECT_LE(distance(product(f), a.elements), oracle.accuracy + slack);
    EXPECT_LE(static_cast<double>(f.rank), 1.25 * static_cast<double>(best_rank(oracle.values, oracle.accuracy)) + 2);
}

/// Points at random in a cell of a grid of cells of this side, as a tile of points sorted by place has them.
struct Cell {
    std::vector<double> corner;
    double side;
};
PointSet points_in(const Cell& cell, Index n, std::uint64_t seed) {
    std::vector<std::vector<double>> columns;
    for (const double corner : cell.corner) {
        auto& x = columns.emplace_back();
        for (Index i = 0; i < n; ++i)
            x.push_back(cell.side * (corner + Random(seed).uniform({static_cast<std::uint64_t>(i), columns.size()})));
    }
    return {Metric::euclidean, std::move(columns)};
}

struct Pair {
    std::string name;
    PointSet rows, cols;
};
/// Tiles that share a side, share a corner and are far apart, in 2 and 3 dimensions.
std::vector<Pair> pairs(Index m, Index n) {
    constexpr double side = 0.2;
    const std::vector<std::pair<std::string, std::vector<double>>> others{
        {"2D, sides touch", {1, 0}},    {"2D, corners touch", {1, 1}},    {"2D, far apart", {4, 2}},
        {"3D, sides touch", {1, 0, 0}}, {"3D, corners touch", {1, 1, 1}}, {"3D, far apart", {4, 1, 2}}};
    std::vector<Pair> out;
    for (const auto& [name, corner] : others)
        out.push_back(
            {name, points_in({std::vector<double>(corner.size()), side}, m, 1), points_in({corner, side}, n, 2)});
    return out;
}

std::vector<std::pair<std::string, Covariance>> covariances() {
    const CovarianceParameters parameters{.sigma2 = 2, .range = 0.1, .smoothness = 1.5};
    const auto make = [&](CovarianceFamily family) { return Covariance(family, parameters, Metric::euclidean, 2); };
    return {{"exponential", make(CovarianceFamily::exponential)},
            {"Matérn 3/2", make(CovarianceFamily::matern)},
            {"squared exponential", make(CovarianceFamily::squared_exponential)}};
}

template <class T>
WholeBlock<T> covariance_block(const Covariance& covariance, const PointSet& rows, const PointSet& cols) {
    WholeBlock<double> a(rows.size(), cols.size());
    covariance.fill_tile({.rows = &rows,
                          .row_count = rows.size(),
                          .cols = &cols,
                          .col_count = cols.size(),
                          .out = a.elements.data(),
                          .ld = rows.size()});
    return {rows.size(), cols.size(), [&](Index i, Index j) { return a.elements[at(i, j, rows.size())]; }};
}

/// action(block, singular values) for all covariances and pairs of tiles.
template <class T, class Action>
void for_covariance_blocks(Index m, Index n, Action action) {
    for (const auto& [name, covariance] : covariances())
        for (const Pair& pair : pairs(m, n)) {
            SCOPED_TRACE(name + ", " + pair.name);
            const WholeBlock<T> a = covariance_block<T>(covariance, pair.rows, pair.cols);
            action(a, singular_values(m, n, a.elements));
        }
}

double random(Index i, Index j, std::uint64_t seed = 3) {
    return Random(seed).normal({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
}

/// Random factors, whose k-th term is of size decayᵏ.
template <class T>
Factors<T> random_factors(ElementIndex size, Index rank, double decay) {
    const WholeBlock<T> u(size.i, rank, [&](Index i, Index k) { return random(i, k, 1); });
    const WholeBlock<T> v(size.j, rank,
                          [&](Index j, Index k) { return random(j, k, 2) * std::pow(decay, static_cast<double>(k)); });
    return {size.i, size.j, rank, u.elements, v.elements};
}

constexpr std::array<ElementIndex, 7> ragged_sizes{
    {{1, 1}, {1, 40}, {40, 1}, {37, 64}, {100, 17}, {17, 100}, {64, 64}}};

template <class T>
class LowRank : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LowRank, Precisions);

TYPED_TEST(LowRank, RecompressionFindsTheSmallestRank) {
    for (const ElementIndex size : ragged_sizes)
        for (const Index rank : {1, 5, 17, 40, 120}) {  // also more than rows or columns
            const Factors<TypeParam> given = random_factors<TypeParam>(size, rank, 0.6);
            const auto a = product(given);
            const auto values = singular_values(size.i, size.j, a);
            for (const double accuracy : {1e3, 1.0, 1e-1, 1e-2}) {
                Factors<TypeParam> f = given;
                recompress(f, accuracy);
                EXPECT_EQ(f.rank, best_rank(values, accuracy)) << size.i << "x" << size.j << " of " << rank;
                EXPECT_LE(distance(product(f), a),
                          accuracy + rounding<TypeParam>(std::max(size.i, size.j), norm(values)));
            }
        }
}

TYPED_TEST(LowRank, RecompressionLeavesVOrthonormal) {
    auto f = random_factors<TypeParam>({50, 30}, 20, 0.5);
    recompress(f, 1e-2);
    ASSERT_GT(f.rank, 3);
    for (Index k = 0; k < f.rank; ++k)
        for (Index l = 0; l < f.rank; ++l) {
            double dot = 0;
            for (Index j = 0; j < f.cols; ++j)
                dot += static_cast<double>(f.v[at(j, k, f.cols)]) * static_cast<double>(f.v[at(j, l, f.cols)]);
            EXPECT_NEAR(dot, k == l ? 1 : 0, rounding<TypeParam>(f.cols, 1));
        }
}

TYPED_TEST(LowRank, AccuracyZeroKeepsAllThatIsAboveRounding) {
    for (const Index rank : {1, 7, 30}) {
        const auto given = random_factors<TypeParam>({90, 120}, rank, 1);
        const auto a = product(given);
        const WholeBlock<TypeParam> dense(90, 120, [&](Index i, Index j) { return a[at(i, j, 90)]; });
        const double slack = rounding<TypeParam>(120, norm(singular_values(90, 120, a)));
        auto recompressed = sum(1, given, 1, given);
        recompress(recompressed, 0);
        EXPECT_EQ(recompressed.rank, rank);
        const auto compressed = compress<TypeParam>(dense.block(), 0);
        EXPECT_EQ(compressed.rank, rank);
        EXPECT_LE(distance(product(compressed), a), slack);
        const auto crossed = cross_approximate<TypeParam>(dense, 0, {60}).factors;
        ASSERT_TRUE(crossed);
        EXPECT_EQ(crossed->rank, rank);
        EXPECT_LE(distance(product(*crossed), a), slack);
    }
}

TYPED_TEST(LowRank, SumsAreThoseOfTheBlocks) {
    const auto a = random_factors<TypeParam>({30, 20}, 4, 1);
    auto b = random_factors<TypeParam>({30, 20}, 7, 0.7);
    std::reverse(b.u.begin(), b.u.end());
    const auto expected = [&, x = product(a), y = product(b)](Index i, Index j) {
        return 2 * x[at(i, j, 30)] - 0.5 * y[at(i, j, 30)];
    };
    const WholeBlock<double> dense(30, 20, expected);
    auto s = sum(2, a, -0.5, b);
    EXPECT_EQ(s.rank, 11);
    EXPECT_LE(distance(product(s), dense.elements), rounding<TypeParam>(30, 100));
    EXPECT_EQ(sum(1, a, 1, Factors<TypeParam>{30, 20}).u, a.u);
    auto nothing = sum(1, a, -1, a);
    recompress(nothing, 0);
    EXPECT_EQ(nothing.rank, 0);
}

TYPED_TEST(LowRank, ZeroBlocksHaveRankZero) {
    Factors<TypeParam> zero{6, 9};
    recompress(zero, 0);
    EXPECT_EQ(zero.rank, 0);
    zero = {6, 9, 2, std::vector<TypeParam>(12), std::vector<TypeParam>(18, 1)};
    recompress(zero, 0);
    EXPECT_EQ(zero.rank, 0);
    EXPECT_TRUE(zero.u.empty() && zero.v.empty());
    for (const ElementIndex size : ragged_sizes) {
        const WholeBlock<TypeParam> a(size.i, size.j);
        EXPECT_EQ(compress<TypeParam>(a.block(), 0).rank, 0);
        EXPECT_EQ(cross_approximate<TypeParam>(a, 0, {0}).factors.value().rank, 0);
    }
    const WholeBlock<TypeParam> empty(0, 5);
    EXPECT_EQ(compress<TypeParam>(empty.block(), 0).cols, 5);
    EXPECT_EQ(cross_approximate<TypeParam>(empty, 0, {0}).factors.value().cols, 5);
}

TYPED_TEST(LowRank, CompressionOfCovariancesMeetsTheAccuracyWithNearlyTheSmallestRank) {
    for_covariance_blocks<TypeParam>(128, 120, [](const WholeBlock<TypeParam>& a, const std::vector<double>& values) {
        for (const double accuracy : accuracies) {
            SCOPED_TRACE(accuracy);
            expect_good(compress<TypeParam>(a.block(), accuracy), a, {values, accuracy});
        }
    });
}

TYPED_TEST(LowRank, CrossApproximationOfCovariancesMeetsTheAccuracyWithNearlyTheSmallestRank) {
    for_covariance_blocks<TypeParam>(128, 120, [](const WholeBlock<TypeParam>& a, const std::vector<double>& values) {
        for (const double accuracy : accuracies) {
            SCOPED_TRACE(accuracy);
            const auto f = cross_approximate<TypeParam>(a, accuracy, {120}).factors;
            ASSERT_TRUE(f);
            expect_good(*f, a, {values, accuracy});
        }
    });
}

TYPED_TEST(LowRank, BlocksOfAnyShapeMeetTheAccuracy) {
    for (const ElementIndex size : ragged_sizes)
        for_covariance_blocks<TypeParam>(
            size.i, size.j, [&](const WholeBlock<TypeParam>& a, const std::vector<double>& values) {
                for (const double accuracy : accuracies) {
                    SCOPED_TRACE(std::to_string(size.i) + "x" + std::to_string(size.j));
                    expect_good(compress<TypeParam>(a.block(), accuracy), a, {values, accuracy});
                    const auto f = cross_approximate<TypeParam>(a, accuracy, {100}).factors;
                    ASSERT_TRUE(f);
                    expect_good(*f, a, {values, accuracy});
                }
            });
}

TYPED_TEST(LowRank, CompressionReadsBlocksWithGapsBetweenColumns) {
    const auto given = random_factors<TypeParam>({70, 80}, 3, 1);
    const auto a = product(given);
    const WholeBlock<TypeParam> wider(75, 80, [&](Index i, Index j) { return i < 70 ? a[at(i, j, 70)] : 1e6; });
    const auto f = compress<TypeParam>({wider.elements.data(), 70, 80, 75}, 1e-2);
    EXPECT_EQ(f.rank, 3);
    EXPECT_LE(distance(product(f), a), 1e-2);
}

TYPED_TEST(LowRank, BlocksOfFullRankAreKeptOrRefused) {
    for (const ElementIndex size : ragged_sizes) {
        const WholeBlock<TypeParam> a(size.i, size.j, [](Index i, Index j) { return random(i, j); });
        const auto values = singular_values(size.i, size.j, a.elements);
        const Index full = std::min(size.i, size.j);
        for (const double accuracy : {1.0, 1e-3}) {
            expect_good(compress<TypeParam>(a.block(), accuracy), a, {values, accuracy});
            const auto f = cross_approximate<TypeParam>(a, accuracy, {full}).factors;
            ASSERT_TRUE(f);
            expect_good(*f, a, {values, accuracy});
        }
        EXPECT_FALSE(cross_approximate<TypeParam>(a, 1e-3, {full - 1}).factors);
    }
}

// The crosses of one part never lead to another: its rows are zero there.
TYPED_TEST(LowRank, DecoupledPartsOfABlockAreFound) {
    const Index n = 96;
    for_covariance_blocks<TypeParam>(n, n, [&](const WholeBlock<TypeParam>& coupled, const std::vector<double>&) {
        for (const Index parts : {2, 3, 6}) {
            const WholeBlock<TypeParam> a(n, n, [&](Index i, Index j) {
                return i * parts / n == j * parts / n ? coupled.elements[at(i, j, n)] : 0;
            });
            const auto values = singular_values(n, n, a.elements);
            for (const double accuracy : {1e-2, 1e-5}) {
                SCOPED_TRACE(std::to_string(parts) + " parts");
                const auto f = cross_approximate<TypeParam>(a, accuracy, {n}).factors;
                ASSERT_TRUE(f);
                expect_good(*f, a, {values, accuracy});
            }
        }
    });
}

// Rows and columns drawn without regard to bounds miss it five times of six.
TYPED_TEST(LowRank, ElementsThatBoundsPointAtAreFound) {
    struct Spike final : TileSource<TypeParam> {
        explicit Spike(ElementIndex place) : spike(place) {}
        [[nodiscard]] Index rows() const override { return 200; }
        [[nodiscard]] Index cols() const override { return 200; }
        void row(Index i, TypeParam* out) const override {
            for (Index j = 0; j < 200; ++j) out[j] = static_cast<TypeParam>(i == spike.i && j == spike.j ? 1 : 0);
        }
        void column(Index j, TypeParam* out) const override {
            for (Index i = 0; i < 200; ++i) out[i] = static_cast<TypeParam>(i == spike.i && j == spike.j ? 1 : 0);
        }
        [[nodiscard]] double row_bound(Index i) const override { return i % 40 == spike.i % 40 ? 1 : 1e-9; }
        ElementIndex spike;
    };
    for (Index at = 0; at < 200; at += 13)
        EXPECT_EQ(cross_approximate<TypeParam>(Spike({at, 199 - at}), 1e-3, {5}).factors->rank, 1);
}

TYPED_TEST(LowRank, CrossApproximationAsksForFewRowsAndColumns) {
    const auto given = random_factors<TypeParam>({300, 300}, 10, 1);
    const auto a = product(given);
    const WholeBlock<TypeParam> dense(300, 300, [&](Index i, Index j) { return a[at(i, j, 300)]; });
    const Counting<TypeParam> counting(dense);
    const auto first = cross_approximate<TypeParam>(counting, 1e-1, {20}).factors;
    ASSERT_TRUE(first);
    EXPECT_EQ(first->rank, 10);
    EXPECT_LE(counting.asked, (2 * (10 + 2) + 32) * 300);
    const auto second = cross_approximate<TypeParam>(counting, 1e-1, {20}).factors;
    EXPECT_EQ(first->u, second.value().u);  // the same block, the same rows and columns
    EXPECT_EQ(first->v, second.value().v);
}

TYPED_TEST(LowRank, WhatIsNotFiniteIsHandedBackOrRefused) {
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        for (const ElementIndex size : ragged_sizes) {
            const WholeBlock<TypeParam> crossed(size.i, size.j, [&](Index i, Index j) {
                return i == size.i / 2 || j == size.j - 1 ? bad : 1 / static_cast<double>(1 + i + j);
            });
            EXPECT_FALSE(cross_approximate<TypeParam>(crossed, 1e-3, {100}).factors);
            const WholeBlock<TypeParam> single(size.i, size.j, [&](Index i, Index j) {
                return i == size.i - 1 && j == size.j - 1 ? bad : 1 / static_cast<double>(1 + i + j);
            });
            (void)cross_approximate<TypeParam>(single, 1e-3, {100});  // may not see it, but ends
            const auto f = compress<TypeParam>(single.block(), 1e-3);
            EXPECT_EQ(f.rank, std::min(size.i, size.j));
            EXPECT_FALSE(std::isfinite(product(f).back()));
            auto again = f;
            recompress(again, 1e-3);
            EXPECT_EQ(again.rank, f.rank);
            EXPECT_FALSE(std::isfinite(product(again).back()));
        }
}

constexpr Index tile = 200;
constexpr TileShape square{tile, tile};

// What crosses and the range finder take is not more than a few times the tile's elements, each used once.
TEST(UselessRanks, AreFoundOutWithLessThanAllElementsMore) {
    Index useless = 0;
    for_covariance_blocks<double>(tile, tile, [&](const WholeBlock<double>& a, const std::vector<double>& values) {
        for (const double accuracy : accuracies) {
            // Those that are just useless may be followed for longer.
            if (best_rank(values, 10 * accuracy) < useless_rank(square)) continue;
            SCOPED_TRACE(accuracy);
            ++useless;
            const Counting<double> counting(a);
            const auto crosses = cross_approximate<double>(counting, accuracy, {tile / 3, useless_rank(square)});
            EXPECT_FALSE(crosses.factors);
            EXPECT_EQ(crosses.outlook, RankOutlook::useless);
            EXPECT_LE(counting.asked, tile * tile * 2 / 3);
            OwnedTile room(tile, tile, accuracy);
            const Counting<double> stored(a);
            ASSERT_EQ(store<double>(room.tile(), stored).failure, Failure::none);
            EXPECT_EQ(room.shape().rank, dense_rank);
            EXPECT_LE(stored.asked, tile * tile * 5 / 3);
            const auto* const elements = room.tile().as<double>();
            EXPECT_TRUE(std::equal(a.elements.begin(), a.elements.end(), elements));
        }
    });
    EXPECT_GE(useless, 6);
}

TEST(UselessRanks, AreNotSeenWhereTheyAreNot) {
    double least = 0;
    double stored = 0;
    for_covariance_blocks<double>(tile, tile, [&](const WholeBlock<double>& a, const std::vector<double>& values) {
        for (const double accuracy : accuracies) {
            OwnedTile room(tile, tile, accuracy);
            ASSERT_EQ(store<double>(room.tile(), a).failure, Failure::none);
            TileShape best = square;
            if (const Index rank = best_rank(values, accuracy); rank < useless_rank(square)) best.rank = rank;
            least += static_cast<double>(stored_bytes(best, sizeof(double)));
            stored += static_cast<double>(stored_bytes(room.shape(), sizeof(double)));
        }
    });
    EXPECT_LE(stored, 1.02 * least);
}

// Singular values that do not fall at all until they are 0, as of paper 001's matrices: up to a quarter of the rows.
TEST(UselessRanks, AreNotSeenInBlocksOfAQuarterOfTheFullRank) {
    for (const Index nb : {64, 100, 128, 160, 200, 256})
        for (const Index rank : {nb / 16, nb / 8, nb / 6, nb / 5, nb / 4 - 1, nb / 4}) {
            const auto low = product(random_factors<double>({nb, nb}, rank, 1));
            const WholeBlock<double> a(nb, nb, [&](Index i, Index j) { return low[at(i, j, nb)]; });
            OwnedTile room(nb, nb, 1e-6);
            ASSERT_EQ(store<double>(room.tile(), a).failure, Failure::none);
            EXPECT_EQ(room.shape().rank, rank) << "of " << nb;
        }
}

TEST(UselessRanks, OfWholeBlocksAreRefused) {
    for (const ElementIndex size : ragged_sizes) {
        const WholeBlock<double> a(size.i, size.j, [](Index i, Index j) { return random(i, j); });
        const Index full = std::min(size.i, size.j);
        EXPECT_FALSE(compress<double>(a.block(), 1e-3, (full + 1) / 2));
        const auto given = random_factors<double>(size, std::max<Index>(1, full / 4), 1);
        const auto low = product(given);
        const WholeBlock<double> b(size.i, size.j, [&](Index i, Index j) { return low[at(i, j, size.i)]; });
        const auto f = compress<double>(b.block(), 1e-6, (full + 1) / 2 + 1);
        ASSERT_TRUE(f) << size.i << "x" << size.j;
        EXPECT_EQ(f->rank, given.rank);
        EXPECT_LE(distance(product(*f), low), 1e-6);
    }
}

}  // namespace
}  // namespace tesela::low_rank::low_rank_test
