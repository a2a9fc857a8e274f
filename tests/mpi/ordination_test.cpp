#include "support/shared_engine.hpp"
#include "tesela/apps/mds/components.hpp"
#include "tesela/apps/mds/correspondence.hpp"
#include "tesela/apps/mds/scaling.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "unit/apps/mds_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::mds {
namespace {

using tesela::testing::engine;
using tesela::testing::made_matrix;
using tesela::testing::matrix_of;

// Every node has the whole result, to the last digit that of one node.
TEST(Ordination, IsTheSameOnEveryNode) {
    InlineEngine alone;
    const Scaling map = scale(engine(), *matrix_of("eurodist.csv"), {.dimensions = 3});
    EXPECT_EQ(map.coordinates, scale(alone, *matrix_of("eurodist.csv"), {.dimensions = 3}).coordinates);
    EXPECT_EQ(map.decomposition.values.size(), 21U);
    const auto arrests = matrix_of("usarrests.csv");
    const Components pca = principal_components(engine(), *arrests, ColumnScale::unit_deviation, {.dimensions = 4});
    const Components wanted = principal_components(alone, *arrests, ColumnScale::unit_deviation, {.dimensions = 4});
    EXPECT_EQ(pca.scores, wanted.scores);
    EXPECT_EQ(pca.decomposition.right, wanted.decomposition.right);
    EXPECT_EQ(pca.scales, wanted.scales);
}

// Nodes read other rows of the table: enough for several panels each.
TEST(Ordination, DistancesOfProfilesAreSummedOverAllNodes) {
    const auto counts = made_matrix(900, 2500, [](Index i, Index j) { return 1.0 + static_cast<double>((i * j) % 7); });
    InlineEngine alone;
    const DecompositionOptions options{.dimensions = 2, .readers = 2};
    const Correspondence ca = correspondence(engine(), *counts, options);
    const Correspondence wanted = correspondence(alone, *counts, options);
    for (std::size_t i = 0; i < 900; ++i) EXPECT_NEAR(ca.rows.inertias[i], wanted.rows.inertias[i], 1e-15);
    for (std::size_t j = 0; j < 2500; ++j) EXPECT_NEAR(ca.columns.inertias[j], wanted.columns.inertias[j], 1e-15);
}

// Only one node reads: all say what it found.
TEST(Ordination, AllNodesRefuseWhatOneFindsWrong) {
    const auto skewed = made_matrix(5, 5, [](Index i, Index j) { return i == j ? 0.0 : 1.0 + static_cast<double>(i); });
    EXPECT_THAT([&] { (void)scale(engine(), *skewed, {.dimensions = 1}); },
                ::testing::ThrowsMessage<Error>(::testing::HasSubstr("made is not symmetric: row 5, column 1")));
}

}  // namespace
}  // namespace tesela::mds
