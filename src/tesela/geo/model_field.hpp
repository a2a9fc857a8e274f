#pragma once

#include "tesela/geo/model_file.hpp"
#include "tesela/geo/sample.hpp"

#include <vector>

namespace tesela::geo {

/// The field that a model describes, less its mean.
[[nodiscard]] Field field_of(const FittedModel& fitted);

/// The mean of the model at places: its trend, by the coefficients that it has, or the mean that was subtracted. Throws
/// Error where the places lack a column that the trend uses.
[[nodiscard]] std::vector<double> mean_at(const FittedModel& fitted, const Sites& sites);

}  // namespace tesela::geo
