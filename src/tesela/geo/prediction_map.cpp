#include "tesela/geo/prediction_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace tesela::geo {
namespace {

using Column = std::vector<double>;

/// Degrees of longitude shrink with latitude.
double aspect_of(Metric metric, const Column& y) {
    if (metric == Metric::euclidean || y.empty()) return 1;
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    return 1 / std::max(0.1, std::cos((*low + *high) / 2 * std::numbers::pi / 180));
}

/// From `first` eastwards, less than once around the Earth.
double eastwards(double first, double longitude) {
    const double way = std::fmod(longitude - first, 360);
    return way < 0 ? way + 360 : way;
}

/// Where to begin so that no longitude lies far behind the last one: after the widest gap between them.
double after_widest_gap(Column longitudes) {
    for (double& x : longitudes) x = eastwards(-180, x) - 180;
    std::sort(longitudes.begin(), longitudes.end());
    double first = longitudes.front();
    double widest = longitudes.front() + 360 - longitudes.back();
    for (std::size_t k = 1; k < longitudes.size(); ++k)
        if (const double gap = longitudes[k] - longitudes[k - 1]; gap > widest) {
            widest = gap;
            first = longitudes[k];
        }
    return first;
}

double spread_of(const Column& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return *high - *low;
}

/// Writes the longitudes of a map so that they go on across ±180°, if that makes it noticeably narrower: a map of the
/// whole Earth stays as it is.
void join_across_180(MapRequest& request) {
    Column all = request.x;
    all.insert(all.end(), request.observations.x.begin(), request.observations.x.end());
    const double first = after_widest_gap(all);
    Column joined = all;
    for (double& x : joined) x = first + eastwards(first, x);
    if (spread_of(joined) > 0.9 * spread_of(all)) return;
    for (Column* column : {&request.x, &request.observations.x})
        for (double& x : *column) x = first + eastwards(first, x);
    request.x_axis = MapAxis::longitude;
}

Column roots(const Column& variances) {
    Column result(variances.size());
    std::transform(variances.begin(), variances.end(), result.begin(), [](double v) { return std::sqrt(v); });
    return result;
}

const char* deviation_title(PredictionOf of) {
    return of == PredictionOf::observation ? "Standard deviation, noise included" : "Standard deviation, without noise";
}

/// The observations with their values on the first panel and as dots on the others.
void add_observations(MapRequest& request, const Observations& observations) {
    request.observations = {.x = observations.coordinates[0],
                            .y = observations.coordinates[1],
                            .values = observations.values,
                            .label = fmt::format("{} observations", observations.size())};
    for (MapPanel& panel : request.panels) panel.marks = MapMarks::positions;
    request.panels.front().marks = MapMarks::values;
}

}  // namespace

void require_map_coordinates(std::size_t dimensions) {
    if (dimensions != 2) throw Error("a map needs two coordinates; these points have {}", dimensions);
}

void suit_metric(MapRequest& request, Metric metric) {
    request.aspect = aspect_of(metric, request.y);
    if (metric != Metric::euclidean) join_across_180(request);
}

std::string draw_predictions(const Observations& observations, const std::vector<Column>& coordinates,
                             const Predictions& predictions, const PredictionMapOptions& options) {
    require_map_coordinates(coordinates.size());
    const std::string& value = observations.value_name;
    const std::size_t count = coordinates[0].size();
    MapRequest request{.title = options.title.value_or(value + " by kriging"),
                       .x_label = observations.coordinate_name(0),
                       .y_label = observations.coordinate_name(1),
                       .x = coordinates[0],
                       .y = coordinates[1],
                       .points_label = fmt::format("{} prediction{}", count, plural(count)),
                       .panels = {{.title = "Mean",
                                   .bar_label = value,
                                   .values = predictions.mean,
                                   .colours = options.mean_colours,
                                   .range = options.mean_range},
                                  {.title = deviation_title(options.of),
                                   .bar_label = value,
                                   .values = roots(predictions.variance),
                                   .colours = options.deviation_colours,
                                   .range = options.deviation_range}},
                       .observations = {}};
    if (options.observations == MapObservationsShown::show) add_observations(request, observations);
    suit_metric(request, options.metric);
    return draw_map(request);
}

}  // namespace tesela::geo
