#include "tesela/apps/geo/prediction_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/report/map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tesela::geo {
namespace {

/// Degrees of longitude shrink with latitude.
double aspect_of(Metric metric, const std::vector<double>& y) {
    if (metric == Metric::euclidean || y.empty()) return 1;
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    return 1 / std::max(0.1, std::cos((*low + *high) / 2 * std::numbers::pi / 180));
}

std::vector<double> roots(const std::vector<double>& variances) {
    std::vector<double> result(variances.size());
    std::transform(variances.begin(), variances.end(), result.begin(), [](double v) { return std::sqrt(v); });
    return result;
}

}  // namespace

std::string draw_predictions(const Observations& observations, Metric metric,
                             const std::vector<std::vector<double>>& coordinates, const Predictions& predictions) {
    if (coordinates.size() != 2) throw Error("a map needs two coordinates; these points have {}", coordinates.size());
    const std::string& value = observations.value_name;
    return draw_map({.title = fmt::format("{} by kriging", value),
                     .x_label = observations.coordinate_name(0),
                     .y_label = observations.coordinate_name(1),
                     .x = coordinates[0],
                     .y = coordinates[1],
                     .panels = {{.title = "Mean",
                                 .bar_label = value,
                                 .values = predictions.mean,
                                 .colours = ColourMap::viridis,
                                 .range = std::nullopt,
                                 .marks = MapMarks::values},
                                {.title = "Standard deviation",
                                 .bar_label = value,
                                 .values = roots(predictions.variance),
                                 .colours = ColourMap::magma,
                                 .range = std::nullopt,
                                 .marks = MapMarks::positions}},
                     .observations = {.x = observations.coordinates[0],
                                      .y = observations.coordinates[1],
                                      .values = observations.values,
                                      .label = fmt::format("{} observations", observations.size())},
                     .aspect = aspect_of(metric, coordinates[1])});
}

}  // namespace tesela::geo
