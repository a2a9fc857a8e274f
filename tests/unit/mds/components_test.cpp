#include "tesela/mds/components.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/mds/placement.hpp"
#include "tesela/mds/point_distances.hpp"
#include "tesela/mds/scaling.hpp"
#include "tesela/mds/tables.hpp"
#include "unit/mds/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

namespace tesela::mds::mds_components_test {
namespace {

using tesela::testing::made_matrix;
using tesela::testing::matrix_of;
using tesela::testing::random_points;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

#define EXPECT_REL(got, wanted, tolerance) EXPECT_NEAR(got, wanted, (tolerance)*std::abs(wanted))

// prcomp(USArrests, scale. = TRUE) of R 4.2.
TEST(Components, OfScaledUsarrestsAreThoseOfPrcomp) {
    InlineEngine engine;
    Stream stream(engine);
    const Components pca =
        principal_components(stream, *matrix_of("usarrests.csv"), ColumnScale::unit_deviation, {.dimensions = 4});
    const std::vector<double> deviations{1.574878274391228, 0.994869414817765, 0.597129115502527, 0.416449381953960};
    const std::vector<double> alabama{0.975660448333606, 1.122001210433411, 0.439803661285307, 0.154696580989146};
    const std::vector<double> murder{0.535899474938155, 0.418180865420955, 0.341232727952828, 0.649227804341944};
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_REL(pca.deviations[k], deviations[k], 1e-12);
        EXPECT_REL(std::abs(pca.scores[50 * k]), alabama[k], 1e-10);
        EXPECT_REL(std::abs(pca.decomposition.right[4 * k]), murder[k], 1e-10);
    }
    EXPECT_NEAR(std::accumulate(pca.proportions.begin(), pca.proportions.end(), 0.0), 1, 1e-14);
    // predict() of a row that is none of them.
    const std::vector<double> row{10, 200, 50, 20};
    const auto new_row = made_matrix(1, 4, [&](Index, Index j) { return row[static_cast<std::size_t>(j)]; });
    const std::vector<double> placed = place(pca, *new_row);
    const std::vector<double> predicted{0.106636488139919, 1.23738179868813, 0.0308868807921409, 0.0865547228429273};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_REL(std::abs(placed[k]), predicted[k], 1e-10);
}

// sqrt(eigen(cov.wt(USArrests, 1:50 / 1275)$cov)$values) and of its correlations.
TEST(Components, WithWeightsAreThoseOfCovWt) {
    std::vector<double> weights(50);
    std::iota(weights.begin(), weights.end(), 1.0);
    InlineEngine engine;
    Stream stream(engine);
    const auto data = matrix_of("usarrests.csv");
    const DecompositionOptions options{.dimensions = 4, .row_weights = weights};
    const Components plain = principal_components(stream, *data, ColumnScale::as_they_are, options);
    const Components scaled = principal_components(stream, *data, ColumnScale::unit_deviation, options);
    const std::vector<double> of_plain{79.91414969389963, 14.75574045956964, 5.83553557461840, 2.15186687721956};
    const std::vector<double> of_scaled{1.594242162203288, 0.992626097252832, 0.576994021099368, 0.374383839022964};
    const std::vector<double> centres{7.26470588235294, 156.41568627450980, 64.16235294117647, 19.63082352941176};
    const std::vector<double> scales{4.29665631038232, 79.54087009705006, 15.05241628407654, 8.42025516683546};
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_REL(plain.deviations[k], of_plain[k], 1e-12);
        EXPECT_REL(scaled.deviations[k], of_scaled[k], 1e-12);
        EXPECT_REL(scaled.centres[k], centres[k], 1e-12);
        EXPECT_REL(scaled.scales[k], scales[k], 1e-12);
    }
    // Old rows are where they are.
    const std::vector<double> placed = place(scaled, *data);
    for (std::size_t k = 0; k < placed.size(); ++k) EXPECT_NEAR(placed[k], scaled.scores[k], 1e-12);
}

RC_GTEST_PROP(Components, ScoresAreTheScalingOfTheDistances, ()) {
    const auto cols = *rc::gen::inRange<Index>(1, 8);
    const auto rows = *rc::gen::inRange<Index>(2, 30);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto data = random_points(rows, cols, seed);
    const Index wanted = std::min(rows - 1, cols);
    InlineEngine engine;
    Stream stream(engine);
    const Components pca = principal_components(stream, *data, ColumnScale::as_they_are, {.dimensions = wanted});
    const Scaling mds = scale(stream, *point_distances(*data), {.dimensions = wanted});
    for (Index k = 0; k < wanted; ++k) {
        const auto at = static_cast<std::size_t>(k);
        RC_ASSERT(std::abs(std::pow(pca.decomposition.values[at], 2) - mds.decomposition.values[at]) <=
                  1e-11 * mds.decomposition.values[0]);
        // Vectors are as sure as their values are apart.
        const double apart = k + 1 < wanted ? mds.decomposition.values[at] - mds.decomposition.values[at + 1] : 1.0;
        const double before = k > 0 ? mds.decomposition.values[at - 1] - mds.decomposition.values[at] : 1.0;
        if (std::min(apart, before) < 1e-3 * mds.decomposition.values[0] || mds.decomposition.values[at] < 1e-3)
            continue;
        for (Index i = 0; i < rows; ++i)
            RC_ASSERT(std::abs(pca.scores[static_cast<std::size_t>(i + k * rows)] - mds.coordinate(i, k)) <= 1e-8);
    }
}

TEST(Components, ThatExplainEnoughAreFew) {
    InlineEngine engine;
    Stream stream(engine);
    const auto iris = matrix_of("iris.csv");
    const auto needed = [&](double part) {
        return decompose(stream, *iris, Analysis::components, {.dimensions = 4, .explained = part}).wanted;
    };
    EXPECT_EQ(needed(0.9), 1);
    EXPECT_EQ(needed(0.97), 2);
    EXPECT_EQ(needed(0.99), 3);
    EXPECT_EQ(needed(1), 4);
    EXPECT_EQ(decompose(stream, *iris, Analysis::components, {.dimensions = 2, .explained = 0.99}).wanted, 2);
}

TEST(Components, OfAConstantColumnCannotBeScaled) {
    const auto data = made_matrix(9, 2, [](Index i, Index j) { return j == 0 ? static_cast<double>(i) : 0.1; });
    InlineEngine engine;
    Stream stream(engine);
    EXPECT_THAT([&] { (void)principal_components(stream, *data, ColumnScale::unit_deviation, {.dimensions = 1}); },
                ThrowsMessage<Error>(HasSubstr("made, column 2: all values are 0.1")));
    EXPECT_NO_THROW((void)principal_components(stream, *data, ColumnScale::as_they_are, {.dimensions = 1}));
}

TEST(Components, TablesNameColumnsAndRows) {
    InlineEngine engine;
    Stream stream(engine);
    const auto data = matrix_of("usarrests.csv");
    const Components pca = principal_components(stream, *data, ColumnScale::as_they_are, {.dimensions = 2});
    const Table loadings = loading_table(pca, data->header().col_labels);
    EXPECT_THAT(loadings.names, ::testing::ElementsAre("PC1", "PC2"));
    EXPECT_THAT(loadings.labels, ::testing::ElementsAre("Murder", "Assault", "UrbanPop", "Rape"));
    EXPECT_EQ(loadings.columns[1].size(), 4U);
}

}  // namespace
}  // namespace tesela::mds::mds_components_test
