#pragma once

#include "tesela/apps/geo/model_file.hpp"
#include "tesela/apps/geo/sample.hpp"

#include <vector>

namespace tesela::geo {

/// The field that a model describes, less its mean.
[[nodiscard]] Field field_of(const FittedModel& fitted);

/// The mean of the model at points given by columns of coordinates: its trend, or the mean that was subtracted. Throws
/// Error if the trend has a term that is neither the intercept nor a coordinate.
[[nodiscard]] std::vector<double> mean_at(const FittedModel& fitted,
                                          const std::vector<std::vector<double>>& coordinates);

}  // namespace tesela::geo
