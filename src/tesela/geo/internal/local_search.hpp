#pragma once

#include "tesela/geo/fit.hpp"
#include "tesela/geo/trend.hpp"

#include <functional>
#include <limits>
#include <vector>

namespace tesela::geo {

/// What is asked of a point beside its likelihood.
enum class Wanted : std::uint8_t { value, slope, information };

/// One point of a search, by the logarithms of its variables.
struct SearchPoint {
    std::vector<double> logs{};
    /// With sigma2 filled in where it is profiled out.
    CovarianceParameters theta{};
    /// −infinity where the covariance matrix is not positive definite.
    double log_likelihood = -std::numeric_limits<double>::infinity();
    /// The likelihood's derivatives in the logarithms, and its information on them; empty unless asked for.
    std::vector<double> slope{};
    SmallMatrix information{};
};

/// Bounds and first steps of the logarithms; a variable whose bounds are equal stays.
struct SearchBox {
    std::vector<double> lower;
    std::vector<double> upper;
    std::vector<double> step;
    [[nodiscard]] std::vector<double> clamped(std::vector<double> logs) const;
};

using Ask = std::function<SearchPoint(const std::vector<double>& logs, Wanted wanted)>;

/// The steepest slope along which a point may still move inside its box; 0 without slopes.
[[nodiscard]] double free_slope(const SearchPoint& point, const SearchBox& box);

/// The best point that an optimiser finds from a start, where it moves the logarithms by no more than `tolerance`. What
/// the question throws passes through.
[[nodiscard]] SearchPoint climb(Optimizer optimizer, const Ask& ask, const SearchBox& box, const SearchPoint& start,
                                double tolerance);

/// A slope per unit of a logarithm that is not worth another climb: with a curvature of 1 it gains 5e-7.
inline constexpr double flat_slope = 1e-3;

/// Climbs again from where a climb ended, to where no step gains anything and no slope is left.
[[nodiscard]] SearchPoint climb_to_top(Optimizer optimizer, const Ask& ask, const SearchBox& box,
                                       const SearchPoint& start, double tolerance);

}  // namespace tesela::geo
