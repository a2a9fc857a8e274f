#include "tesela/geo/point_order.hpp"

#include "support/seed.hpp"
#include "tesela/base/random.hpp"
#include "unit/geo/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace tesela::geo::point_order_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Columns = std::vector<std::vector<double>>;

std::vector<Index> counted(Index n) {
    std::vector<Index> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), Index{0});
    return numbers;
}

/// 0, …, n−1 in an order of no meaning.
std::vector<Index> any_permutation(Index n, const Random& random) {
    std::vector<Index> numbers = counted(n);
    std::ranges::sort(numbers, {}, [&](Index i) { return random.bits({static_cast<std::uint64_t>(i), 99}); });
    return numbers;
}

Columns in_order(Columns columns, const std::vector<Index>& order) {
    for (auto& column : columns) column = geo::in_order(column, order);
    return columns;
}

/// The coordinates along the curve.
Columns along_curve(const Columns& columns) { return in_order(columns, hilbert_order({Metric::euclidean, columns})); }

/// All points of whole coordinates from 0 to side − 1, in an order of no meaning.
Columns full_grid(std::size_t dimensions, Index side) {
    Columns grid(dimensions);
    const auto n = static_cast<Index>(std::pow(side, dimensions));
    for (const Index number : any_permutation(n, Random(testing::seed()))) {
        Index rest = number;
        for (auto& column : grid) {
            column.push_back(static_cast<double>(rest % side));
            rest /= side;
        }
    }
    return grid;
}

Columns uniform_points(std::size_t dimensions, Index n) {
    Columns columns(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d)
        for (Index i = 0; i < n; ++i)
            columns[d].push_back(Random(testing::seed()).uniform({static_cast<std::uint64_t>(i), d}));
    return columns;
}

double mean_step(const PointSet& points) {
    const auto order = hilbert_order(points);
    double sum = 0;
    for (std::size_t k = 1; k < order.size(); ++k) sum += distance(points, order[k - 1], points, order[k]);
    return sum / static_cast<double>(order.size() - 1);
}

RC_GTEST_PROP(HilbertOrder, HasEveryPointOnce, ()) {
    const Metric metric = *rc::gen::element(Metric::euclidean, Metric::chordal, Metric::great_circle);
    const Index n = *rc::gen::inRange<Index>(1, 100);
    const PointSet points(metric, tesela::testing::any_coordinates(metric, *rc::gen::inRange<Index>(1, 4), n));
    auto order = hilbert_order(points);
    RC_ASSERT(hilbert_order(points) == order);
    std::ranges::sort(order);
    RC_ASSERT(order == counted(n));
}

// What makes a curve Hilbert's: every step leads to a neighbour, and a cube is left, never to be seen again, when all
// of it has been visited.
class FullGrid : public ::testing::TestWithParam<std::pair<std::size_t, Index>> {};

TEST_P(FullGrid, IsVisitedFromNeighbourToNeighbour) {
    const auto [dimensions, side] = GetParam();
    const Columns visited = along_curve(full_grid(dimensions, side));
    for (std::size_t k = 1; k < visited[0].size(); ++k) {
        double cells = 0;
        for (const auto& x : visited) cells += std::abs(x[k] - x[k - 1]);
        ASSERT_EQ(cells, 1) << "at step " << k;
    }
}

TEST_P(FullGrid, IsVisitedCubeByCube) {
    const auto [dimensions, side] = GetParam();
    const Columns visited = along_curve(full_grid(dimensions, side));
    for (Index cube = 2; cube < side; cube *= 2) {
        const auto volume = static_cast<std::size_t>(std::pow(cube, dimensions));
        for (std::size_t k = 0; k < visited[0].size(); ++k)
            for (const auto& x : visited)
                ASSERT_EQ(std::floor(x[k] / static_cast<double>(cube)),
                          std::floor(x[k / volume * volume] / static_cast<double>(cube)))
                    << "at step " << k << " in cubes of side " << cube;
    }
}

INSTANTIATE_TEST_SUITE_P(Sides, FullGrid,
                         ::testing::Values(std::pair{2, 2}, std::pair{2, 4}, std::pair{2, 8}, std::pair{2, 64},
                                           std::pair{3, 2}, std::pair{3, 4}, std::pair{3, 8}, std::pair{3, 16}),
                         [](const auto& grid) {
                             return std::to_string(grid.param.first) + "d_" + std::to_string(grid.param.second);
                         });

TEST(HilbertOrder, IsTheCurveOfHilbertsFirstDrawing) {
    EXPECT_EQ(along_curve({{0, 0, 1, 1}, {0, 1, 0, 1}}), (Columns{{0, 0, 1, 1}, {0, 1, 1, 0}}));
}

TEST(HilbertOrder, DoesNotDependOnNumbersScaleAndOrigin) {
    for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
        const Columns columns = uniform_points(dimensions, 1000);
        const auto shuffle = any_permutation(1000, Random(testing::seed()));
        EXPECT_EQ(along_curve(in_order(columns, shuffle)), along_curve(columns));
        // Powers of two and whole numbers: nothing is rounded on the way.
        const Columns grid = full_grid(dimensions, 8);
        for (const double scale : {0x1p-300, 1.0, 0x1p300}) {
            Columns elsewhere = grid;
            for (auto& x : elsewhere)
                for (double& value : x) value = scale * (value - 1024);
            EXPECT_EQ(hilbert_order({Metric::euclidean, elsewhere}), hilbert_order({Metric::euclidean, grid}));
        }
    }
}

TEST(HilbertOrder, OfOneDimensionIsThatOfTheCoordinate) {
    const double next = std::nextafter(2.0, 3.0);
    EXPECT_THAT(hilbert_order({Metric::euclidean, {{next, -5, 2, 1e100, -0.0, 0}}}), ElementsAre(1, 4, 5, 2, 0, 3));
}

TEST(HilbertOrder, TellsPointsApartThatAreVeryNear) {
    const auto columns = [](std::size_t dimensions, double first, double second) {
        Columns result(dimensions, {0, 1, 0.3, 0.3});
        result[0][2] = first;
        result[0][3] = second;
        return result;
    };
    EXPECT_EQ(along_curve(columns(2, 0.3, 0.3 + 1e-9)), along_curve(columns(2, 0.3 + 1e-9, 0.3)));
    EXPECT_EQ(along_curve(columns(3, 0.3, 0.3 + 1e-6)), along_curve(columns(3, 0.3 + 1e-6, 0.3)));
}

TEST(HilbertOrder, OfPointsInOnePlaceIsThatOfTheirNumbers) {
    EXPECT_THAT(hilbert_order({Metric::euclidean, {{1, 0, 1, 0, 1}, {0, 0, 0, 0, 0}}}), ElementsAre(1, 3, 0, 2, 4));
    for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
        EXPECT_EQ(hilbert_order({Metric::euclidean, Columns(dimensions, std::vector<double>(50, -7.25))}), counted(50));
        EXPECT_THAT(hilbert_order({Metric::euclidean, Columns(dimensions, {3.5})}), ElementsAre(0));
        EXPECT_THAT(hilbert_order({Metric::euclidean, Columns(dimensions)}), IsEmpty());
    }
}

TEST(HilbertOrder, OfABoxWithoutExtentAlongSomeAxesIsThatOfTheOthers) {
    const std::vector<double> line{6, 1, 7, 0, 3, 2, 5, 4};
    const std::vector<double> flat(8, -3e99);
    for (const Columns& columns : {Columns{line, flat}, Columns{flat, line}, Columns{line, flat, flat},
                                   Columns{flat, line, flat}, Columns{flat, flat, line}}) {
        const auto along = static_cast<std::size_t>(std::ranges::find(columns, line) - columns.begin());
        EXPECT_TRUE(std::ranges::is_sorted(along_curve(columns)[along]));
    }
    const Columns plane = uniform_points(2, 500);
    const auto order = hilbert_order({Metric::euclidean, plane});
    const std::vector<double> level(500, 2.0);
    for (const Columns& columns :
         {Columns{level, plane[0], plane[1]}, Columns{plane[0], level, plane[1]}, Columns{plane[0], plane[1], level}})
        EXPECT_EQ(hilbert_order({Metric::euclidean, columns}), order);
}

// 0.98 and 1.05 times the spacing of a grid of as many points were measured, here and for a million. The shortest path
// through points in a square has 0.7124 (Beardwood, Halton and Hammersley 1959); a random order has 74 and 18 here.
TEST(HilbertOrder, StepsOfRandomPointsAreAboutAsLongAsThoseOfAGrid) {
    const Index n = 20000;
    EXPECT_LT(mean_step({Metric::euclidean, uniform_points(2, n)}) * std::sqrt(n), 1.1);
    EXPECT_LT(mean_step({Metric::euclidean, uniform_points(3, n)}) * std::cbrt(n), 1.2);
}

TEST(HilbertOrder, OnTheEarthFollowsItsSurfaceAcrossTheDateLine) {
    const Index n = 20000;
    Columns degrees = uniform_points(2, n);
    for (double& longitude : degrees[0]) longitude = 360 * longitude - 180;
    for (double& latitude : degrees[1]) latitude = std::asin(2 * latitude - 1) * 180 / std::numbers::pi;
    const double spacing = earth_radius_km * std::sqrt(4 * std::numbers::pi / static_cast<double>(n));
    EXPECT_LT(mean_step({Metric::great_circle, degrees}) / spacing, 1.5);  // 1.30
}

TEST(PointOrder, OrderedValuesStandAsTheCurveMeetsThem) {
    EXPECT_THAT(geo::in_order(std::vector<std::string>{"a", "b", "c", "d"}, {2, 0, 3, 1}),
                ElementsAre("c", "a", "d", "b"));
}

}  // namespace
}  // namespace tesela::geo::point_order_test
