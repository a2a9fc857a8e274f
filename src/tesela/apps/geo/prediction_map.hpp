#pragma once

#include "tesela/apps/geo/model.hpp"
#include "tesela/apps/geo/predict.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// An SVG picture of predictions in the plane: mean and standard deviation side by side, with the observations on the
/// mean. Throws Error unless there are two coordinates.
[[nodiscard]] std::string draw_predictions(const Observations& observations, Metric metric,
                                           const std::vector<std::vector<double>>& coordinates,
                                           const Predictions& predictions);

}  // namespace tesela::geo
