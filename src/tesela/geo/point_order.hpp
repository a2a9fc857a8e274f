#pragma once

#include "tesela/geo/covariance.hpp"

#include <cstddef>
#include <vector>

namespace tesela::geo {

/// The points in the order in which a Hilbert curve through a cube around them comes by, so that points with near
/// numbers are near each other: result[k] is the number that the k-th point on the curve has in the set. In one
/// dimension from the lowest to the highest; a coordinate that all points share does not count as a dimension. Points
/// in one cell of the curve, whose sides are 2⁻³¹ of the cube's in two dimensions and 2⁻²¹ in three, keep the order
/// that they have. A function of the coordinates alone, the same on every machine.
[[nodiscard]] std::vector<Index> hilbert_order(const PointSet& points);

/// result[k] = values[order[k]]: values that stand in the caller's order, in that of the curve. Every number of the
/// order is that of a value.
template <class T>
[[nodiscard]] std::vector<T> in_order(const std::vector<T>& values, const std::vector<Index>& order) {
    std::vector<T> result;
    result.reserve(order.size());
    for (const Index number : order) result.push_back(values[static_cast<std::size_t>(number)]);
    return result;
}

}  // namespace tesela::geo
