#pragma once

#include "tesela/geo/box.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tesela::geo {

/// A closed line through its corners; the last is joined to the first, whether or not they are the same.
struct Ring {
    std::vector<double> x;
    std::vector<double> y;
};
/// What lies inside an odd number of rings: islands and holes need no marks.
using Polygon = std::vector<Ring>;

[[nodiscard]] bool contains(const Polygon& polygon, double x, double y);

/// The smallest box around a polygon, in its own longitudes if it has any.
[[nodiscard]] Box bounding_box(const Polygon& polygon);

/// The polygon of a CSV file: columns x and y by these names, a row per corner. A blank line, a row without coordinates
/// (NA), or another value in a column called `ring` begins a new ring. Throws Error for a ring of fewer than three
/// corners.
[[nodiscard]] Polygon read_polygon(const std::string& path, const std::string& x, const std::string& y);

/// "100x50": how many cells there are along each coordinate. Throws Error that names the option.
[[nodiscard]] std::vector<Index> parse_cells(std::string_view text, std::string_view option = "--grid");

/// A box cut into equal cells, and which of them are wanted: those whose centre is inside the polygon, if there is one
/// (of the first two coordinates).
struct GridRequest {
    std::vector<Index> cells;
    Box box;
    Polygon polygon{};
};

/// The centres of the cells as columns of coordinates, the first coordinate fastest and each from low to high. Throws
/// Error if cells and box have different dimensions, a side of several cells has no length, no centre is inside the
/// polygon, or there are more than 10⁸ cells.
[[nodiscard]] std::vector<std::vector<double>> grid_nodes(const GridRequest& request);

}  // namespace tesela::geo
