#include "tesela/geo/specimens.hpp"

#include "tesela/geo/covariance_kernel.hpp"

#include <cmath>
#include <utility>

namespace tesela::geo {
namespace {

/// Observations in the unit square that follow a Kronecker sequence: scattered evenly, without two at one place.
const PointSet& scattered_points() {
    static const PointSet set = [] {
        std::vector<std::vector<double>> columns(2);
        for (Index i = 0; i < Specimen::largest_tile; ++i)
            for (std::size_t d = 0; d < 2; ++d) {
                const double step = d == 0 ? 0.7548776662466927 : 0.5698402909980532;
                const double at = step * static_cast<double>(i);
                columns[d].push_back(at - std::floor(at));
            }
        return PointSet(Metric::euclidean, std::move(columns));
    }();
    return set;
}

/// Matérn of a smoothness without a closed form; the table behind it makes all as fast.
const Covariance& usual_covariance() {
    static const Covariance matern(CovarianceFamily::matern, {.sigma2 = 1, .range = 0.1, .smoothness = 0.8},
                                   Metric::euclidean, scattered_points().diameter_bound());
    return matern;
}

}  // namespace

std::vector<Specimen> specimens() {
    const PointSet& points = scattered_points();
    return {Specimen::of(covariance_kernel, {.covariance = &usual_covariance(), .rows = &points, .cols = &points},
                         Specimen::square({Specimen::Origin::memory})),
            Specimen::of(column_squares_kernel, {}, Specimen::matrix_and_columns({1}))};
}

}  // namespace tesela::geo
