#include "tesela/geo/variogram.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/in_parallel.hpp"
#include "tesela/geo/box.hpp"
#include "tesela/geo/internal/at.hpp"
#include "tesela/geo/trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace tesela::geo {
namespace {

/// Of gstat, which does not say 1/3.
constexpr double default_fraction = 0.33333;
constexpr double default_intervals = 15;
constexpr double most_intervals = 1e6;
/// Rows of the triangle of pairs that are summed together: what the sums depend on, whatever the threads.
constexpr Index block_rows = 64;
constexpr Index batch = 256;

/// With gstat's π (its utils.h): where coordinates are whole numbers many pairs are off by exactly the tolerance, as
/// the diagonals of a grid by 45 degrees, and which of them count must be as it is there.
double radians(double degrees) {
    constexpr double pi_of_gstat = 3.14159265359;
    return degrees * pi_of_gstat / 180;
}

struct Vector2 {
    double east = 0;
    double north = 0;
};

/// Of the pairs of one interval and direction.
struct Sums {
    Index pairs = 0;
    double distance = 0;
    double value = 0;  ///< squares or roots of differences
    void add(const Sums& other) {
        pairs += other.pairs;
        distance += other.distance;
        value += other.value;
    }
};

/// Everything that is known before the first pair.
class Pairs {
public:
    Pairs(const Observations& observations, Metric metric, VariogramOptions options);

    [[nodiscard]] Variogram run() const;

private:
    void choose_intervals();
    void choose_directions();
    [[nodiscard]] Index blocks() const { return (points_.size() + block_rows - 1) / block_rows; }
    [[nodiscard]] std::size_t groups() const { return std::max<std::size_t>(1, axes_.size()); }
    [[nodiscard]] std::vector<Sums> sums_of_block(Index block) const;
    void add_pairs(Index row, Index first, Index count, std::vector<Sums>& sums) const;
    [[nodiscard]] Index interval(double distance) const;
    [[nodiscard]] double value(Index i, Index j) const;
    [[nodiscard]] Vector2 between(Index i, Index j) const;
    [[nodiscard]] Vector2 on_the_earth(Index i, Index j) const;
    [[nodiscard]] bool is_along(const Vector2& pair, const Vector2& axis) const;
    [[nodiscard]] std::vector<Sums> all_sums() const;
    [[nodiscard]] double gamma(const Sums& sums) const;

    const Observations& observations_;
    VariogramOptions options_;
    PointSet points_;
    Index intervals_ = 0;
    std::vector<Vector2> axes_;
    double least_cosine_ = 0;
};

Pairs::Pairs(const Observations& observations, Metric metric, VariogramOptions options)
    : observations_(observations),
      options_(std::move(options)),
      points_(metric, observations.coordinates) {
    choose_intervals();
    choose_directions();
}

void Pairs::choose_intervals() {
    double& cutoff = options_.cutoff;
    double& width = options_.width;
    if (!std::isfinite(cutoff) || cutoff < 0) throw Error("the cutoff is {}; it must be a positive distance", cutoff);
    if (!std::isfinite(width) || width < 0)
        throw Error("the width of an interval is {}; it must be a positive distance", width);
    const Metric metric = points_.metric();
    if (cutoff == 0) cutoff = default_fraction * diagonal(metric, bounding_box(metric, observations_.coordinates));
    if (width == 0) width = cutoff / default_intervals;
    if (width > cutoff) throw Error("the width of an interval, {}, is more than the cutoff, {}", width, cutoff);
    const double intervals = std::floor(cutoff / width) + 1;
    if (!(intervals <= most_intervals))
        throw Error("a cutoff of {} has {:.3g} intervals of width {}; choose a larger width", cutoff, intervals, width);
    intervals_ = static_cast<Index>(intervals);
}

void Pairs::choose_directions() {
    const std::vector<double>& directions = options_.directions;
    double& tolerance = options_.tolerance;
    if (directions.empty() && tolerance != 0) throw Error("a tolerance of angles needs directions");
    if (!directions.empty() && observations_.coordinates.size() < 2)
        throw Error("directions need two coordinates; these observations have one");
    if (!std::isfinite(tolerance) || tolerance < 0 || tolerance > 90)
        throw Error("the tolerance of angles is {}; it must be above 0 and at most 90 degrees", tolerance);
    for (const double direction : directions)
        if (!std::isfinite(direction) || direction < 0 || direction > 360)
            throw Error("the direction {} is not between 0 and 360 degrees", direction);
    if (tolerance == 0) tolerance = 90 / static_cast<double>(std::max<std::size_t>(1, directions.size()));
    least_cosine_ = std::cos(radians(tolerance));
    for (const double direction : directions)
        axes_.push_back({.east = std::sin(radians(direction)), .north = std::cos(radians(direction))});
}

/// Of (k·width, (k + 1)·width], where the first has 0 too.
Index Pairs::interval(double distance) const {
    const double fraction = distance / options_.width;
    const double whole = std::floor(fraction);
    return static_cast<Index>(whole) - (whole == fraction && whole > 0 ? 1 : 0);
}

double Pairs::value(Index i, Index j) const {
    const double difference = observations_.values[at(i)] - observations_.values[at(j)];
    return options_.estimator == VariogramEstimator::robust ? std::sqrt(std::abs(difference)) : difference * difference;
}

/// With m halfway between p and q, the great circle goes along q − p there; east is (−m_y, m_x, 0) and north m × east,
/// both of one length (north also times |m|, which east is given too).
Vector2 Pairs::on_the_earth(Index i, Index j) const {
    std::array<double, 3> m{};
    std::array<double, 3> t{};
    for (Index d = 0; d < 3; ++d) {
        const auto x = points_.coordinate(d);
        m[at(d)] = x[at(i)] + x[at(j)];
        t[at(d)] = x[at(i)] - x[at(j)];
    }
    const double length = std::sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
    const double east = -m[1] * t[0] + m[0] * t[1];
    const double north = -m[2] * (m[0] * t[0] + m[1] * t[1]) + (m[0] * m[0] + m[1] * m[1]) * t[2];
    return {.east = east * length, .north = north};
}

Vector2 Pairs::between(Index i, Index j) const {
    if (points_.metric() != Metric::euclidean) return on_the_earth(i, j);
    const auto x = points_.coordinate(0);
    const auto y = points_.coordinate(1);
    return {.east = x[at(i)] - x[at(j)], .north = y[at(i)] - y[at(j)]};
}

bool Pairs::is_along(const Vector2& pair, const Vector2& axis) const {
    if (options_.tolerance >= 90 || (pair.east == 0 && pair.north == 0)) return true;
    const double length = std::sqrt(pair.east * pair.east + pair.north * pair.north);
    return std::abs((pair.east * axis.east + pair.north * axis.north) / length) >= least_cosine_;
}

/// The pairs of a row with points [first, first + count), count <= batch.
void Pairs::add_pairs(Index row, Index first, Index count, std::vector<Sums>& sums) const {
    std::array<double, at(batch)> distance;
    distances({.points = points_, .begin = first, .count = at(count)}, points_, row, distance.data());
    for (Index k = 0; k < count; ++k) {
        const double d = distance[at(k)];
        if (!(d <= options_.cutoff)) continue;
        const Sums pair{.pairs = 1, .distance = d, .value = value(row, first + k)};
        const auto slot = at(interval(d));
        if (axes_.empty()) {
            sums[slot].add(pair);
            continue;
        }
        const Vector2 arrow = between(row, first + k);
        for (std::size_t a = 0; a < axes_.size(); ++a)
            if (is_along(arrow, axes_[a])) sums[a * at(intervals_) + slot].add(pair);
    }
}

std::vector<Sums> Pairs::sums_of_block(Index block) const {
    std::vector<Sums> sums(groups() * at(intervals_));
    const Index end = std::min(points_.size(), (block + 1) * block_rows);
    for (Index row = block * block_rows; row < end; ++row)
        for (Index first = 0; first < row; first += batch) add_pairs(row, first, std::min(batch, row - first), sums);
    return sums;
}

/// Threads take blocks as they come; blocks are added in their order.
std::vector<Sums> Pairs::all_sums() const {
    std::vector<std::vector<Sums>> parts(at(blocks()));
    // The last blocks are the largest, so they come first.
    in_parallel(options_.threads, blocks(), [&](Index k) {
        const Index block = blocks() - 1 - k;
        parts[at(block)] = sums_of_block(block);
    });
    std::vector<Sums> sums(groups() * at(intervals_));
    for (const auto& part : parts)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k].add(part[k]);
    return sums;
}

/// Matheron: Σ(zᵢ − zⱼ)²/(2N). Cressie and Hawkins: ½·(Σ|zᵢ − zⱼ|^½/N)⁴/(0.457 + 0.494/N).
double Pairs::gamma(const Sums& sums) const {
    const auto n = static_cast<double>(sums.pairs);
    if (options_.estimator == VariogramEstimator::classical) return sums.value / (2 * n);
    return 0.5 * std::pow(sums.value / n, 4) / (0.457 + 0.494 / n);
}

Variogram Pairs::run() const {
    const std::vector<Sums> sums = all_sums();
    Variogram result{.cutoff = options_.cutoff, .width = options_.width, .tolerance = options_.tolerance, .points = {}};
    for (std::size_t k = 0; k < sums.size(); ++k) {
        if (sums[k].pairs == 0) continue;
        const std::size_t group = k / at(intervals_);
        result.points.push_back({.pairs = sums[k].pairs,
                                 .distance = sums[k].distance / static_cast<double>(sums[k].pairs),
                                 .gamma = gamma(sums[k]),
                                 .direction = options_.directions.empty() ? 0 : options_.directions[group]});
    }
    if (result.points.empty())
        throw Error("no two observations are at most {} apart{}; choose a larger cutoff", options_.cutoff,
                    axes_.empty() ? "" : " in any of the directions");
    return result;
}

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// [z X]ᵀ·[z X], lower triangle, for z less its mean: the Gram matrix of least_squares() with Σ = 1.
SmallMatrix gram_of(const Observations& observations, const TrendBasis& basis, double mean) {
    SmallMatrix gram(1 + basis.size(), 1 + basis.size());
    std::vector<double> row(at(1 + basis.size()));
    for (Index i = 0; i < observations.size(); ++i) {
        row[0] = observations.values[at(i)] - mean;
        for (Index k = 0; k < basis.size(); ++k) row[at(1 + k)] = basis.at_observations()(i, k);
        for (Index c = 0; c < gram.cols; ++c)
            for (Index r = c; r < gram.rows; ++r) gram(r, c) += row[at(r)] * row[at(c)];
    }
    return gram;
}

}  // namespace

Variogram sample_variogram(const Observations& observations, Metric metric, const VariogramOptions& options) {
    return Pairs(observations, metric, options).run();
}

Observations without_trend(const Observations& observations, const TrendFormula& trend) {
    Observations result = observations;
    const TrendBasis basis(trend, observations);
    if (basis.size() == 0) return result;
    const double mean = basis.has_intercept() ? mean_of(observations.values) : 0;
    const LeastSquares fit = least_squares(gram_of(observations, basis, mean));
    for (Index i = 0; i < observations.size(); ++i) {
        double fitted = mean;
        for (Index k = 0; k < basis.size(); ++k) fitted += fit.coefficients[at(k)] * basis.at_observations()(i, k);
        result.values[at(i)] -= fitted;
    }
    return result;
}

double model_variogram(const Covariance& covariance, double distance) {
    return covariance.variance() - covariance(distance);
}

}  // namespace tesela::geo
