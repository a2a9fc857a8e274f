#include "tesela/geo/covariance.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/internal/power_table.hpp"
#include "tesela/kernels/loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

namespace tesela {

std::string_view name(CovarianceFamily family) { return name_in(covariance_family_names, family); }
std::string_view name(Metric metric) { return name_in(metric_names, metric); }
CovarianceFamily parse_covariance_family(std::string_view text) {
    return parse_name(covariance_family_names, text, "covariance family");
}
Metric parse_metric(std::string_view text) { return parse_name(metric_names, text, "metric"); }

std::string_view convention(CovarianceFamily family) {
    switch (family) {
        case CovarianceFamily::matern:
            return "C(r) = σ²·2^(1-ν)/Γ(ν)·(r/β)^ν·K_ν(r/β), plus τ² for an observation with itself; σ² = sigma2, "
                   "β = range, ν = smoothness, τ² = nugget";
        case CovarianceFamily::exponential:
            return "C(r) = σ²·exp(-r/β), plus τ² for an observation with itself; σ² = sigma2, β = range, τ² = nugget";
        case CovarianceFamily::squared_exponential:
            return "C(r) = σ²·exp(-(r/β)²), plus τ² for an observation with itself; σ² = sigma2, β = range, "
                   "τ² = nugget";
        case CovarianceFamily::powered_exponential:
            return "C(r) = σ²·exp(-(r/β)^p), plus τ² for an observation with itself; σ² = sigma2, β = range, "
                   "p = smoothness in (0, 2], τ² = nugget";
    }
    return {};
}

namespace {

void require_non_negative(std::string_view parameter, double value) {
    if (!std::isfinite(value) || value < 0)
        throw Error("{} is {}; it must be a finite number that is not negative", parameter, value);
}

void require_smoothness(double smoothness, double upper, CovarianceFamily family) {
    if (!(smoothness > 0 && smoothness <= upper))
        throw Error("smoothness is {}; the family {} needs 0 < smoothness <= {}", smoothness, name(family), upper);
}

// Gneiting, Bernoulli 19 (2013) 1327, table 1: which families are positive definite in the great-circle distance.
void require_valid_on_sphere(CovarianceFamily family, double smoothness) {
    constexpr std::string_view remedy =
        "is not positive definite with great-circle distances on a sphere; use chordal distances";
    switch (family) {
        case CovarianceFamily::matern:
            if (smoothness > 0.5) throw Error("the Matérn covariance with smoothness {} > 0.5 {}", smoothness, remedy);
            break;
        case CovarianceFamily::exponential: break;
        case CovarianceFamily::squared_exponential: throw Error("the squared exponential covariance {}", remedy);
        case CovarianceFamily::powered_exponential:
            if (smoothness > 1)
                throw Error("the powered exponential covariance with smoothness {} > 1 {}", smoothness, remedy);
            break;
    }
}

}  // namespace

void validate(CovarianceFamily family, const CovarianceParameters& parameters, Metric metric) {
    require_non_negative("sigma2", parameters.sigma2);
    require_non_negative("range", parameters.range);
    require_non_negative("smoothness", parameters.smoothness);
    require_non_negative("nugget", parameters.nugget);
    if (!std::isnormal(parameters.range) || !std::isnormal(1 / parameters.range))
        throw Error("range is {}; it must be greater than 0 (from 2.3e-308 to 4.4e307)", parameters.range);
    if (family == CovarianceFamily::matern)
        require_smoothness(parameters.smoothness, MaternFunction::max_smoothness, family);
    if (family == CovarianceFamily::powered_exponential) require_smoothness(parameters.smoothness, 2, family);
    if (metric == Metric::great_circle) require_valid_on_sphere(family, parameters.smoothness);
}

namespace {

// Exact at multiples of 90 degrees, so that -180 and 180 are one meridian and a pole is one point.
double sin_degrees(double angle) {
    int quadrant = 0;
    const double rest = std::remquo(angle, 90.0, &quadrant) * std::numbers::pi / 180;
    const double magnitude = quadrant % 2 == 0 ? std::sin(rest) : std::cos(rest);
    return (quadrant & 2) == 0 ? magnitude : -magnitude;
}
double cos_degrees(double angle) { return sin_degrees(angle + 90); }

void require_within(const std::vector<double>& column, double lower, double upper, std::string_view what) {
    for (std::size_t i = 0; i < column.size(); ++i)
        if (!(column[i] >= lower && column[i] <= upper))
            throw Error("the {} of point {} (counted from 0) is {}; it must be in [{}, {}]", what, i, column[i], lower,
                        upper);
}

std::vector<std::vector<double>> on_sphere(const std::vector<std::vector<double>>& degrees) {
    require_within(degrees[0], -180, 360, "longitude");
    require_within(degrees[1], -90, 90, "latitude");
    const std::size_t n = degrees[0].size();
    std::vector<std::vector<double>> xyz(3, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
        const double lon = degrees[0][i], lat = degrees[1][i];
        xyz[0][i] = earth_radius_km * cos_degrees(lat) * cos_degrees(lon);
        xyz[1][i] = earth_radius_km * cos_degrees(lat) * sin_degrees(lon);
        xyz[2][i] = earth_radius_km * sin_degrees(lat);
    }
    return xyz;
}

constexpr std::size_t max_dimensions = 3;

void require_shape(Metric metric, const std::vector<std::vector<double>>& columns) {
    if (metric == Metric::euclidean && (columns.empty() || columns.size() > max_dimensions))
        throw Error("points have {} coordinates; euclidean distances take 1 to {}", columns.size(), max_dimensions);
    if (metric != Metric::euclidean && columns.size() != 2)
        throw Error("points have {} coordinates; {} distances take two, longitude and latitude in degrees",
                    columns.size(), name(metric));
    for (const auto& column : columns) {
        if (column.size() != columns.front().size())
            throw Error("the coordinates of a point set have different lengths, {} and {}", columns.front().size(),
                        column.size());
        for (std::size_t i = 0; i < column.size(); ++i)
            if (!std::isfinite(column[i]))
                throw Error("a coordinate of point {} (counted from 0) is {}; it must be finite", i, column[i]);
        for (std::size_t i = 0; i < column.size(); ++i)
            if (std::abs(column[i]) > largest_coordinate)
                throw Error(
                    "a coordinate of point {} (counted from 0) is {}: numbers beyond {} are too large to compute "
                    "with; use another unit",
                    i, column[i], largest_coordinate);
    }
}

constexpr double earth_diameter_km = 2 * earth_radius_km;

double along_surface(double chord) {
    loops::functions().arcs(earth_diameter_km, 1, 1, &chord);
    return chord;
}

struct Extent {
    double lower = 0;
    double upper = 0;
};

Extent extent(std::span<const double> a, std::span<const double> b) {
    Extent result{.lower = std::numeric_limits<double>::infinity(), .upper = -std::numeric_limits<double>::infinity()};
    for (const auto points : {a, b})
        for (const double x : points) result = {.lower = std::min(result.lower, x), .upper = std::max(result.upper, x)};
    return result;
}

}  // namespace

PointSet::PointSet(Metric metric, std::vector<std::vector<double>> columns) : metric_(metric) {
    require_shape(metric, columns);
    coordinates_ = metric == Metric::euclidean ? std::move(columns) : on_sphere(columns);
}

double PointSet::diameter_bound() const { return distance_bound(*this); }

double PointSet::distance_bound(const PointSet& other) const {
    if (metric_ != other.metric_ || dimensions() != other.dimensions())
        throw Error("points with {} coordinates ({}) have no distances to points with {} ({}): both must have the same",
                    dimensions(), name(metric_), other.dimensions(), name(other.metric_));
    if (size() == 0 || other.size() == 0) return 0;
    double squared = 0;
    for (Index d = 0; d < dimensions(); ++d) {
        const Extent along = extent(coordinate(d), other.coordinate(d));
        squared += (along.upper - along.lower) * (along.upper - along.lower);
    }
    // A little more than the diagonal: distances are rounded too.
    const double diagonal = std::sqrt(squared) * (1 + 8 * std::numeric_limits<double>::epsilon());
    if (metric_ == Metric::euclidean) return diagonal;
    return metric_ == Metric::chordal ? std::min(diagonal, earth_diameter_km) : along_surface(diagonal);
}

void distances(const PointRange& rows, const PointSet& cols, Index col, double* out, double factor) noexcept {
    const auto dimensions = static_cast<std::size_t>(rows.points.dimensions());
    std::array<const double*, max_dimensions> coordinates{};
    std::array<double, max_dimensions> origin{};
    for (std::size_t d = 0; d < dimensions; ++d) {
        coordinates[d] = rows.points.coordinate(static_cast<Index>(d)).data() + rows.begin;
        origin[d] = cols.coordinate(static_cast<Index>(d))[static_cast<std::size_t>(col)];
    }
    const bool along = rows.points.metric() == Metric::great_circle;
    loops::functions().distances({dimensions, coordinates.data(), origin.data()}, along ? 1 : factor, rows.count, out);
    if (along) loops::functions().arcs(earth_diameter_km, factor, rows.count, out);
}

double distance(const PointSet& a, Index i, const PointSet& b, Index j) noexcept {
    double result = 0;
    distances({.points = a, .begin = i, .count = 1}, b, j, &result);
    return result;
}

Covariance::Covariance(CovarianceFamily family, const CovarianceParameters& parameters, Metric metric,
                       double max_distance)
    : family_(family),
      parameters_(parameters),
      metric_(metric),
      inverse_range_(1 / parameters.range) {
    validate(family, parameters, metric);
    require_non_negative("max_distance", max_distance);
    const double x_max = max_distance * inverse_range_;
    if (family == CovarianceFamily::matern) matern_.emplace(parameters.smoothness, x_max);
    if (family == CovarianceFamily::powered_exponential)
        powers_ = std::make_shared<const PowerTable>(parameters.smoothness, x_max, PowerTable::Columns::powers);
}

double Covariance::operator()(double distance) const noexcept {
    const double x = distance * inverse_range_;
    double result = 0;
    evaluate({&x, 1}, &result);
    return result;
}

void Covariance::evaluate(std::span<const double> x, double* out) const noexcept {
    if (family_ == CovarianceFamily::matern) return matern_->evaluate(x, parameters_.sigma2, out);
    exponents(family_, powers_.get(), x, out, nullptr);
    loops::functions().exponentials(out, x.size(), parameters_.sigma2, out);
}

void Covariance::fill_tile(const CovarianceTileRequest& request) const noexcept {
    constexpr std::size_t batch = covariance_batch;
    std::array<double, batch> x;
    for (Index j = 0; j < request.col_count; ++j) {
        double* const column = request.out + j * request.ld;
        const Index col = request.col_begin + j;
        for (Index i = 0; i < request.row_count; i += static_cast<Index>(batch)) {
            const auto count = std::min(batch, static_cast<std::size_t>(request.row_count - i));
            distances({.points = *request.rows, .begin = request.row_begin + i, .count = count}, *request.cols, col,
                      x.data(), inverse_range_);
            evaluate({x.data(), count}, column + i);
        }
        const Index diagonal = col - request.row_begin;
        if (request.sets == ObservationSets::same && diagonal >= 0 && diagonal < request.row_count)
            column[diagonal] += parameters_.nugget;
    }
}

}  // namespace tesela
