#pragma once

#include "tesela/geo/covariance.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// Columns of coordinates as they stand in a file.
struct CoordinateColumns {
    const std::vector<std::vector<double>>& columns;
    const std::vector<std::string>& names;
    const std::vector<Index>& lines;  ///< of the file, per point
    std::string file;
};

/// For metrics on the Earth: throws Error that names line and column of the first latitude outside [-90, 90] or
/// longitude outside [-180, 360], or the columns if they are called latitude and longitude, in this order, and says
/// which order is right. Nothing to check for other metrics and numbers of columns.
void require_degrees(Metric metric, const CoordinateColumns& coordinates);

/// One line for a person if columns are called longitude and latitude, and hold degrees, but distances are Euclidean;
/// otherwise empty.
[[nodiscard]] std::string explain_euclidean_degrees(Metric metric, const CoordinateColumns& coordinates);

}  // namespace tesela::geo
