#include "tesela/apps/mds/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::mds {
namespace {

/// Eigenvalues that are not larger are 0 up to rounding.
double rounding_of(const Decomposition& d) {
    double largest = 0;
    for (const double value : d.values) largest = std::max(largest, std::abs(value));
    return static_cast<double>(d.rows) * std::numeric_limits<double>::epsilon() * largest;
}

Index positive_dimensions(const Decomposition& d) {
    const double rounding = rounding_of(d);
    const auto wanted = d.values.begin() + d.wanted;
    return std::find_if(d.values.begin(), wanted, [=](double value) { return value <= rounding; }) - d.values.begin();
}

std::vector<double> coordinates_of(const Decomposition& d, const std::vector<double>& weights, Index dimensions) {
    std::vector<double> coordinates(d.left.begin(), d.left.begin() + d.rows * dimensions);
    for (Index k = 0; k < dimensions; ++k) {
        const double root = std::sqrt(d.values[static_cast<std::size_t>(k)]);
        for (Index i = 0; i < d.rows; ++i) {
            const double mass = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
            coordinates[static_cast<std::size_t>(i + k * d.rows)] *= root / std::sqrt(mass);
        }
    }
    return coordinates;
}

}  // namespace

Scaling scale(Engine& engine, const MatrixFile& distances, const DecompositionOptions& options) {
    Scaling result{.decomposition = decompose(engine, distances, Analysis::scaling, options),
                   .weights = options.row_weights};
    result.dimensions = positive_dimensions(result.decomposition);
    result.coordinates = coordinates_of(result.decomposition, result.weights, result.dimensions);
    result.fit = goodness_of_fit(result.decomposition, result.dimensions);
    return result;
}

NegativeEigenvalues negative_eigenvalues(const Decomposition& known) {
    NegativeEigenvalues found;
    double all = 0;
    double negative = 0;
    const double rounding = rounding_of(known);
    for (const double value : known.values) {
        all += std::abs(value);
        if (value >= -rounding) continue;
        ++found.count;
        found.smallest = std::min(found.smallest, value);
        negative -= value;
    }
    found.part = all > 0 ? negative / all : 0;
    return found;
}

}  // namespace tesela::mds
