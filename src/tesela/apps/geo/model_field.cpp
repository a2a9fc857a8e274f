#include "tesela/apps/geo/model_field.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>

namespace tesela::geo {

Field field_of(const FittedModel& fitted) {
    return {.family = fitted.model.family,
            .theta = fitted.result.theta,
            .metric = fitted.model.metric,
            .mean = 0,
            .jitter = fitted.model.jitter};
}

std::vector<double> mean_at(const FittedModel& fitted, const std::vector<std::vector<double>>& coordinates) {
    std::vector<double> mean(coordinates.front().size(), fitted.model.center);
    const std::vector<std::string>& names = fitted.observations.coordinate_names;
    const TrendEstimate& trend = fitted.result.trend;
    for (std::size_t k = 0; k < trend.names.size(); ++k) {
        const double coefficient = trend.coefficients[k];
        if (trend.names[k] == "intercept") {
            for (double& value : mean) value += coefficient;
            continue;
        }
        const auto named = std::find(names.begin(), names.end(), trend.names[k]);
        if (named == names.end())
            throw Error("the model's trend has a term in {}, which is no coordinate: its mean at new places is unknown",
                        trend.names[k]);
        const auto& x = coordinates[static_cast<std::size_t>(named - names.begin())];
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += coefficient * x[i];
    }
    return mean;
}

}  // namespace tesela::geo
