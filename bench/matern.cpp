#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/timing.hpp"
#include "shared/bessel.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/covariance_derivatives.hpp"
#include "tesela/kernels/vector_level.hpp"

#include <fmt/format.h>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct MaternOptions {
    std::vector<double> smoothness{0.05, 0.1, 0.3, 0.5, 0.75, 0.9, 1, 1.23, 1.5, 2, 2.5, 3.3, 4, 5};
    Index tile = 640;        // points per tile side
    Index repetitions = 20;  // of the tile by table; the best counts
};

void add_matern_options(CLI::App& command, MaternOptions& options) {
    comma_separated(command.add_option("--smoothness", options.smoothness, "Values to measure"));
    command.add_option("--tile", options.tile, "Rows of the tile")->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
}

constexpr double tile_sigma2 = 1.5;
constexpr double tile_range = 0.1;  // of points in the unit square: arguments to 14
constexpr double largest_argument = 700;
constexpr Index compared_arguments = 1000;  // with multiprecision

double best_seconds(Index repetitions, const auto& action) {
    Best best;
    for (Index r = 0; r < repetitions; ++r) best.add(seconds_of(action));
    return best.seconds();
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
    const double scale = tile_sigma2 * std::exp2(1 - smoothness) / std::tgamma(smoothness);
    const auto rows_x = request.rows->coordinate(0), rows_y = request.rows->coordinate(1);
    const auto cols_x = request.cols->coordinate(0), cols_y = request.cols->coordinate(1);
    for (Index j = 0; j < request.col_count; ++j)
        for (Index i = 0; i < request.row_count; ++i) {
            const auto row = static_cast<std::size_t>(request.row_begin + i);
            const auto col = static_cast<std::size_t>(request.col_begin + j);
            const double dx = rows_x[row] - cols_x[col], dy = rows_y[row] - cols_y[col];
            const double x = std::sqrt(dx * dx + dy * dy) / tile_range;
            request.out[i + j * request.ld] =
                x == 0 ? tile_sigma2 : scale * std::pow(x, smoothness) * gsl_bessel_k(smoothness, x);
        }
}

using FiftyDigits = boost::multiprecision::cpp_bin_float_50;

FiftyDigits exact_correlation(CovarianceFamily family, double smoothness, double x) {
    const FiftyDigits nu(smoothness);
    switch (family) {
        case CovarianceFamily::exponential: return exp(-FiftyDigits(x));
        case CovarianceFamily::squared_exponential: return exp(-FiftyDigits(x) * FiftyDigits(x));
        case CovarianceFamily::powered_exponential: return exp(-pow(FiftyDigits(x), nu));
        default:
            return pow(FiftyDigits(2), 1 - nu) / boost::math::tgamma(nu) * pow(FiftyDigits(x), nu) *
                   boost::math::cyl_bessel_k(nu, FiftyDigits(x));
    }
}

double max_relative_error(double smoothness) {
    const MaternTable table(smoothness, largest_argument);
    const Random random(2);
    LargestDifference worst;
    for (Index i = 0; i < compared_arguments; ++i) {
        const double u = random.uniform({.i = static_cast<std::uint64_t>(i)});
        const double x = std::min(largest_argument, 1e-10 * std::pow(largest_argument / 1e-10, u));
        const FiftyDigits exact = exact_correlation(CovarianceFamily::matern, smoothness, x);
        worst.add(static_cast<double>((FiftyDigits(table(x)) - exact) / exact));
    }
    return worst.value();
}

/// What a table costs to build, the covariances per second of a whole tile (distances, square roots, covariances) with
/// it and with GSL's Bessel function, and the table's largest relative error for x log-uniform in [1e-10, 700].
Row measure_smoothness(double smoothness, const MaternOptions& options) {
    const PointSet points = points_in_unit_square(2 * options.tile);
    const CovarianceParameters parameters{.sigma2 = tile_sigma2, .range = tile_range, .smoothness = smoothness};
    const double bound = points.diameter_bound();
    const Covariance covariance(CovarianceFamily::matern, parameters, Metric::euclidean, bound);
    std::vector<double> out(static_cast<std::size_t>(options.tile * options.tile));
    const CovarianceTileRequest request = request_of(points, out);
    const auto rate = [&](double seconds) { return static_cast<double>(out.size()) / seconds; };

    const double build = best_seconds(5, [&] { const MaternTable table(smoothness, bound / tile_range); });
    const double build_all = best_seconds(5, [&] { const MaternTable table(smoothness, largest_argument); });
    const double table_rate = rate(best_seconds(options.repetitions, [&] { covariance.fill_tile(request); }));
    Row gsl_rate;  // null without GSL
    if (has_gsl()) gsl_rate = rate(seconds_of([&] { fill_with_gsl(request, smoothness); }));
    return {{"smoothness", smoothness},
            {"table_build_seconds", build},
            {"table_to_700_build_seconds", build_all},
            {"covariances_per_second", table_rate},
            {"gsl_covariances_per_second", gsl_rate},
            {"max_relative_error", max_relative_error(smoothness)}};
}

/// The correlation as its formula has it, one call of libm or two for each element.
double correlation_by_libm(CovarianceFamily family, double smoothness, double x) {
    switch (family) {
        case CovarianceFamily::exponential: return std::exp(-x);
        case CovarianceFamily::squared_exponential: return std::exp(-x * x);
        case CovarianceFamily::powered_exponential: return std::exp(-std::pow(x, smoothness));
        default: return MaternFunction(smoothness)(x).rho;
    }
}

constexpr double family_smoothness = 1.23;

/// The largest error of correlations in (0, 15] against 50 digits, and that of libm's functions.
struct CorrelationErrors {
    LargestDifference ours, libm;
};
CorrelationErrors errors_of(CovarianceFamily family) {
    const Covariance one(family, {.smoothness = family_smoothness}, Metric::euclidean, 15);
    const Random random(3);
    CorrelationErrors errors;
    for (Index i = 0; i < compared_arguments; ++i) {
        const double x = 15 * (1 - random.uniform({.i = static_cast<std::uint64_t>(i)}));
        const auto exact = exact_correlation(family, family_smoothness, x);
        errors.ours.add(static_cast<double>(one(x) - exact));
        errors.libm.add(static_cast<double>(correlation_by_libm(family, family_smoothness, x) - exact));
    }
    return errors;
}

/// Elements per second of a tile, and of one of its derivatives, at each level of vector instructions in turn.
std::vector<Row> measure_levels(CovarianceFamily family, const MaternOptions& options) {
    const PointSet points = points_in_unit_square(2 * options.tile);
    const Covariance covariance(family, {.sigma2 = tile_sigma2, .range = tile_range, .smoothness = family_smoothness},
                                Metric::euclidean, points.diameter_bound());
    const CovarianceDerivatives slopes(covariance, points.diameter_bound());
    std::vector<double> out(static_cast<std::size_t>(options.tile * options.tile));
    const CovarianceTileRequest request = request_of(points, out);
    const std::vector<VectorLevel> levels = vector_levels();
    std::vector<Best> of_tile(levels.size()), of_slopes(levels.size());
    for (Index repetition = 0; repetition < options.repetitions; ++repetition)
        for (std::size_t l = 0; l < levels.size(); ++l) {
            use_vector_level(levels[l]);
            of_tile[l].add(seconds_of([&] { covariance.fill_tile(request); }));
            of_slopes[l].add(seconds_of([&] { slopes.fill_tile(request, {1, 1, 1, 1}); }));
        }
    const auto elements = static_cast<double>(out.size());
    const CorrelationErrors errors = errors_of(family);
    std::vector<Row> rows;
    for (std::size_t l = 0; l < levels.size(); ++l)
        rows.push_back({{"family", name(family)},
                        {"level", name_in(vector_level_names, levels[l])},
                        {"covariances_per_second", elements / of_tile[l].seconds()},
                        {"slopes_per_second", elements / of_slopes[l].seconds()},
                        {"max_error", errors.ours.value()},
                        {"max_error_of_formula", errors.libm.value()}});
    return rows;
}

/// On one core.
Report measure_matern(const MaternOptions& options) {
    if (options.tile < 1 || options.repetitions < 1)
        throw Error("the tile ({}) and the repetitions ({}) must be at least 1", options.tile, options.repetitions);
    const GslErrorsOff off;
    Report report{.figures = {{"tile", options.tile}, {"repetitions", options.repetitions}}};
    double slowest = std::numeric_limits<double>::infinity(), worst = 0;
    for (const double smoothness : options.smoothness) {
        const Row& row = report.rows.emplace_back(measure_smoothness(smoothness, options));
        slowest = std::min(slowest, row.at("covariances_per_second").get<double>());
        worst = std::max(worst, row.at("max_relative_error").get<double>());
    }
    Row& families = report.figures["families"] = Row::array();
    for (const auto& [family, text] : covariance_family_names)
        for (Row& row : measure_levels(family, options)) families.push_back(std::move(row));
    report.checks = {at_least("covariances per second on one core, least of all", slowest, 100e6),
                     at_most("relative error, largest of all", worst, 1e-13)};
    return report;
}

}  // namespace

Experiment matern() {
    return experiment("matern",
                      "Speed and error of the tabulated Matérn covariance beside GSL's; exit code 1 below 100 million "
                      "a second or above a relative error of 1e-13",
                      add_matern_options, measure_matern);
}

}  // namespace tesela::bench
