#pragma once

#include "tesela/base/index.hpp"
#include "tesela/pictures/frame.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// A regular grid: cell (column, row) is centred at (x0 + column dx, y0 + row dy).
struct RegularGrid {
    double x0 = 0;
    double y0 = 0;
    double dx = 1;
    double dy = 1;
    Index columns = 0;
    Index rows = 0;
};

/// The grid that points lie on, holes allowed, or nothing if they are scattered: scattered points may well have whole
/// coordinates, so at least half of them must have a neighbour in the next cell, and one cell in a hundred a point. x
/// and y have the same length.
[[nodiscard]] std::optional<RegularGrid> find_grid(std::span<const double> x, std::span<const double> y);

/// How the observations appear on a panel: not, as small dots, or filled with the panel's colour for their value.
enum class MapMarks { none, positions, values };

/// One map: a value for every point of the request; NaN and infinite values are left blank.
struct MapPanel {
    std::string title;      ///< "Kriging mean"
    std::string bar_label;  ///< "log zinc (mg/kg)"
    std::vector<double> values;
    ColourMap colours = ColourMap::viridis;
    std::optional<ValueRange> range;  ///< of the colours; that of what is drawn if absent
    MapMarks marks = MapMarks::none;
};

/// How positions along x are written: as they are, or 190 as −170, where longitudes go on across ±180°.
enum class MapAxis { plain, longitude };

struct MapObservations {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> values;  ///< needed by MapMarks::values only
    std::string label;           ///< "155 samples", for the legend; no legend if empty
};

struct MapRequest {
    std::string title;
    std::string x_label;  ///< with the unit: "Easting (m)"
    std::string y_label;
    std::vector<double> x;  ///< points that the panels have values for
    std::vector<double> y;
    std::string points_label{};    ///< "40 predictions", for the legend where they do not lie on a grid
    std::vector<MapPanel> panels;  ///< from left to right
    MapObservations observations;
    double aspect = 1;  ///< drawn length of a unit of y over that of x: 1/cos(latitude) for degrees
    MapAxis x_axis = MapAxis::plain;
};

/// An SVG picture of the panels side by side with axes and colour bars: cells where the points lie on a grid, squares
/// otherwise. Observations are round, and the smaller the more there are. Values outside a panel's range have the
/// colours of its ends. Throws Error if sizes do not fit, coordinates are not finite, or a panel has no finite value.
[[nodiscard]] std::string draw_map(const MapRequest& request);

}  // namespace tesela
