#pragma once

#include "tesela/geo/variogram.hpp"

#include <optional>
#include <string>

namespace tesela::geo {

/// A sample variogram to be drawn, with the curve of a model if there is one.
struct VariogramPlot {
    std::string title;    ///< "Variogram of log_zinc"
    std::string x_label;  ///< with the unit: "distance (km)"
    std::string y_label;
    Variogram sample;
    std::optional<Covariance> model{};
    std::string model_label{};  ///< "matern (meuse.json)", for the legend
};

/// An SVG picture: a dot per interval, of an area proportional to its pairs and in the colour of its direction, and the
/// model's curve from 0 to the farthest dot.
[[nodiscard]] std::string draw_variogram(const VariogramPlot& plot);

}  // namespace tesela::geo
