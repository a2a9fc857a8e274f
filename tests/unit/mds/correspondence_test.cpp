#include "tesela/mds/correspondence.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/mds/placement.hpp"
#include "tesela/mds/tables.hpp"
#include "unit/mds/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

namespace tesela::mds::mds_correspondence_test {
namespace {

using tesela::testing::made_matrix;
using tesela::testing::matrix_of;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

#define EXPECT_REL(got, wanted, tolerance) EXPECT_NEAR(got, wanted, (tolerance)*std::abs(wanted))

// ca(smoke) of R's package ca: summary() prints masses, inertias, cor and ctr in thousandths.
TEST(CorrespondenceAnalysis, OfSmokeIsWhatCaGives) {
    for (const Index nodes : {1, 3}) {
        InlineEngine engine(nodes);
        Stream stream(engine);
        const Correspondence ca = correspondence(stream, *matrix_of("smoke.csv"), {.dimensions = 2});
        EXPECT_REL(ca.decomposition.values[0], 0.2734211146, 4e-10);
        EXPECT_REL(ca.decomposition.values[1], 0.1000858657, 6e-10);
        EXPECT_REL(ca.decomposition.values[2], 0.0203365208, 3e-9);
        EXPECT_NEAR(ca.chi_square, 16.44164, 5e-6);
        EXPECT_EQ(ca.inertias().size(), 3U);
        EXPECT_NEAR(ca.inertia, 0.085190, 5e-7);
        const auto thousandths = [](const std::vector<double>& values, Index k, Index n, double factor) {
            std::vector<long> rounded;
            for (Index i = 0; i < n; ++i)
                rounded.push_back(std::lround(factor * values[static_cast<std::size_t>(i + k * n)]));
            return rounded;
        };
        using ::testing::ElementsAre;
        EXPECT_THAT(thousandths(ca.rows.masses, 0, 5, 1000), ElementsAre(57, 93, 264, 456, 130));
        EXPECT_THAT(thousandths(ca.rows.inertias, 0, 5, 1000 / ca.inertia), ElementsAre(31, 139, 450, 308, 71));
        EXPECT_THAT(thousandths(ca.rows.squared_cosines, 0, 5, 1000), ElementsAre(92, 526, 999, 942, 865));
        EXPECT_THAT(thousandths(ca.rows.contributions, 0, 5, 1000), ElementsAre(3, 84, 512, 331, 70));
        EXPECT_THAT(thousandths(ca.rows.squared_cosines, 1, 5, 1000), ElementsAre(800, 465, 1, 58, 133));
        EXPECT_THAT(thousandths(ca.rows.contributions, 1, 5, 1000), ElementsAre(214, 551, 3, 152, 81));
        EXPECT_THAT(thousandths(ca.columns.masses, 0, 4, 1000), ElementsAre(316, 233, 321, 130));
        EXPECT_THAT(thousandths(ca.columns.squared_cosines, 0, 4, 1000), ElementsAre(994, 327, 982, 684));
        EXPECT_THAT(thousandths(ca.columns.contributions, 0, 4, 1000), ElementsAre(654, 31, 166, 150));
        // In thousandths the coordinates of summary(): SM -66 -194, JM 259 -243, SE -381 -11, …, up to signs.
        const double sign1 = ca.rows.coordinates[0] < 0 ? 1 : -1;
        const double sign2 = ca.rows.coordinates[5] < 0 ? 1 : -1;
        EXPECT_THAT(thousandths(ca.rows.coordinates, 0, 5, 1000 * sign1), ElementsAre(-66, 259, -381, 233, -201));
        EXPECT_THAT(thousandths(ca.rows.coordinates, 1, 5, 1000 * sign2), ElementsAre(-194, -243, -11, 58, 79));
        EXPECT_THAT(thousandths(ca.columns.coordinates, 0, 4, 1000 * sign1), ElementsAre(-393, 99, 196, 294));
    }
}

RC_GTEST_PROP(CorrespondenceAnalysis, HoldsItsIdentities, ()) {
    const auto rows = *rc::gen::inRange<Index>(3, 20);
    const auto cols = *rc::gen::inRange<Index>(3, 20);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Random random(seed);
    const auto counts = made_matrix(rows, cols, [&](Index i, Index j) {
        return 1.0 + static_cast<double>(
                         random.below(50, {.i = static_cast<std::uint64_t>(i), .j = static_cast<std::uint64_t>(j)}));
    });
    const Index all = std::min(rows, cols) - 1;
    InlineEngine engine;
    Stream stream(engine);
    const Correspondence ca = correspondence(stream, *counts, {.dimensions = all});
    double inertia = 0;
    for (const double value : ca.rows.inertias) inertia += value;
    RC_ASSERT(std::abs(inertia - ca.inertia) <= 1e-12);
    for (Index i = 0; i < rows; ++i) {
        double quality = 0;
        for (Index k = 0; k < all; ++k) quality += ca.rows.squared_cosines[static_cast<std::size_t>(i + k * rows)];
        RC_ASSERT(std::abs(quality - 1) <= 1e-9);
    }
    for (Index k = 0; k < all; ++k) {
        double mean = 0;
        double contributions = 0;
        for (Index j = 0; j < cols; ++j) {
            const auto at = static_cast<std::size_t>(j + k * cols);
            mean += ca.columns.masses[static_cast<std::size_t>(j)] * ca.columns.coordinates[at];
            contributions += ca.columns.contributions[at];
        }
        RC_ASSERT(std::abs(mean) <= 1e-12);
        RC_ASSERT(std::abs(contributions - 1) <= 1e-12);
    }
    // The transition formula puts the old rows where they are.
    const std::vector<double> placed = place(ca, *counts);
    for (std::size_t k = 0; k < placed.size(); ++k) RC_ASSERT(std::abs(placed[k] - ca.rows.coordinates[k]) <= 1e-12);
}

// Independent rows and columns differ by nothing.
TEST(CorrespondenceAnalysis, OfATableOfRankOneHasNoInertia) {
    const auto counts = made_matrix(6, 4, [](Index i, Index j) { return static_cast<double>((i + 1) * (2 * j + 3)); });
    InlineEngine engine;
    Stream stream(engine);
    const Correspondence ca = correspondence(stream, *counts, {.dimensions = 2});
    EXPECT_NEAR(ca.inertia, 0, 1e-28);
    for (const double value : ca.decomposition.values) EXPECT_NEAR(value, 0, 1e-14);
    for (const double coordinate : ca.rows.coordinates) EXPECT_NEAR(coordinate, 0, 1e-13);
}

TEST(CorrespondenceAnalysis, NamesRowsWithoutCounts) {
    const auto counts = made_matrix(3, 3, [](Index i, Index j) { return i == 1 ? 0.0 : static_cast<double>(j + 1); });
    InlineEngine engine;
    Stream stream(engine);
    EXPECT_THAT([&] { (void)correspondence(stream, *counts, {.dimensions = 1}); },
                ThrowsMessage<Error>(HasSubstr("made, row 2: it sums to 0")));
    const auto weighted = made_matrix(3, 3, [](Index, Index) { return 1.0; });
    EXPECT_THAT(
        [&] {
            (void)correspondence(stream, *weighted, {.dimensions = 1, .row_weights = {1, 2, 3}});
        },
        ThrowsMessage<Error>(HasSubstr("takes no weights")));
}

TEST(CorrespondenceAnalysis, TableHasAllOfAPoint) {
    InlineEngine engine;
    Stream stream(engine);
    const auto counts = matrix_of("smoke.csv");
    const Correspondence ca = correspondence(stream, *counts, {.dimensions = 2});
    const Table table = profile_table(ca.columns, counts->header().col_labels);
    EXPECT_THAT(table.names, ::testing::ElementsAre("mass", "distance", "inertia", "dim1", "dim2", "contribution1",
                                                    "contribution2", "cos2_1", "cos2_2"));
    EXPECT_THAT(table.labels, ::testing::ElementsAre("none", "light", "medium", "heavy"));
}

}  // namespace
}  // namespace tesela::mds::mds_correspondence_test
