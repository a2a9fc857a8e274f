#include "tesela/geo/grid.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

namespace tesela::geo::grid_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Ring square{{0, 4, 4, 0}, {0, 0, 4, 4}};
const Ring hole{{1, 3, 3, 1}, {1, 1, 3, 3}};

template <class Work>
std::string refusal(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Grid, NodesAreCentresOfCellsTheFirstCoordinateFastest) {
    const auto nodes = grid_nodes({.cells = {3, 2}, .box = {.low = {0, 10}, .high = {6, 14}}});
    EXPECT_THAT(nodes[0], ElementsAre(1, 3, 5, 1, 3, 5));
    EXPECT_THAT(nodes[1], ElementsAre(11, 11, 11, 13, 13, 13));
    EXPECT_THAT(grid_nodes({.cells = {4}, .box = {.low = {0}, .high = {1}}})[0],
                ElementsAre(0.125, 0.375, 0.625, 0.875));
    const auto solid = grid_nodes({.cells = {20, 20, 5}, .box = {.low = {0, 0, -1}, .high = {1, 1, 1}}});
    ASSERT_EQ(solid.size(), 3U);
    EXPECT_EQ(solid[2].size(), 2000U);
    EXPECT_DOUBLE_EQ(solid[2].back(), 0.8);
    EXPECT_DOUBLE_EQ(solid[0][1], 0.075);
}

TEST(Grid, KeepsCentresInsideAnOddNumberOfRings) {
    const auto nodes = grid_nodes({.cells = {4, 4}, .box = {.low = {0, 0}, .high = {4, 4}}, .polygon = {square, hole}});
    EXPECT_EQ(nodes[0].size(), 12U);  // the four in the middle are in the hole
    for (std::size_t i = 0; i < nodes[0].size(); ++i)
        EXPECT_TRUE(nodes[0][i] < 1 || nodes[0][i] > 3 || nodes[1][i] < 1 || nodes[1][i] > 3);
}

/// The winding number by angles is 0 outside of a simple ring and ±1 inside.
bool inside_by_angles(const Ring& ring, double x, double y) {
    double turn = 0;
    for (std::size_t i = 0; i < ring.x.size(); ++i) {
        const std::size_t j = (i + 1) % ring.x.size();
        const double ax = ring.x[i] - x, ay = ring.y[i] - y, bx = ring.x[j] - x, by = ring.y[j] - y;
        turn += std::atan2(ax * by - ay * bx, ax * bx + ay * by);
    }
    return std::abs(turn) > std::numbers::pi;
}

RC_GTEST_PROP(Grid, EvenAndOddAgreesWithWindingAroundStars, ()) {
    // A ring whose corners go once around the origin crosses itself nowhere.
    Ring star;
    const int corners = *rc::gen::inRange(3, 30);
    for (int k = 0; k < corners; ++k) {
        const double angle = 2 * std::numbers::pi * k / corners;
        const double radius = 0.2 + *rc::gen::inRange(0, 1000) / 1000.0;
        star.x.push_back(radius * std::cos(angle));
        star.y.push_back(radius * std::sin(angle));
    }
    Ring closed = star;
    closed.x.push_back(star.x.front());
    closed.y.push_back(star.y.front());
    for (int k = 0; k < 50; ++k) {
        const double x = *rc::gen::inRange(-1300, 1300) / 1000.0 + 1e-5;
        const double y = *rc::gen::inRange(-1300, 1300) / 1000.0 + 2e-5;
        RC_ASSERT(contains({star}, x, y) == inside_by_angles(star, x, y));
        RC_ASSERT(contains({closed}, x, y) == contains({star}, x, y));
    }
}

TEST(Grid, RefusesWhatMakesNoSense) {
    const Box unit{.low = {0, 0}, .high = {1, 1}};
    EXPECT_THAT(refusal([&] { (void)grid_nodes({.cells = {4}, .box = unit}); }), HasSubstr("has 1 coordinate, where"));
    EXPECT_THAT(refusal([&] { (void)grid_nodes({.cells = {100000, 100000}, .box = unit}); }), HasSubstr("1e+10"));
    EXPECT_THAT(refusal([&] {
                    (void)grid_nodes({.cells = {2, 2}, .box = {.low = {0, 3}, .high = {1, 3}}});
                }),
                HasSubstr("no length along coordinate 2"));
    EXPECT_THAT(refusal([&] {
                    (void)grid_nodes({.cells = {2, 2}, .box = {.low = {0, 3}, .high = {1, 2}}});
                }),
                HasSubstr("first must be the smaller"));
    const Polygon away{{{10, 11, 11}, {10, 10, 11}}};
    EXPECT_THAT(refusal([&] {
                    (void)grid_nodes({.cells = {2, 2}, .box = unit, .polygon = away});
                }),
                HasSubstr("no cell"));
    EXPECT_EQ(grid_nodes({.cells = {2, 1}, .box = {.low = {0, 3}, .high = {1, 3}}})[1], (std::vector<double>{3, 3}));
}

TEST(Grid, CellsAreNumbersWithAnXBetween) {
    EXPECT_THAT(parse_cells("100"), ElementsAre(100));
    EXPECT_THAT(parse_cells("20x20x5"), ElementsAre(20, 20, 5));
    for (const char* text : {"", "x", "10x", "x10", "0x10", "-1x10", "10X10", "10,10", "1e3x2", "99999999999999999999"})
        EXPECT_THAT(refusal([&] { (void)parse_cells(text); }), HasSubstr("as 100x100")) << text;
}

class PolygonFile : public ::testing::Test {
protected:
    Polygon read(const std::string& text) {
        put(directory_.path("border.csv"), text);
        return read_polygon(directory_.path("border.csv"), "lon", "lat");
    }
    TemporaryDirectory directory_;
};

TEST_F(PolygonFile, ABlankLineARowOfNaAndTheColumnRingSeparateRings) {
    for (const char* text :
         {"lon,lat\n0,0\n4,0\n4,4\n\n1,1\n2,1\n2,2\n", "lon,lat\n0,0\n4,0\n4,4\nNA,NA\n1,1\n2,1\n2,2\n",
          "ring,lat,lon\na,0,0\na,0,4\na,4,4\nb,1,1\nb,1,2\nb,2,2\n"}) {
        const Polygon polygon = read(text);
        ASSERT_EQ(polygon.size(), 2U) << text;
        EXPECT_THAT(polygon[0].x, ElementsAre(0, 4, 4));
        EXPECT_THAT(polygon[0].y, ElementsAre(0, 0, 4));
        EXPECT_THAT(polygon[1].x, ElementsAre(1, 2, 2));
    }
    const Box box = bounding_box(read("lon,lat\n0,0\n4,0\n4,5\n"));
    EXPECT_THAT(box.high, ElementsAre(4, 5));
}

TEST_F(PolygonFile, ARingNeedsThreeCorners) {
    EXPECT_THAT(refusal([&] { (void)read("lon,lat\n0,0\n4,0\n4,4\n\n1,1\n"); }),
                HasSubstr("ring 2 of the polygon has 1 "));
}

TEST(Box, OfLongitudesTakesTheShortWayRound) {
    const std::vector<double> lat{-10, 5, 0};
    const Box across = bounding_box(Metric::chordal, {{179, -178, 176}, lat});
    EXPECT_EQ(across.low[0], 176);
    EXPECT_EQ(across.high[0], 182);
    EXPECT_EQ(across.low[1], -10);
    const Box as_written = bounding_box(Metric::great_circle, {{200, 250, 300}, lat});
    EXPECT_EQ(as_written.low[0], 200);
    EXPECT_EQ(as_written.high[0], 300);
    const Box plane = bounding_box(Metric::euclidean, {{179, -178, 176}, lat});
    EXPECT_EQ(plane.low[0], -178);
    EXPECT_EQ(plane.high[0], 179);
}

TEST(Box, DiagonalsAreDistancesOfCorners) {
    EXPECT_DOUBLE_EQ(diagonal(Metric::euclidean, {.low = {1, 2}, .high = {4, 6}}), 5);
    const double degree = std::numbers::pi / 180 * earth_radius_km;
    EXPECT_THAT(diagonal(Metric::great_circle, {.low = {170, 0}, .high = {190, 0}}), DoubleNear(20 * degree, 1e-6));
    EXPECT_THAT(diagonal(Metric::great_circle, {.low = {-180, 0}, .high = {180, 0}}), DoubleNear(180 * degree, 1e-6));
}

}  // namespace
}  // namespace tesela::geo::grid_test
