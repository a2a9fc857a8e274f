#include "tesela/geo/prediction_map.hpp"

#include "tesela/base/error.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tesela::geo::prediction_map_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PredictionMap, ShowsMeanDeviationAndObservationsWithTheirNames) {
    const auto points = tesela::testing::meuse_grid(50);
    const Predictions flat{.mean = std::vector<double>(50, 6.0), .variance = std::vector<double>(50, 0.25)};
    const std::string svg = draw_predictions(tesela::testing::meuse(), points, flat);
    EXPECT_THAT(svg, HasSubstr("log_zinc by kriging"));
    EXPECT_THAT(svg, HasSubstr("Standard deviation"));
    EXPECT_THAT(svg, HasSubstr("155 observations"));
    EXPECT_THROW((void)draw_predictions(tesela::testing::meuse(), {points[0]}, flat), Error);
}

TEST(PredictionMap, SaysWhetherNoiseIsInTheDeviation) {
    const auto points = tesela::testing::meuse_grid(50);
    const Predictions flat{.mean = std::vector<double>(50, 6.0), .variance = std::vector<double>(50, 0.25)};
    const auto drawn = [&](PredictionOf of) {
        return draw_predictions(tesela::testing::meuse(), points, flat, {.of = of});
    };
    EXPECT_THAT(drawn(PredictionOf::observation), HasSubstr("Standard deviation, noise included"));
    EXPECT_THAT(drawn(PredictionOf::signal), HasSubstr("Standard deviation, without noise"));
}

TEST(PredictionMap, LooksAsItIsAsked) {
    const auto points = tesela::testing::meuse_grid(50);
    const Predictions flat{.mean = std::vector<double>(50, 6.0), .variance = std::vector<double>(50, 0.25)};
    const std::string svg = draw_predictions(tesela::testing::meuse(), points, flat,
                                             {.title = "Zinc <in> soil",
                                              .mean_colours = ColourMap::blue_red,
                                              .mean_range = ValueRange{100, 102},
                                              .observations = MapObservationsShown::hide});
    EXPECT_THAT(svg, HasSubstr("Zinc &lt;in&gt; soil"));
    EXPECT_THAT(svg, Not(HasSubstr("by kriging")));
    EXPECT_THAT(svg, Not(HasSubstr("observations")));
    EXPECT_THAT(svg, HasSubstr(">101"));  // of the colour bar
    // All values are below the limits, so all cells have the first colour of 128.
    EXPECT_THAT(svg, HasSubstr(hex(colour_at(ColourMap::blue_red, 0.5 / 128))));
}

/// Points on both sides of the date line, a degree apart.
struct AcrossDateLine {
    Observations observations{.coordinates = {{175.5, -176.5}, {-17.5, -16.5}}, .values = {1, 2}};
    std::vector<std::vector<double>> grid{{}, {}};
    Predictions flat;

    AcrossDateLine() {
        for (int i = 0; i < 10; ++i)
            for (int j = 0; j < 4; ++j) {
                grid[0].push_back(i < 5 ? 175 + i : -185 + i);  // 175 … 179, -180 … -176
                grid[1].push_back(-18 + j);
                flat.mean.push_back(i);
                flat.variance.push_back(1);
            }
    }
};

TEST(PredictionMap, AGridAcross180DegreesIsOnePiece) {
    const AcrossDateLine data;
    const std::string joined = draw_predictions(data.observations, data.grid, data.flat, {.metric = Metric::chordal});
    // One path of all cells is drawn below the others: four rows of ten.
    EXPECT_THAT(joined, HasSubstr("d=\"m0 0h10m-10 1h10m-10 1h10m-10 1h10\""));
    EXPECT_THAT(joined, HasSubstr(">180<"));
    EXPECT_THAT(joined, HasSubstr(">\u2212178<"));
    EXPECT_THAT(joined, Not(HasSubstr(">182<")));
    // In a plane the two parts are far apart.
    EXPECT_THAT(draw_predictions(data.observations, data.grid, data.flat), Not(HasSubstr("m0 0h10m")));
}

TEST(PredictionMap, OfTheWholeEarthStaysAsItIs) {
    Predictions flat;
    std::vector<std::vector<double>> grid{{}, {}};
    for (int i = -6; i <= 6; ++i)
        for (int j = -2; j <= 2; ++j) {
            grid[0].push_back(30 * i);
            grid[1].push_back(30 * j);
            flat.mean.push_back(i);
            flat.variance.push_back(1);
        }
    const Observations two{.coordinates = {{-170, 170}, {0, 10}}, .values = {1, 2}};
    EXPECT_THAT(draw_predictions(two, grid, flat, {.metric = Metric::great_circle}), HasSubstr("d=\"m0 0h13m"));
}

}  // namespace
}  // namespace tesela::geo::prediction_map_test
