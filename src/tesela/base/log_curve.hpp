#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela {

/// Points of a curve, from small to large x > 0; between them it is a line over log x, beyond them it stays as it is.
struct CurvePoint {
    double x = 0;
    double y = 0;
    friend bool operator==(const CurvePoint&, const CurvePoint&) = default;
};
using LogCurve = std::vector<CurvePoint>;

/// Its value at x; 1 where there are no points.
[[nodiscard]] inline double value_at(const LogCurve& curve, double x) {
    if (curve.empty()) return 1;
    const auto above = std::ranges::find_if(curve, [x](const CurvePoint& point) { return point.x >= x; });
    if (above == curve.end()) return curve.back().y;
    if (above == curve.begin()) return curve.front().y;
    const CurvePoint& before = *(above - 1);
    const double share = std::log(x / before.x) / std::log(above->x / before.x);
    return (1 - share) * before.y + share * above->y;
}

}  // namespace tesela
