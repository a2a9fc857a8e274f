#include "tesela/geo/geometry.hpp"

#include "tesela/base/error.hpp"
#include "unit/geo/processes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace tesela::geo::geometry_test {
namespace {

PointSet any_points(Index n) {
    const Metric metric = *rc::gen::element(Metric::euclidean, Metric::chordal, Metric::great_circle);
    return {metric, tesela::testing::any_coordinates(metric, *rc::gen::inRange<Index>(1, 4), n)};
}

RC_GTEST_PROP(ClosestPair, IsTheLeastOfAllDistances, ()) {
    const PointSet points = any_points(*rc::gen::inRange<Index>(2, 60));
    double least = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < points.size(); ++i)
        for (Index j = 0; j < i; ++j) least = std::min(least, distance(points, i, points, j));
    const PointPair pair = closest_pair(points);
    RC_ASSERT(pair.first < pair.second);
    RC_ASSERT(pair.distance == least);
    RC_ASSERT(distance(points, pair.first, points, pair.second) == least);
}

RC_GTEST_PROP(Duplicates, AreThosePointsThatAnEarlierOneEquals, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 40);
    const auto x = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(n), rc::gen::inRange(0, 8));
    const auto y = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(n), rc::gen::inRange(0, 4));
    const PointSet points(Metric::euclidean, {{x.begin(), x.end()}, {y.begin(), y.end()}});
    Index repeated = 0;
    Index earliest = n;
    std::set<std::pair<int, int>> seen;
    std::set<std::pair<int, int>> places;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!seen.emplace(x[i], y[i]).second) {
            places.emplace(x[i], y[i]);
            ++repeated;
            earliest = std::min(earliest, static_cast<Index>(i));
        }
    const Duplicates found = find_duplicates(points);
    RC_ASSERT(found.points == repeated);
    RC_ASSERT(found.places == static_cast<Index>(places.size()));
    if (repeated > 0) {
        RC_ASSERT(found.example.second == earliest);
        RC_ASSERT(found.example.first < earliest);
        RC_ASSERT(distance(points, found.example.first, points, earliest) == 0);
    }
}

TEST(TypicalSpacing, IsTheStepOfAGridAndPassesOverDuplicates) {
    std::vector<double> x;
    std::vector<double> y;
    for (int copy = 0; copy < 2; ++copy)
        for (int i = 0; i < 15; ++i)
            for (int j = 0; j < 15; ++j) {
                x.push_back(3.0 * i);
                y.push_back(3.0 * j);
            }
    EXPECT_EQ(typical_spacing(PointSet(Metric::euclidean, {x, y})), 3);
    EXPECT_THROW((void)typical_spacing(PointSet(Metric::euclidean, {{1, 1, 1}})), Error);
}

}  // namespace
}  // namespace tesela::geo::geometry_test
