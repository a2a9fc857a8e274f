#include "tesela/geo/geometry.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/internal/at.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tesela::geo {
namespace {

Index longest_dimension(const PointSet& points) {
    Index longest = 0;
    double length = -1;
    for (Index d = 0; d < points.dimensions(); ++d) {
        const auto x = points.coordinate(d);
        const auto [low, high] = std::minmax_element(x.begin(), x.end());
        if (*high - *low > length) {
            length = *high - *low;
            longest = d;
        }
    }
    return longest;
}

template <class Less>
std::vector<Index> sorted(Index n, Less less) {
    std::vector<Index> order(at(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), less);
    return order;
}

PointPair ordered(PointPair pair) {
    if (pair.first > pair.second) std::swap(pair.first, pair.second);
    return pair;
}

bool same_place(const PointSet& points, Index i, Index j) {
    for (Index d = 0; d < points.dimensions(); ++d)
        if (points.coordinate(d)[at(i)] != points.coordinate(d)[at(j)]) return false;
    return true;
}

bool before(const PointSet& points, Index i, Index j) {
    for (Index d = 0; d < points.dimensions(); ++d) {
        const auto x = points.coordinate(d);
        if (x[at(i)] != x[at(j)]) return x[at(i)] < x[at(j)];
    }
    return false;
}

}  // namespace

PointPair closest_pair(const PointSet& points) {
    const auto x = points.coordinate(longest_dimension(points));
    const auto order = sorted(points.size(), [&](Index i, Index j) { return x[at(i)] < x[at(j)]; });
    PointPair best{0, 1, std::numeric_limits<double>::infinity()};
    for (std::size_t a = 0; a < order.size(); ++a) {
        for (std::size_t b = a + 1; b < order.size(); ++b) {
            // No distance is smaller than the difference along one axis, also along the surface of a sphere.
            if (x[at(order[b])] - x[at(order[a])] >= best.distance) break;
            const double d = distance(points, order[a], points, order[b]);
            if (d < best.distance) best = {order[a], order[b], d};
        }
    }
    return ordered(best);
}

Duplicates find_duplicates(const PointSet& points) {
    const auto order = sorted(points.size(), [&](Index i, Index j) { return before(points, i, j); });
    Duplicates result;
    bool in_place = false;
    for (std::size_t k = 1; k < order.size(); ++k) {
        const bool same = same_place(points, order[k - 1], order[k]);
        if (same) {
            if (result.points == 0 || order[k] < result.example.second) result.example = {order[k - 1], order[k], 0};
            ++result.points;
            if (!in_place) ++result.places;
        }
        in_place = same;
    }
    return result;
}

double typical_spacing(const PointSet& points) {
    constexpr Index sample = 200;
    const Index stride = std::max<Index>(1, points.size() / sample);
    std::vector<double> nearest;
    for (Index i = 0; i < points.size(); i += stride) {
        double least = std::numeric_limits<double>::infinity();
        for (Index j = 0; j < points.size(); ++j) {
            const double d = distance(points, i, points, j);
            if (d > 0) least = std::min(least, d);
        }
        if (std::isfinite(least)) nearest.push_back(least);
    }
    if (nearest.empty()) throw Error("all points are at one place; a covariance needs distances");
    const auto middle = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 2);
    std::nth_element(nearest.begin(), middle, nearest.end());
    return *middle;
}

}  // namespace tesela::geo
