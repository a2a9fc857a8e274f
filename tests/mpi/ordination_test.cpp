#include "support/shared_engine.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/mds/components.hpp"
#include "tesela/mds/correspondence.hpp"
#include "tesela/mds/scaling.hpp"
#include "unit/mds/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::mds::ordination_test {
namespace {

using tesela::testing::engine;
using tesela::testing::made_matrix;
using tesela::testing::matrix_of;

/// A stream of an engine that lasts as long as an analysis is called.
struct InStream {
    explicit InStream(Engine& engine) : stream(engine, {.name = "mds", .sums = Sums::in_order}) {}
    operator Stream&() { return stream; }  // NOLINT(google-explicit-constructor)
    Stream stream;
};

// Every node has the whole result, to the last digit that of one node.
TEST(Ordination, IsTheSameOnEveryNode) {
    InlineEngine alone;
    const Scaling map = scale(InStream(engine()), *matrix_of("eurodist.csv"), {.dimensions = 3});
    EXPECT_EQ(map.coordinates, scale(InStream(alone), *matrix_of("eurodist.csv"), {.dimensions = 3}).coordinates);
    EXPECT_EQ(map.decomposition.values.size(), 21U);
    const auto arrests = matrix_of("usarrests.csv");
    const Components pca =
        principal_components(InStream(engine()), *arrests, ColumnScale::unit_deviation, {.dimensions = 4});
    const Components wanted =
        principal_components(InStream(alone), *arrests, ColumnScale::unit_deviation, {.dimensions = 4});
    EXPECT_EQ(pca.scores, wanted.scores);
    EXPECT_EQ(pca.decomposition.right, wanted.decomposition.right);
    EXPECT_EQ(pca.scales, wanted.scales);
}

// Nodes read other rows of the table: enough for several panels each.
TEST(Ordination, DistancesOfProfilesAreSummedOverAllNodes) {
    const auto counts = made_matrix(900, 2500, [](Index i, Index j) { return 1.0 + static_cast<double>((i * j) % 7); });
    InlineEngine alone;
    const DecompositionOptions options{.dimensions = 2, .readers = 2};
    const Correspondence ca = correspondence(InStream(engine()), *counts, options);
    const Correspondence wanted = correspondence(InStream(alone), *counts, options);
    for (std::size_t i = 0; i < 900; ++i) EXPECT_NEAR(ca.rows.inertias[i], wanted.rows.inertias[i], 1e-15);
    for (std::size_t j = 0; j < 2500; ++j) EXPECT_NEAR(ca.columns.inertias[j], wanted.columns.inertias[j], 1e-15);
}

/// Distances between points whose coordinates decay, so that neighbouring eigenvalues differ.
double distance(Index i, Index j) {
    double sum = 0;
    for (std::uint64_t d = 0; d < 8; ++d) {
        const Random random(3);
        const double apart =
            random.normal({static_cast<std::uint64_t>(i), d}) - random.normal({static_cast<std::uint64_t>(j), d});
        sum += std::ldexp(apart * apart, -static_cast<int>(d));
    }
    return std::sqrt(sum);
}

void expect_alike(const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (const double x : b) largest = std::max(largest, std::abs(x));
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-9 * largest) << k;
}

// Whatever the tile and the part of the matrix that is kept.
TEST(Ordination, ByRandomNumbersIsTheSameOnAnyNumberOfNodes) {
    const auto distances = made_matrix(230, 230, distance);
    InlineEngine alone;
    const DecompositionOptions options{.dimensions = 4, .algorithm = Algorithm::krylov, .tolerance = 1e-10, .tile = 50};
    const Scaling wanted = scale(InStream(alone), *distances, options);
    for (const Index tile : {23, 64, 230})
        for (const double memory : {0.0, 2e5}) {
            DecompositionOptions other = options;
            other.tile = tile;
            other.memory = memory;
            const Scaling map = scale(InStream(engine()), *distances, other);
            expect_alike(map.coordinates, wanted.coordinates);
            EXPECT_EQ(map.decomposition.passes, wanted.decomposition.passes);
        }
    const auto table = made_matrix(300, 120, [](Index i, Index j) { return 1 + std::exp(distance(i, j)); });
    const Correspondence ca = correspondence(InStream(engine()), *table, options);
    const Correspondence by_one = correspondence(InStream(alone), *table, options);
    expect_alike(ca.decomposition.values, by_one.decomposition.values);
    expect_alike(ca.decomposition.right, by_one.decomposition.right);
    const Components pca = principal_components(InStream(engine()), *table, ColumnScale::unit_deviation, options);
    expect_alike(pca.scores,
                 principal_components(InStream(alone), *table, ColumnScale::unit_deviation, options).scores);
}

// As a plan would have it, whatever it is: coordinates are the same.
TEST(Ordination, WhoeverReadsAndKeepsTilesCoordinatesAreTheSame) {
    const auto distances = made_matrix(230, 230, distance);
    InlineEngine alone;
    DecompositionOptions options{.dimensions = 4, .algorithm = Algorithm::krylov, .tolerance = 1e-10, .tile = 50};
    const Scaling wanted = scale(InStream(alone), *distances, options);
    const Index nodes = engine().node_count();
    const GridSize tiles{5, 5};
    const auto drawn = [&](std::uint64_t seed) {
        return tabulate(tiles, nodes, [&, seed](Index i, Index j) {
            const double u = Random(seed).uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)});
            return std::min(static_cast<Index>(u * static_cast<double>(nodes)), nodes - 1);
        });
    };
    const Distribution last_alone = tabulate(tiles, nodes, [&](Index, Index) { return nodes - 1; });
    const Distribution by_rows = tabulate(tiles, nodes, [&](Index i, Index) { return i % nodes; });
    const std::vector<TileOwners> all{{by_rows, by_rows},  {by_rows, drawn(1)},   {drawn(2), drawn(3)},
                                      {drawn(4), by_rows}, {by_rows, last_alone}, {last_alone, by_rows}};
    for (const TileOwners& owners : all)
        for (const StreamingStep step : {StreamingStep::split_gram, StreamingStep::priorities}) {
            options.owners = owners;
            options.overlap = step;
            const Scaling map = scale(InStream(engine()), *distances, options);
            expect_alike(map.coordinates, wanted.coordinates);
            EXPECT_EQ(map.decomposition.passes, wanted.decomposition.passes);
        }
}

// Only one node reads: all say what it found.
TEST(Ordination, AllNodesRefuseWhatOneFindsWrong) {
    const auto skewed = made_matrix(5, 5, [](Index i, Index j) { return i == j ? 0.0 : 1.0 + static_cast<double>(i); });
    EXPECT_THAT([&] { (void)scale(InStream(engine()), *skewed, {.dimensions = 1}); },
                ::testing::ThrowsMessage<Error>(::testing::HasSubstr("made is not symmetric: row 5, column 1")));
}

}  // namespace
}  // namespace tesela::mds::ordination_test
