#pragma once

#include "tesela/geo/model.hpp"

#include <cstdint>
#include <vector>

namespace tesela::geo {

/// How half the mean squared difference of two values is estimated: by Matheron's mean of squares, or by the mean of
/// square roots of Cressie and Hawkins (Mathematical Geology 12, 1980), which a few wild values hardly move.
enum class VariogramEstimator : std::uint8_t { classical, robust };

/// Zeros mean R's gstat's defaults.
struct VariogramOptions {
    VariogramEstimator estimator = VariogramEstimator::classical;
    double cutoff = 0;  ///< pairs farther apart are left out; 0: 0.33333 of the bounding box's diagonal
    double width = 0;   ///< of an interval of distances; 0: a fifteenth of the cutoff
    /// Azimuths in degrees, clockwise from the second coordinate's positive direction (north); none: all pairs
    /// together.
    std::vector<double> directions{};
    double tolerance = 0;  ///< how far a pair's azimuth may be off, in degrees; 0: 90 / number of directions
    int threads = 0;       ///< 0: one per usable core; the result does not depend on it
};

/// One interval of distances in one direction.
struct VariogramPoint {
    Index pairs = 0;
    double distance = 0;  ///< mean of the pairs'
    double gamma = 0;
    double direction = 0;
};

struct Variogram {
    double cutoff = 0;
    double width = 0;
    double tolerance = 90;
    std::vector<VariogramPoint> points;  ///< direction by direction, from near to far; intervals without pairs left out
};

/// The sample variogram, as gstat defines it: interval k has the distances in (k·width, (k + 1)·width], the first has 0
/// too. A pair without a horizontal distance belongs to every direction. On the Earth a pair's azimuth is that of the
/// great circle halfway between the two. Throws Error if an option makes no sense or no pair is near enough.
[[nodiscard]] Variogram sample_variogram(const Observations& observations, Metric metric,
                                         const VariogramOptions& options = {});

/// The observations less their trend by ordinary least squares.
[[nodiscard]] Observations without_trend(const Observations& observations, const TrendFormula& trend);

/// What a model says of a distance: gamma(h) = nugget + sigma2 − C(h).
[[nodiscard]] double model_variogram(const Covariance& covariance, double distance);

}  // namespace tesela::geo
