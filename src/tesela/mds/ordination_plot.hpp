#pragma once

#include "tesela/base/index.hpp"

#include <string>
#include <vector>

namespace tesela::mds {

/// Points of one kind in a plane, or on a line, with the names that are written beside them (none, or one per point).
struct PlottedPoints {
    std::string name;  ///< for the legend: "21 rows"
    std::vector<double> x;
    std::vector<double> y{};  ///< none where there is one dimension
    std::vector<std::string> labels{};
};

/// Points in their first two dimensions, or in the only one, and arrows from the origin, such as the columns of
/// principal components.
struct OrdinationPlot {
    std::string title;
    std::string x_label;  ///< with what it explains: "dimension 1 (64.0 %)"
    std::string y_label{};
    std::vector<PlottedPoints> points;
    PlottedPoints arrows{};
};

/// Names are written beside points where there are not more of them than this.
inline constexpr Index most_labels = 60;

/// An SVG picture with equal units on both axes, so that distances are what they look like; kinds of points differ in
/// colour and shape. Arrows are drawn in a unit of their own, which the legend says. Of one dimension it shows the
/// values along one axis, with their names above and below.
[[nodiscard]] std::string draw_ordination(const OrdinationPlot& plot);

/// The values of an analysis, the largest first.
struct ScreePlot {
    std::string title;
    std::string value_label;  ///< "eigenvalue"
    std::vector<double> values;
    std::vector<double> parts;  ///< of the variance, of each: their sums are written above the bars
};

/// An SVG picture with a bar for each of the first thirty values; those below 0 hang below the axis.
[[nodiscard]] std::string draw_scree(const ScreePlot& plot);

}  // namespace tesela::mds
