#pragma once

#include "tesela/geo/covariance.hpp"

namespace tesela::geo {

/// Two points of a set and their distance.
struct PointPair {
    Index first = 0;
    Index second = 0;
    double distance = 0;
};

/// The two points that are closest together; at least two points. Sweeps along the longest side, so usually n·log n.
[[nodiscard]] PointPair closest_pair(const PointSet& points);

/// Points that lie on others.
struct Duplicates {
    Index points = 0;     ///< observations at a place where there is an earlier one
    Index places = 0;     ///< with more than one observation
    PointPair example{};  ///< the earliest of them, with the one it lies on
};
[[nodiscard]] Duplicates find_duplicates(const PointSet& points);

/// The median distance of a point to its nearest other point that is not at the same place, from a sample of points.
/// Throws Error if all are at one place.
[[nodiscard]] double typical_spacing(const PointSet& points);

}  // namespace tesela::geo
