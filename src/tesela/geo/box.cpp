#include "tesela/geo/box.hpp"

#include <algorithm>
#include <cmath>

namespace tesela::geo {
namespace {

struct Range {
    double low = 0;
    double high = 0;
    [[nodiscard]] double length() const { return high - low; }
};

Range range_of(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return {*low, *high};
}

/// The circle of longitudes without its widest gap.
Range shortest_longitudes(const std::vector<double>& longitudes) {
    std::vector<double> sorted(longitudes.size());
    std::transform(longitudes.begin(), longitudes.end(), sorted.begin(),
                   [](double degrees) { return degrees >= 180 ? degrees - 360 : degrees; });
    std::sort(sorted.begin(), sorted.end());
    Range best{sorted.front(), sorted.back()};
    for (std::size_t k = 1; k < sorted.size(); ++k)
        if (const Range around{sorted[k], sorted[k - 1] + 360}; around.length() < best.length()) best = around;
    return best;
}

}  // namespace

Box bounding_box(Metric metric, const std::vector<std::vector<double>>& coordinates) {
    Box box;
    for (const auto& column : coordinates) {
        Range range = range_of(column);
        const bool longitudes = metric != Metric::euclidean && box.low.empty();
        // As they were written, unless that goes the long way round.
        constexpr double rounding = 1e-9;
        if (const Range shortest = longitudes ? shortest_longitudes(column) : range;
            shortest.length() < range.length() - rounding)
            range = shortest;
        box.low.push_back(range.low);
        box.high.push_back(range.high);
    }
    return box;
}

double diagonal(Metric metric, const Box& box) {
    std::vector<std::vector<double>> corners;
    for (std::size_t d = 0; d < box.low.size(); ++d) corners.push_back({box.low[d], box.high[d]});
    if (metric != Metric::euclidean) corners[0] = {0, std::min(180.0, box.high[0] - box.low[0])};
    const PointSet points(metric, corners);
    return distance(points, 0, points, 1);
}

}  // namespace tesela::geo
