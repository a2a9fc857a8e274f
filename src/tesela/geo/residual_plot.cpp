#include "tesela/geo/residual_plot.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/geo/prediction_map.hpp"
#include "tesela/pictures/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

/// One square panel of dots with a line on which x and y are equal.
struct Scatter {
    std::string title;
    std::string x_label;
    std::string y_label;
    const std::vector<double>& x;
    const std::vector<double>& y;
};

ValueRange with_margin(ValueRange range) {
    const double extent = range.high - range.low;
    const double margin = extent > 0 ? 0.04 * extent : std::max(1.0, std::abs(range.low));
    return {range.low - margin, range.high + margin};
}

/// From the least to the greatest of both columns, so that both axes are alike.
ValueRange common_range(const Scatter& scatter) {
    const auto [x_low, x_high] = std::minmax_element(scatter.x.begin(), scatter.x.end());
    const auto [y_low, y_high] = std::minmax_element(scatter.y.begin(), scatter.y.end());
    return with_margin({std::min(*x_low, *y_low), std::max(*x_high, *y_high)});
}

/// Many dots are small, so that they can be told apart.
double dot_radius(std::size_t count) { return std::clamp(40 / std::sqrt(static_cast<double>(count)), 1.2, 3.5); }

void draw_panel(Svg& svg, const Scatter& scatter, double x) {
    const ValueRange range = common_range(scatter);
    const Frame frame{.area = {x, 40, 320, 320},
                      .x = range,
                      .y = range,
                      .title = scatter.title,
                      .x_label = scatter.x_label,
                      .y_label = scatter.y_label};
    draw_frame(svg, frame, [&] {
        svg.line(frame.at(range.low, range.low), frame.at(range.high, range.high), stroked("#8c8c8c", 1));
        svg.open_group(fmt::format("{} fill-opacity=\"0.7\"", filled(series_colour(0))));
        for (std::size_t i = 0; i < scatter.x.size(); ++i)
            svg.circle(frame.at(scatter.x[i], scatter.y[i]), dot_radius(scatter.x.size()), "");
        svg.close_group();
    });
}

/// A range of colours whose middle is 0.
ValueRange about_zero(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    if (!(largest > 0)) largest = 1;
    return {-largest, largest};
}

}  // namespace

std::string draw_residuals(const Residuals& residuals, const std::string& title, const std::string& value_name) {
    if (residuals.error.empty()) throw Error("there are no predictions to draw");
    std::vector<double> sorted = residuals.standardised;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> quantiles = normal_scores(static_cast<Index>(sorted.size()));
    Svg svg(title);
    draw_panel(svg,
               {.title = "Observed against predicted",
                .x_label = fmt::format("predicted {}", value_name),
                .y_label = fmt::format("observed {}", value_name),
                .x = residuals.predicted,
                .y = residuals.observed},
               0);
    draw_panel(svg,
               {.title = "Standardised errors against normal quantiles",
                .x_label = "normal quantile",
                .y_label = "standardised error",
                .x = quantiles,
                .y = sorted},
               410);
    return std::move(svg).finish();
}

std::string draw_residual_map(const Observations& observations, Metric metric, const Residuals& residuals,
                              const std::string& title) {
    require_map_coordinates(observations.coordinates.size());
    const auto count = static_cast<std::size_t>(observations.size());
    MapRequest request{.title = title,
                       .x_label = observations.coordinate_name(0),
                       .y_label = observations.coordinate_name(1),
                       .x = observations.coordinates[0],
                       .y = observations.coordinates[1],
                       .points_label = fmt::format("{} observation{}", count, plural(count)),
                       .panels = {{.title = "Error: observed − predicted",
                                   .bar_label = observations.value_name,
                                   .values = residuals.error,
                                   .colours = ColourMap::blue_red,
                                   .range = about_zero(residuals.error)},
                                  {.title = "Standardised error",
                                   .bar_label = "standard deviations",
                                   .values = residuals.standardised,
                                   .colours = ColourMap::blue_red,
                                   .range = about_zero(residuals.standardised)}},
                       .observations = {}};
    suit_metric(request, metric);
    return draw_map(request);
}

}  // namespace tesela::geo
