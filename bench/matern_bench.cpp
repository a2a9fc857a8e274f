#include "matern_bench.hpp"

#include "checks.hpp"
#include "gsl/bessel.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/random.hpp"
#include "tesela/kernels/covariance_derivatives.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace tesela {
namespace {

constexpr double sigma2 = 1.5;
constexpr double range = 0.1;  // of points in the unit square: arguments to 14
constexpr double largest_argument = 700;

double best_seconds(Index repetitions, const auto& action) {
    double best = std::numeric_limits<double>::infinity();
    for (Index r = 0; r < repetitions; ++r) {
        const auto begin = std::chrono::steady_clock::now();
        action();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

PointSet points_in_unit_square(Index count) {
    const Random random(1);
    std::vector<std::vector<double>> columns(2);
    for (std::uint64_t d = 0; d < 2; ++d)
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
            columns[d].push_back(random.uniform({.i = i, .j = d}));
    return {Metric::euclidean, std::move(columns)};
}

/// Rows [0, n) by columns [n, 2n) of the points: a tile off the diagonal.
CovarianceTileRequest request_of(const PointSet& points, std::vector<double>& out) {
    const Index n = points.size() / 2;
    return {.rows = &points,
            .row_count = n,
            .cols = &points,
            .col_begin = n,
            .col_count = n,
            .out = out.data(),
            .ld = n,
            .sets = ObservationSets::same};
}

void fill_with_gsl(const CovarianceTileRequest& request, double smoothness) {
    const double scale = sigma2 * std::exp2(1 - smoothness) / std::tgamma(smoothness);
    const auto rows_x = request.rows->coordinate(0), rows_y = request.rows->coordinate(1);
    const auto cols_x = request.cols->coordinate(0), cols_y = request.cols->coordinate(1);
    for (Index j = 0; j < request.col_count; ++j)
        for (Index i = 0; i < request.row_count; ++i) {
            const auto row = static_cast<std::size_t>(request.row_begin + i);
            const auto col = static_cast<std::size_t>(request.col_begin + j);
            const double dx = rows_x[row] - cols_x[col], dy = rows_y[row] - cols_y[col];
            const double x = std::sqrt(dx * dx + dy * dy) / range;
            request.out[i + j * request.ld] =
                x == 0 ? sigma2 : scale * std::pow(x, smoothness) * bench::gsl_bessel_k(smoothness, x);
        }
}

using Real = boost::multiprecision::cpp_bin_float_50;

Real exact_correlation(CovarianceFamily family, double smoothness, double x) {
    const Real nu(smoothness);
    switch (family) {
        case CovarianceFamily::exponential: return exp(-Real(x));
        case CovarianceFamily::squared_exponential: return exp(-Real(x) * Real(x));
        case CovarianceFamily::powered_exponential: return exp(-pow(Real(x), nu));
        default:
            return pow(Real(2), 1 - nu) / boost::math::tgamma(nu) * pow(Real(x), nu) *
                   boost::math::cyl_bessel_k(nu, Real(x));
    }
}

double max_relative_error(double smoothness, Index count) {
    const MaternTable table(smoothness, largest_argument);
    const Random random(2);
    LargestDifference worst;
    for (Index i = 0; i < count; ++i) {
        const double u = random.uniform({.i = static_cast<std::uint64_t>(i)});
        const double x = std::min(largest_argument, 1e-10 * std::pow(largest_argument / 1e-10, u));
        const Real exact = exact_correlation(CovarianceFamily::matern, smoothness, x);
        worst.add(static_cast<double>((Real(table(x)) - exact) / exact));
    }
    return worst.value();
}

nlohmann::ordered_json measure(double smoothness, const MaternBenchOptions& options) {
    const PointSet points = points_in_unit_square(2 * options.tile);
    const CovarianceParameters parameters{.sigma2 = sigma2, .range = range, .smoothness = smoothness};
    const double bound = points.diameter_bound();
    const Covariance covariance(CovarianceFamily::matern, parameters, Metric::euclidean, bound);
    std::vector<double> out(static_cast<std::size_t>(options.tile * options.tile));
    const CovarianceTileRequest request = request_of(points, out);
    const auto rate = [&](double seconds) { return static_cast<double>(options.tile * options.tile) / seconds; };

    const double build = best_seconds(5, [&] { const MaternTable table(smoothness, bound / range); });
    const double build_all = best_seconds(5, [&] { const MaternTable table(smoothness, largest_argument); });
    const double table_rate = rate(best_seconds(options.repetitions, [&] { covariance.fill_tile(request); }));
    nlohmann::json gsl_rate;  // null without GSL
    if (bench::has_gsl()) gsl_rate = rate(best_seconds(1, [&] { fill_with_gsl(request, smoothness); }));
    return {{"smoothness", smoothness},
            {"table_build_seconds", build},
            {"table_to_700_build_seconds", build_all},
            {"covariances_per_second", table_rate},
            {"gsl_covariances_per_second", gsl_rate},
            {"max_relative_error", max_relative_error(smoothness, options.accuracy_points)}};
}

/// The correlation as its formula has it, one call of libm or two for each element.
double formula(CovarianceFamily family, double smoothness, double x) {
    switch (family) {
        case CovarianceFamily::exponential: return std::exp(-x);
        case CovarianceFamily::squared_exponential: return std::exp(-x * x);
        case CovarianceFamily::powered_exponential: return std::exp(-std::pow(x, smoothness));
        default: return MaternFunction(smoothness)(x).rho;
    }
}

/// A tile of each family at each level of vector instructions in turn, and the errors of correlations in (0, 15].
nlohmann::ordered_json measure_family(CovarianceFamily family, const MaternBenchOptions& options) {
    constexpr double smoothness = 1.23;
    const PointSet points = points_in_unit_square(2 * options.tile);
    const Covariance covariance(family, {.sigma2 = sigma2, .range = range, .smoothness = smoothness}, Metric::euclidean,
                                points.diameter_bound());
    const CovarianceDerivatives slopes(covariance, points.diameter_bound());
    std::vector<double> out(static_cast<std::size_t>(options.tile * options.tile));
    const CovarianceTileRequest request = request_of(points, out);
    const std::vector<VectorLevel> levels = vector_levels();
    std::vector<double> of_tile(levels.size(), std::numeric_limits<double>::infinity()), of_slopes = of_tile;
    for (Index repetition = 0; repetition < options.repetitions; ++repetition)
        for (std::size_t l = 0; l < levels.size(); ++l) {
            use_vector_level(levels[l]);
            of_tile[l] = std::min(of_tile[l], best_seconds(1, [&] { covariance.fill_tile(request); }));
            of_slopes[l] = std::min(of_slopes[l], best_seconds(1, [&] { slopes.fill_tile(request, {1, 1, 1, 1}); }));
        }
    const auto elements = static_cast<double>(out.size());
    nlohmann::ordered_json row{{"family", name(family)}, {"levels", nlohmann::ordered_json::array()}};
    for (std::size_t l = 0; l < levels.size(); ++l)
        row["levels"].push_back({{"level", name_in(vector_level_names, levels[l])},
                                 {"covariances_per_second", elements / of_tile[l]},
                                 {"slopes_per_second", elements / of_slopes[l]}});
    const Covariance one(family, {.smoothness = smoothness}, Metric::euclidean, 15);
    const Random random(3);
    LargestDifference ours, plain;
    for (Index i = 0; i < options.accuracy_points; ++i) {
        const double x = 15 * (1 - random.uniform({.i = static_cast<std::uint64_t>(i)}));
        const auto exact = exact_correlation(family, smoothness, x);
        ours.add(static_cast<double>(one(x) - exact));
        plain.add(static_cast<double>(formula(family, smoothness, x) - exact));
    }
    row["max_error"] = ours.value();
    row["max_error_of_formula"] = plain.value();
    return row;
}

}  // namespace

nlohmann::ordered_json matern_benchmark(const MaternBenchOptions& options) {
    if (options.tile < 1 || options.repetitions < 1 || options.accuracy_points < 1)
        throw Error("the tile ({}), the repetitions ({}) and the points of comparison ({}) must be at least 1",
                    options.tile, options.repetitions, options.accuracy_points);
    const bench::GslErrorsOff off;
    auto results = nlohmann::ordered_json::array();
    for (const double smoothness : options.smoothness) results.push_back(measure(smoothness, options));
    auto families = nlohmann::ordered_json::array();
    for (const auto& [family, text] : covariance_family_names) families.push_back(measure_family(family, options));
    double slowest = std::numeric_limits<double>::infinity(), worst = 0;
    for (const auto& row : results) {
        slowest = std::min(slowest, row.at("covariances_per_second").get<double>());
        worst = std::max(worst, row.at("max_relative_error").get<double>());
    }
    return {{"tile", options.tile},
            {"repetitions", options.repetitions},
            {"results", std::move(results)},
            {"families", std::move(families)},
            {"checks",
             {bench::at_least("covariances per second on one core, least of all", slowest, 100e6),
              bench::at_most("relative error, largest of all", worst, 1e-13)}}};
}

}  // namespace tesela
