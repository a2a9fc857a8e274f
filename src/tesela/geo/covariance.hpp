#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"
#include "tesela/geo/matern.hpp"
#include "tesela/geo/polynomial_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tesela {

class PowerTable;

/// How the covariance of two observations falls with their distance; convention() gives each formula.
enum class CovarianceFamily : std::uint8_t { matern, exponential, squared_exponential, powered_exponential };

/// The parameters of every family: the variance of the field, the length its correlation reaches, the smoothness of
/// the field (Matérn's nu, or the power of the powered exponential), and the variance of the noise of an observation.
struct CovarianceParameters {
    double sigma2 = 1;
    double range = 1;
    double smoothness = 0.5;
    double nugget = 0;
    friend bool operator==(const CovarianceParameters&, const CovarianceParameters&) = default;
};

/// How far two points are apart: in the space of their coordinates, or on the Earth through it or along its surface.
enum class Metric : std::uint8_t { euclidean, chordal, great_circle };

/// Names as in options and files. Parsing throws Error that lists them.
inline constexpr Names<CovarianceFamily, 4> covariance_family_names{{
    {CovarianceFamily::matern, "matern"},
    {CovarianceFamily::exponential, "exponential"},
    {CovarianceFamily::squared_exponential, "squared_exponential"},
    {CovarianceFamily::powered_exponential, "powered_exponential"},
}};
inline constexpr Names<Metric, 3> metric_names{{
    {Metric::euclidean, "euclidean"},
    {Metric::chordal, "chordal"},
    {Metric::great_circle, "great_circle"},
}};
[[nodiscard]] std::string_view name(CovarianceFamily family);
[[nodiscard]] std::string_view name(Metric metric);
[[nodiscard]] CovarianceFamily parse_covariance_family(std::string_view text);
[[nodiscard]] Metric parse_metric(std::string_view text);

/// The formula of a family in one line, in the names of CovarianceParameters: for --help and model files.
[[nodiscard]] std::string_view convention(CovarianceFamily family);

/// Throws Error that names the parameter that is negative, not finite or out of the family's range, or says why the
/// family is not positive definite under the metric.
void validate(CovarianceFamily family, const CovarianceParameters& parameters, Metric metric);

/// The Earth's mean radius (IUGG), in km: the unit of chordal and great-circle distances and ranges.
inline constexpr double earth_radius_km = 6371.0088;

/// Coordinates beyond this size are refused: squares of their differences, and what is computed with them, must not
/// overflow.
inline constexpr double largest_coordinate = 1e100;

/// Points of one metric, by coordinate: 1 to 3 dimensions as given, or on the Earth (then 3, in km from its centre).
class PointSet {
public:
    /// Euclidean: one column for each of 1 to 3 coordinates. Chordal and great-circle: longitude and latitude in
    /// degrees. Throws Error for another number of columns, columns of different lengths, a coordinate that is not
    /// finite or beyond largest_coordinate, a latitude outside [-90, 90] or a longitude outside [-180, 360].
    PointSet(Metric metric, std::vector<std::vector<double>> columns);

    [[nodiscard]] Metric metric() const { return metric_; }
    [[nodiscard]] Index size() const { return static_cast<Index>(coordinates_.front().size()); }
    [[nodiscard]] Index dimensions() const { return static_cast<Index>(coordinates_.size()); }
    [[nodiscard]] std::span<const double> coordinate(Index dimension) const {
        return coordinates_[static_cast<std::size_t>(dimension)];
    }

    /// No two points are farther apart than this: the diagonal of the bounding box.
    [[nodiscard]] double diameter_bound() const;
    /// No point of this set is farther from one of the other than this. Throws Error if metrics or dimensions differ.
    [[nodiscard]] double distance_bound(const PointSet& other) const;

private:
    Metric metric_;
    std::vector<std::vector<double>> coordinates_;
};

/// The distance of point i of a from point j of b, which have the same metric and dimensions.
[[nodiscard]] double distance(const PointSet& a, Index i, const PointSet& b, Index j) noexcept;

/// The points [begin, begin + count) of one set.
struct PointRange {
    const PointSet& points;
    Index begin;
    std::size_t count;
};
/// The distances of some points from one, each as distance() has it to the last bit, times a factor.
void distances(const PointRange& rows, const PointSet& cols, Index col, double* out, double factor = 1) noexcept;

/// How many distances are looked at together where tiles are filled.
inline constexpr std::size_t covariance_batch = PolynomialTable::batch;

/// Whether the rows and columns of a tile are observations of one set, so that equal indices are the same observation.
enum class ObservationSets : std::uint8_t { same, different };

/// A tile of a covariance matrix to fill, column-major: rows [row_begin, row_begin + row_count) of one point set by
/// columns of another, of the same metric and dimensions.
struct CovarianceTileRequest {
    const PointSet* rows = nullptr;
    Index row_begin = 0;
    Index row_count = 0;
    const PointSet* cols = nullptr;
    Index col_begin = 0;
    Index col_count = 0;
    double* out = nullptr;
    Index ld = 0;
    ObservationSets sets = ObservationSets::different;
};

/// A covariance ready to be evaluated; immutable, so threads may share it.
class Covariance {
public:
    /// Validates. Distances above max_distance are right but slow to evaluate: give PointSet::diameter_bound().
    Covariance(CovarianceFamily family, const CovarianceParameters& parameters, Metric metric, double max_distance);

    /// The covariance of two different observations at this distance: without the nugget, also at 0.
    [[nodiscard]] double operator()(double distance) const noexcept;
    /// Fills a tile: each element is (*this)(distance), bit for bit whatever the tile, plus the nugget where row and
    /// column are the same observation (not where two observations share a place).
    void fill_tile(const CovarianceTileRequest& request) const noexcept;

    [[nodiscard]] CovarianceFamily family() const { return family_; }
    [[nodiscard]] const CovarianceParameters& parameters() const { return parameters_; }
    [[nodiscard]] Metric metric() const { return metric_; }
    /// The variance of an observation: sigma2 + nugget.
    [[nodiscard]] double variance() const { return parameters_.sigma2 + parameters_.nugget; }

private:
    /// At r/range = x, of at most covariance_batch.
    void evaluate(std::span<const double> x, double* out) const noexcept;

    CovarianceFamily family_;
    CovarianceParameters parameters_;
    Metric metric_;
    double inverse_range_;
    std::optional<MaternTable> matern_;
    std::shared_ptr<const PowerTable> powers_;  // of the powered exponential family
};

}  // namespace tesela
