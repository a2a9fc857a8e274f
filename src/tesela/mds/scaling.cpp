#include "tesela/mds/scaling.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/resolve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela::mds {
namespace {

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

/// Throws Error where no point differs from another, or squares of squares of distances are no numbers any more: (Σλ)²
/// is at most n·Σλ².
void require_range(const MatrixFile& distances, const Decomposition& d) {
    const double least = d.trace / static_cast<double>(d.rows) * d.trace;
    bool too_small = d.frobenius < 0.5 * least;
    if (d.trace == 0 && d.frobenius == 0) {
        std::vector<double> row(static_cast<std::size_t>(d.cols));
        if (distances.read({.rows = 1, .cols = d.cols}, RowMajor<double>{row.data(), d.cols}).ok())
            too_small = std::ranges::any_of(row, [](double x) { return x > 0; });
        if (!too_small)
            throw Error("{}: all distances are 0: the points are at one place, and there is nothing to scale",
                        distances.name());
    }
    if (too_small || !std::isfinite(d.frobenius))
        throw Error("{}: distances are too {} to be multiplied: give them in another unit", distances.name(),
                    too_small ? "small" : "large");
}

}  // namespace

Scaling scale(Stream& stream, const MatrixFile& distances, const DecompositionOptions& options) {
    return scale(stream, distances, resolve_for(stream, distances, Analysis::scaling, options));
}

Scaling scale(Stream& stream, const MatrixFile& distances, const Decision& decision) {
    Scaling result{.decomposition = decompose(stream, distances, decision), .weights = decision.asked.row_weights};
    require_range(distances, result.decomposition);
    result.dimensions = positive_dimensions(result.decomposition);
    result.coordinates = coordinates_of(result.decomposition, result.weights, result.dimensions);
    result.fit = goodness_of_fit(result.decomposition, result.dimensions);
    return result;
}

}  // namespace tesela::mds
