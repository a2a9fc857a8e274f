#include "tesela/mds/decomposition.hpp"
#include "tesela/mds/goodness_of_fit.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/mds/ordination_plot.hpp"
#include "unit/mds/cases.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace tesela::mds::mds_decomposition_test {
namespace {

using tesela::testing::matrix_of;
using tesela::testing::random_points;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MatrixDecomposition, SignsFollowTheLargestElementOfTheLeftVector) {
    Decomposition d{.rows = 3,
                    .cols = 2,
                    .values = {2, 1},
                    .wanted = 2,
                    .left = {0.1, -0.9, 0.3, 0.5, -0.5, 0.1},
                    .right = {1, 2, 3, -4}};
    fix_signs(d);
    EXPECT_THAT(d.left, ::testing::ElementsAre(-0.1, 0.9, -0.3, 0.5, -0.5, 0.1));
    EXPECT_THAT(d.right, ::testing::ElementsAre(-1, -2, 3, -4));
}

TEST(MatrixDecomposition, AgreesWithItsMatrix) {
    InlineEngine engine;
    Stream stream(engine);
    const auto file = random_points(20, 6, 3);
    const Decomposition d = decompose(stream, *file, Analysis::components, {.dimensions = 6});
    const MatrixValues F = read_all(*file);
    ASSERT_EQ(d.wanted, 6);
    for (Index i = 0; i < 20; ++i)
        for (Index j = 0; j < 6; ++j) {
            double made = d.col_sums[static_cast<std::size_t>(j)] / d.weight;
            for (Index k = 0; k < 6; ++k)
                made += d.left[static_cast<std::size_t>(i + 20 * k)] * d.values[static_cast<std::size_t>(k)] *
                        d.right[static_cast<std::size_t>(j + 6 * k)];
            EXPECT_NEAR(made, F.values[static_cast<std::size_t>(i + 20 * j)], 1e-13);
        }
    double squares = 0;
    for (const double value : d.values) squares += value * value;
    EXPECT_NEAR(d.frobenius, squares, 1e-11);
    EXPECT_EQ(d.passes, 1);
    EXPECT_EQ(d.error_estimate, 0);
}

/// So large that nobody could read it.
class VastMatrix final : public MatrixFile {
public:
    VastMatrix() : MatrixFile({.name = "vast", .rows = 40000, .cols = 40000}) {}

private:
    [[nodiscard]] ReadOutcome read_block(const MatrixBlock&, const Target&) const override {
        return ReadOutcome::failure("vast was read");
    }
};

TEST(MatrixDecomposition, RefusesWhatLapackCannotTakeBeforeItIsRead) {
    InlineEngine engine;
    Stream stream(engine);
    EXPECT_THAT([&] { (void)decompose(stream, VastMatrix(), Analysis::scaling, {.algorithm = Algorithm::exact}); },
                ::testing::ThrowsMessage<Error>(HasSubstr("vast is 40000 x 40000, which is more than LAPACK takes")));
}

TEST(MatrixDecomposition, RowsAndColumnsOfDistancesHaveTheSameNames) {
    using Names = std::vector<std::string>;
    const auto problem = [](const Names& rows, const Names& cols, Analysis analysis = Analysis::scaling) {
        const auto file = memory_matrix(
            {.rows = 3, .cols = 3, .values = {0, 1, 2, 1, 0, 2, 2, 2, 0}, .row_labels = rows, .col_labels = cols}, "D");
        try {
            validate(*file, analysis, {});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const Names towns{"Rome", "Hook of Holland", "1st"};
    EXPECT_EQ(problem(towns, towns), "");
    EXPECT_EQ(problem(towns, {}), "");
    EXPECT_EQ(problem({}, towns), "");
    EXPECT_EQ(problem(towns, {"Rome", "Hook.of.Holland", "X1st"}), "");  // as R's data.frame() makes them
    EXPECT_EQ(problem(towns, {"V1", "V2", "V3"}), "");
    EXPECT_EQ(problem({"0", "1", "2"}, towns), "");
    EXPECT_EQ(problem(towns, {"Rome", "1st", "Hook of Holland"}),
              "D: row 2 is called Hook of Holland and column 2 is called 1st, but must be the same point: rows and "
              "columns have the same names in different orders");
    // Numbers and the like are names too, where rows and columns have the same ones or do not begin with the first.
    for (const auto& [rows, cols] : {std::pair(Names{"2", "1", "3"}, Names{"1", "2", "3"}),
                                     std::pair(Names{"V2", "V1", "V3"}, Names{"V1", "V2", "V3"}),
                                     std::pair(Names{"102", "101", "103"}, Names{"101", "102", "103"})})
        EXPECT_THAT(problem(rows, cols), HasSubstr("in different orders"));
    EXPECT_THAT(problem(towns, {"101", "102", "103"}), HasSubstr("row 1 is called Rome and column 1 is called 101"));
    EXPECT_EQ(problem(towns, {"Rome", "Oslo", "1st"}),
              "D: row 2 is called Hook of Holland and column 2 is called Oslo, but must be the same point");
    EXPECT_THAT(problem({"2", "1", "3"}, {"X3", "X1", "X2"}), HasSubstr("row 1 is called 2 and column 1 is called X3"));
    EXPECT_EQ(problem(towns, {"a", "b", "c"}, Analysis::correspondence), "");
}

TEST(MatrixDecomposition, TilesAreCountedAndTooManyRefused) {
    const auto problem = [](Analysis analysis, Index tile, Algorithm algorithm = Algorithm::automatic) {
        InlineEngine engine;
        Stream stream(engine);
        try {
            (void)decompose(stream, VastMatrix(), analysis, {.algorithm = algorithm, .tile = tile});
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(problem(Analysis::scaling, 14), "vast would be 4085511 tiles of size 14, and at most 4000000 are taken");
    EXPECT_THAT(problem(Analysis::correspondence, 19), HasSubstr("vast would be 4435236 tiles of size 19"));
    EXPECT_THAT(problem(Analysis::scaling, 1, Algorithm::exact), HasSubstr("more than LAPACK takes"));  // it has none
}

TEST(MatrixDecomposition, PartsOfTheVarianceAreOfThePositiveEigenvalues) {
    Decomposition d{.rows = 4, .cols = 4, .values = {6, 2, 0, -3}};
    EXPECT_EQ(explained_part(d, Analysis::scaling, 0), exactly(0.75));
    EXPECT_EQ(explained_part(d, Analysis::scaling, 3), exactly(0));
    // Of distances between points, or with one value left, the rest is known by the trace.
    d.values = {6, 2};
    d.trace = 16;
    d.frobenius = 104;
    EXPECT_NEAR(explained_part(d, Analysis::scaling, 0).low, 0.375, 1e-12);
    EXPECT_NEAR(explained_part(d, Analysis::scaling, 0).high, 0.375, 1e-12);
    d.distances = DistanceKind::euclidean;
    EXPECT_EQ(explained_part(d, Analysis::scaling, 0), exactly(0.375));
    EXPECT_EQ(dimensions_explaining(d, Analysis::scaling, 0.4, 2), 2);
    d.frobenius = 80;
    EXPECT_EQ(explained_part(d, Analysis::components, 0), exactly(0.45));
}

TEST(OrdinationPlot, HasADotAndANamePerPoint) {
    const OrdinationPlot plot{.title = "A <title>",
                              .x_label = "dimension 1",
                              .y_label = "dimension 2",
                              .points = {{.name = "3 rows", .x = {0, 1, 2}, .y = {0, 1, 0}, .labels = {"p", "q", "r"}}},
                              .arrows = {.name = "loadings", .x = {1}, .y = {0}, .labels = {"arrow"}}};
    const std::string svg = draw_ordination(plot);
    EXPECT_THAT(svg, HasSubstr("A &lt;title&gt;"));
    for (const char* word : {">p<", ">q<", ">r<", ">arrow<", "loadings, ×"}) EXPECT_THAT(svg, HasSubstr(word));
    OrdinationPlot many = plot;
    many.points[0].x.assign(100, 1.0);
    many.points[0].y.assign(100, 2.0);
    many.points[0].labels.assign(100, "name");
    EXPECT_THAT(draw_ordination(many), Not(HasSubstr(">name<")));
    // Beside many rows the few columns have their names all the same.
    many.points.push_back({.name = "2 columns", .x = {0, 1}, .y = {1, 0}, .labels = {"left", "right"}});
    const std::string both = draw_ordination(many);
    EXPECT_THAT(both, Not(HasSubstr(">name<")));
    EXPECT_THAT(both, HasSubstr(">left<"));
}

TEST(OrdinationPlot, OfOneDimensionHasOneAxisAndNamesThatDoNotMeet) {
    OrdinationPlot plot{.title = "t",
                        .x_label = "dimension 1",
                        .points = {{.name = "30 points", .x = std::vector<double>(30, 1.0)}},
                        .arrows = {.name = "loadings", .x = {1, 0.5}, .labels = {"long", "short"}}};
    for (int i = 0; i < 12; ++i) plot.points[0].labels.push_back(fmt::format("name {}", i));
    const std::string svg = draw_ordination(plot);
    EXPECT_THAT(svg, HasSubstr(">dimension 1<"));
    EXPECT_THAT(svg, Not(HasSubstr("rotate(-90")));  // as labels of axes at the left are
    std::set<std::string> heights;
    for (std::size_t at = svg.find(">name "); at != std::string::npos; at = svg.find(">name ", at + 1)) {
        const std::size_t begin = svg.rfind(" y=\"", at) + 4;
        heights.insert(svg.substr(begin, svg.find('"', begin) - begin));
    }
    EXPECT_EQ(heights.size(), 12U);
}

TEST(OrdinationPlot, OfOnePlaceIsDrawnToo) {
    const OrdinationPlot plot{
        .title = "t", .x_label = "x", .y_label = "y", .points = {{.name = "1 row", .x = {0}, .y = {0}}}};
    EXPECT_THAT(draw_ordination(plot), Not(HasSubstr("nan")));
    EXPECT_THAT(draw_ordination({.title = "t", .x_label = "x", .points = {{.name = "1 row", .x = {0}}}}),
                Not(HasSubstr("nan")));
    EXPECT_THAT(draw_scree({.title = "t", .value_label = "v", .values = {0, 0}, .parts = {0, 0}}),
                Not(HasSubstr("nan")));
    EXPECT_THROW((void)draw_scree({}), Error);
}

}  // namespace
}  // namespace tesela::mds::mds_decomposition_test
