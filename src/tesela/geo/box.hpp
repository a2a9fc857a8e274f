#pragma once

#include "tesela/geo/covariance.hpp"

#include <vector>

namespace tesela::geo {

/// From the lowest to the highest value of each coordinate.
struct Box {
    std::vector<double> low;
    std::vector<double> high;
};

/// The smallest box around points given by columns of coordinates. On the Earth a range of longitudes may go across
/// 180°, if that makes it shorter: it then ends above 180, as from 170 to 190.
[[nodiscard]] Box bounding_box(Metric metric, const std::vector<std::vector<double>>& coordinates);

/// The distance of two opposite corners; on the Earth of corners that are at most 180° of longitude apart.
[[nodiscard]] double diagonal(Metric metric, const Box& box);

}  // namespace tesela::geo
