#pragma once

#include "tesela/geo/scores.hpp"

#include <string>

namespace tesela::geo {

/// An SVG picture with two panels: what was observed against what was predicted, with the line on which both are equal,
/// and the sorted standardised errors against normal quantiles, with the line on which they lie if the model is right.
[[nodiscard]] std::string draw_residuals(const Residuals& residuals, const std::string& title,
                                         const std::string& value_name);

/// An SVG map of the errors and of the standardised errors at the places of the observations, white where they are 0.
/// Throws Error unless there are two coordinates.
[[nodiscard]] std::string draw_residual_map(const Observations& observations, Metric metric, const Residuals& residuals,
                                            const std::string& title);

}  // namespace tesela::geo
