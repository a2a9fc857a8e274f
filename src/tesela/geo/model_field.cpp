#include "tesela/geo/model_field.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tesela::geo {

Field field_of(const FittedModel& fitted) {
    return {.family = fitted.model.family,
            .theta = fitted.result.theta,
            .metric = fitted.model.metric,
            .mean = 0,
            .jitter = fitted.model.jitter};
}

std::vector<double> mean_at(const FittedModel& fitted, const Sites& sites) {
    const TrendDesign design(fitted.model.trend, fitted.observations);
    const TrendEstimate& trend = fitted.result.trend;
    if (trend.names != design.names())
        throw Error("the coefficients of the model's trend are {}; they should be {}", fmt::join(trend.names, ", "),
                    fmt::join(design.names(), ", "));
    const SmallMatrix X = design.matrix(sites);
    std::vector<double> mean(static_cast<std::size_t>(sites.size()), fitted.model.center);
    for (Index k = 0; k < X.cols; ++k)
        for (Index i = 0; i < X.rows; ++i)
            mean[static_cast<std::size_t>(i)] += trend.coefficients[static_cast<std::size_t>(k)] * X(i, k);
    return mean;
}

}  // namespace tesela::geo
