#include "tesela/geo/covariance.hpp"

#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::covariance_test {
namespace {

constexpr std::array all_families{CovarianceFamily::matern, CovarianceFamily::exponential,
                                  CovarianceFamily::squared_exponential, CovarianceFamily::powered_exponential};
constexpr std::array all_metrics{Metric::euclidean, Metric::chordal, Metric::great_circle};

/// Points in the unit cube, or anywhere on the Earth.
PointSet random_points(Metric metric, std::size_t dimensions, std::size_t count, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> unit(0, 1), lon(-180, 180), lat(-90, 90);
    std::vector<std::vector<double>> columns(metric == Metric::euclidean ? dimensions : 2, std::vector<double>(count));
    for (std::size_t d = 0; d < columns.size(); ++d)
        for (double& x : columns[d])
            x = metric == Metric::euclidean ? unit(generator) : (d == 0 ? lon : lat)(generator);
    return {metric, columns};
}

std::string message_of(const auto& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// The whole covariance matrix of one set as one tile.
std::vector<double> matrix_of(const Covariance& covariance, const PointSet& points) {
    const Index n = points.size();
    std::vector<double> out(static_cast<std::size_t>(n * n));
    covariance.fill_tile({.rows = &points,
                          .row_count = n,
                          .cols = &points,
                          .col_count = n,
                          .out = out.data(),
                          .ld = n,
                          .sets = ObservationSets::same});
    return out;
}

/// Whether Cholesky's pivots of a column-major n x n matrix are all positive.
bool is_positive_definite(std::vector<double> a, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) {
        if (!(a[k + k * n] > 0)) return false;
        for (std::size_t j = k + 1; j < n; ++j)
            for (std::size_t i = j; i < n; ++i) a[i + j * n] -= a[i + k * n] * a[j + k * n] / a[k + k * n];
    }
    return true;
}

TEST(Covariance, FollowsTheFormulaOfEachFamily) {
    const double sigma2 = 2.5, range = 0.2;
    const auto make = [&](CovarianceFamily family, double smoothness) {
        return Covariance(family, {.sigma2 = sigma2, .range = range, .smoothness = smoothness}, Metric::euclidean, 2);
    };
    const Covariance matern = make(CovarianceFamily::matern, 1.5), exponential = make(CovarianceFamily::exponential, 0);
    const Covariance squared = make(CovarianceFamily::squared_exponential, 0);
    const Covariance powered = make(CovarianceFamily::powered_exponential, 1.3);
    for (double r = 0.001; r < 2; r *= 1.2) {
        const double x = r / range;
        EXPECT_NEAR(matern(r) / (sigma2 * (1 + x) * std::exp(-x)), 1, 1e-14);
        EXPECT_NEAR(exponential(r) / (sigma2 * std::exp(-x)), 1, 1e-14);
        EXPECT_NEAR(squared(r) / (sigma2 * std::exp(-x * x)), 1, 1e-13);
        EXPECT_NEAR(powered(r) / (sigma2 * std::exp(-std::pow(x, 1.3))), 1, 1e-13);
    }
    for (const auto* covariance : {&matern, &exponential, &squared, &powered}) EXPECT_EQ((*covariance)(0), sigma2);
}

TEST(Covariance, PoweredExponentialContainsTheOtherTwo) {
    const auto make = [](CovarianceFamily family, double smoothness) {
        return Covariance(family, {.range = 0.7, .smoothness = smoothness}, Metric::euclidean, 5);
    };
    for (double r = 0; r < 5; r += 0.1) {
        EXPECT_NEAR(make(CovarianceFamily::powered_exponential, 1)(r), make(CovarianceFamily::exponential, 1)(r),
                    1e-15);
        EXPECT_NEAR(make(CovarianceFamily::powered_exponential, 2)(r),
                    make(CovarianceFamily::squared_exponential, 1)(r), 1e-15);
    }
}

TEST(Covariance, NuggetIsAddedToTheSameObservationNotToTheSamePlace) {
    const PointSet points(Metric::euclidean, {{0.0, 0.0, 1.0}});  // two observations at one place
    const Covariance covariance(CovarianceFamily::matern, {.sigma2 = 2, .smoothness = 1.5, .nugget = 0.25},
                                Metric::euclidean, points.diameter_bound());
    const double apart = 2 * 2 * std::exp(-1.0);
    const std::vector<double> same = matrix_of(covariance, points);
    const std::vector<double> expected{2.25, 2, apart, 2, 2.25, apart, apart, apart, 2.25};
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(same[i], expected[i], 1e-14) << i;

    std::vector<double> different(9);
    covariance.fill_tile(
        {.rows = &points, .row_count = 3, .cols = &points, .col_count = 3, .out = different.data(), .ld = 3});
    EXPECT_EQ(different[0], 2);
    EXPECT_EQ(covariance.variance(), 2.25);
}

TEST(Covariance, MatrixIsSymmetricToTheLastBit) {
    for (const Metric metric : all_metrics) {
        const PointSet points = random_points(metric, 2, 67, 1);
        const Covariance covariance(CovarianceFamily::matern, {.range = 0.3, .smoothness = 0.4, .nugget = 0.1}, metric,
                                    points.diameter_bound());
        const std::vector<double> a = matrix_of(covariance, points);
        for (std::size_t i = 0; i < 67; ++i)
            for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(a[i + 67 * j], a[j + 67 * i]) << i << ' ' << j;
    }
}

TEST(Covariance, IsPositiveDefiniteWhereItIsAllowed) {
    for (const Metric metric : all_metrics)
        for (const CovarianceFamily family : all_families) {
            const CovarianceParameters parameters{.range = metric == Metric::euclidean ? 0.1 : 500, .smoothness = 0.5};
            if (metric == Metric::great_circle && family == CovarianceFamily::squared_exponential) continue;
            const PointSet points = random_points(metric, 2, 60, 2);
            const Covariance covariance(family, parameters, metric, points.diameter_bound());
            EXPECT_TRUE(is_positive_definite(matrix_of(covariance, points), 60)) << name(family) << ' ' << name(metric);
        }
}

TEST(Covariance, DistancesBeyondTheBoundAreStillRight) {
    const Covariance covariance(CovarianceFamily::matern, {.smoothness = 2.5}, Metric::euclidean, 1);
    const double x = 40;
    EXPECT_NEAR(covariance(x) / ((1 + x + x * x / 3) * std::exp(-x)), 1, 1e-14);
}

/// A tile somewhere in the covariance of two sets, with rows to spare below each column.
struct RandomTile {
    Index row_begin, row_count, col_begin, col_count, ld;
};
RandomTile random_tile(Index rows, Index cols) {
    const Index row_begin = *rc::gen::inRange<Index>(0, rows), col_begin = *rc::gen::inRange<Index>(0, cols);
    const Index row_count = *rc::gen::inRange<Index>(0, rows - row_begin + 1);
    const Index col_count = *rc::gen::inRange<Index>(0, std::min<Index>(cols - col_begin, 12) + 1);
    return {row_begin, row_count, col_begin, col_count, row_count + *rc::gen::inRange<Index>(0, 4)};
}

RC_GTEST_PROP(CovarianceProperties, ATileHoldsTheBitsOfItsElements, ()) {
    const auto family = *rc::gen::elementOf(all_families);
    const auto metric = family == CovarianceFamily::squared_exponential
                            ? *rc::gen::element(Metric::euclidean, Metric::chordal)
                            : *rc::gen::elementOf(all_metrics);
    const auto sets = *rc::gen::element(ObservationSets::same, ObservationSets::different);
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 4);
    const PointSet points = random_points(metric, dimensions, 300, *rc::gen::arbitrary<unsigned>());
    const Covariance covariance(family,
                                {.sigma2 = 1.7,
                                 .range = points.diameter_bound() * 0.01 * *rc::gen::inRange(1, 200),
                                 .smoothness = 0.01 * *rc::gen::inRange(1, 51),
                                 .nugget = 0.5},
                                metric, points.diameter_bound());
    const RandomTile tile = random_tile(300, 300);
    constexpr double untouched = -7;
    std::vector<double> out(static_cast<std::size_t>(tile.ld * tile.col_count), untouched);
    covariance.fill_tile({.rows = &points,
                          .row_begin = tile.row_begin,
                          .row_count = tile.row_count,
                          .cols = &points,
                          .col_begin = tile.col_begin,
                          .col_count = tile.col_count,
                          .out = out.data(),
                          .ld = tile.ld,
                          .sets = sets});
    for (Index j = 0; j < tile.col_count; ++j)
        for (Index i = 0; i < tile.ld; ++i) {
            const double element = out[static_cast<std::size_t>(i + j * tile.ld)];
            if (i >= tile.row_count) {
                RC_ASSERT(element == untouched);
                continue;
            }
            const Index row = tile.row_begin + i, col = tile.col_begin + j;
            const double nugget = sets == ObservationSets::same && row == col ? 0.5 : 0;
            RC_ASSERT(element == covariance(distance(points, row, points, col)) + nugget);
        }
}

TEST(Points, EuclideanDistanceIsPythagoras) {
    const PointSet points(Metric::euclidean, {{0, 3}, {0, 4}, {0, 12}});
    EXPECT_EQ(distance(points, 0, points, 1), 13);
    const PointSet line(Metric::euclidean, {{-2, 5}});
    EXPECT_EQ(distance(line, 0, line, 1), 7);
}

TEST(Points, GreatCircleDistancesOfCitiesAreThePublishedOnes) {
    // London, Paris, New York, Tokyo, Sydney; distances of atlases are along the ellipsoid, within 0.6 % of the sphere.
    const PointSet cities(Metric::great_circle, {{-0.1278, 2.3522, -74.0060, 139.6917, 151.2093},
                                                 {51.5074, 48.8566, 40.7128, 35.6895, -33.8688}});
    EXPECT_NEAR(distance(cities, 0, cities, 1), 344, 0.006 * 344);
    EXPECT_NEAR(distance(cities, 0, cities, 2), 5585, 0.006 * 5585);
    EXPECT_NEAR(distance(cities, 3, cities, 4), 7792, 0.006 * 7792);
}

TEST(Points, DistancesOnTheSphereHaveTheirClosedForms) {
    constexpr double radius = earth_radius_km, pi = std::numbers::pi;
    const std::vector<std::vector<double>> degrees{{0, 90, 0, 180, -180, 1, 123}, {0, 0, 90, 0, 0, 0, 90}};
    const PointSet arc(Metric::great_circle, degrees), chord(Metric::chordal, degrees);
    EXPECT_NEAR(distance(arc, 0, arc, 1), radius * pi / 2, 1e-9);
    EXPECT_NEAR(distance(arc, 0, arc, 2), radius * pi / 2, 1e-9);
    EXPECT_NEAR(distance(arc, 0, arc, 5), radius * pi / 180, 1e-9);
    EXPECT_EQ(distance(arc, 0, arc, 3), radius * pi);
    EXPECT_EQ(distance(arc, 3, arc, 4), 0) << "-180 and 180 degrees are one meridian";
    EXPECT_EQ(distance(arc, 2, arc, 6), 0) << "a pole has every longitude";
    EXPECT_EQ(distance(chord, 0, chord, 3), 2 * radius);
    EXPECT_NEAR(distance(chord, 0, chord, 1), radius * std::sqrt(2.0), 1e-9);
}

RC_GTEST_PROP(PointProperties, GreatCircleIsTheHaversineFormulaAndChordItsSine, ()) {
    const auto degree = [](int limit) { return 0.01 * *rc::gen::inRange(-100 * limit, 100 * limit + 1); };
    const double lon1 = degree(180), lat1 = degree(90), lon2 = degree(180), lat2 = degree(90);
    const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
    const auto haversine = [](double angle) { return std::pow(std::sin(angle / 2), 2); };
    const double h = haversine(radians(lat2 - lat1)) +
                     std::cos(radians(lat1)) * std::cos(radians(lat2)) * haversine(radians(lon2 - lon1));
    const double chord = 2 * earth_radius_km * std::sqrt(h);
    const PointSet on_arc(Metric::great_circle, {{lon1, lon2}, {lat1, lat2}});
    const PointSet in_space(Metric::chordal, {{lon1, lon2}, {lat1, lat2}});
    RC_ASSERT(std::abs(distance(in_space, 0, in_space, 1) - chord) < 1e-9);
    // The arc is ill-conditioned near the antipode: its error is that of the chord over the cosine.
    const double arc = 2 * earth_radius_km * std::asin(std::min(1.0, std::sqrt(h)));
    const double tolerance = 1e-9 / std::sqrt(std::max(1e-8, 1 - h));
    RC_ASSERT(std::abs(distance(on_arc, 0, on_arc, 1) - arc) < tolerance);
}

RC_GTEST_PROP(PointProperties, NoDistanceExceedsTheBound, ()) {
    const auto metric = *rc::gen::elementOf(all_metrics);
    const auto dimensions = *rc::gen::inRange<std::size_t>(1, 4);
    const PointSet a = random_points(metric, dimensions, 20, *rc::gen::arbitrary<unsigned>());
    const PointSet b = random_points(metric, dimensions, 20, *rc::gen::arbitrary<unsigned>());
    for (Index i = 0; i < 20; ++i)
        for (Index j = 0; j < 20; ++j) {
            RC_ASSERT(distance(a, i, a, j) <= a.diameter_bound());
            RC_ASSERT(distance(a, i, b, j) <= a.distance_bound(b));
        }
}

TEST(Points, BoundOfOnePointOrNoneIsZero) {
    EXPECT_EQ(PointSet(Metric::euclidean, {{3.0}, {4.0}}).diameter_bound(), 0);
    EXPECT_EQ(PointSet(Metric::euclidean, {std::vector<double>{}}).diameter_bound(), 0);
}

TEST(Points, RefusesCoordinatesThatAreNotPoints) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(PointSet(Metric::euclidean, {}), Error);
    EXPECT_THROW(PointSet(Metric::euclidean, {{0}, {0}, {0}, {0}}), Error);
    EXPECT_THROW(PointSet(Metric::euclidean, {{0, 1}, {0}}), Error);
    EXPECT_THROW(PointSet(Metric::euclidean, {{0, nan}}), Error);
    EXPECT_THROW(PointSet(Metric::chordal, {{0}}), Error);
    EXPECT_THROW(PointSet(Metric::chordal, {{0}, {91}}), Error);
    EXPECT_THROW(PointSet(Metric::great_circle, {{-181}, {0}}), Error);
    const PointSet plane(Metric::euclidean, {{0}, {0}}), sphere(Metric::chordal, {{0}, {0}});
    EXPECT_THROW((void)plane.distance_bound(sphere), Error);
}

TEST(Validate, NamesTheParameterThatIsWrong) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const CovarianceFamily family : all_families)
        for (const double bad : {-1.0, nan, infinity}) {
            const auto expect_named = [&](const CovarianceParameters& parameters, const std::string& parameter) {
                const std::string text = message_of([&] { validate(family, parameters, Metric::euclidean); });
                EXPECT_EQ(text.rfind(parameter + " is ", 0), 0U) << name(family) << ": " << text;
            };
            expect_named({.sigma2 = bad}, "sigma2");
            expect_named({.range = bad}, "range");
            expect_named({.smoothness = bad}, "smoothness");
            expect_named({.nugget = bad}, "nugget");
        }
    EXPECT_THROW(validate(CovarianceFamily::exponential, {.range = 0}, Metric::euclidean), Error);
    EXPECT_THROW(validate(CovarianceFamily::matern, {.smoothness = 0}, Metric::euclidean), Error);
    EXPECT_THROW(validate(CovarianceFamily::powered_exponential, {.smoothness = 2.1}, Metric::euclidean), Error);
    EXPECT_NO_THROW(validate(CovarianceFamily::powered_exponential, {.smoothness = 2}, Metric::euclidean));
}

TEST(Validate, RefusesGreatCircleWhereItIsNotPositiveDefinite) {
    const auto refusal = [](CovarianceFamily family, double smoothness) {
        return message_of([&] { validate(family, {.smoothness = smoothness}, Metric::great_circle); });
    };
    for (const std::string& text :
         {refusal(CovarianceFamily::matern, 0.51), refusal(CovarianceFamily::squared_exponential, 0.5),
          refusal(CovarianceFamily::powered_exponential, 1.01)}) {
        EXPECT_NE(text.find("not positive definite"), std::string::npos) << text;
        EXPECT_NE(text.find("chordal"), std::string::npos) << text;
    }
    EXPECT_EQ(refusal(CovarianceFamily::matern, 0.5), "");
    EXPECT_EQ(refusal(CovarianceFamily::exponential, 3), "");
    EXPECT_EQ(refusal(CovarianceFamily::powered_exponential, 1), "");
    EXPECT_NO_THROW(validate(CovarianceFamily::matern, {.smoothness = 3}, Metric::chordal));
}

TEST(CovarianceNames, ParseToWhatTheyName) {
    for (const CovarianceFamily family : all_families) EXPECT_EQ(parse_covariance_family(name(family)), family);
    for (const Metric metric : all_metrics) EXPECT_EQ(parse_metric(name(metric)), metric);
    EXPECT_NE(message_of([] { (void)parse_covariance_family("gaussian"); }).find("squared_exponential"),
              std::string::npos);
    EXPECT_THROW((void)parse_metric("manhattan"), Error);
}

TEST(CovarianceNames, ConventionNamesTheParametersTheFamilyHas) {
    for (const CovarianceFamily family : all_families) {
        const std::string_view line = convention(family);
        for (const auto* parameter : {"sigma2", "range", "nugget"})
            EXPECT_NE(line.find(parameter), std::string_view::npos) << line;
        const bool has_smoothness =
            family == CovarianceFamily::matern || family == CovarianceFamily::powered_exponential;
        EXPECT_EQ(line.find("smoothness") != std::string_view::npos, has_smoothness) << line;
    }
}

}  // namespace
}  // namespace tesela::covariance_test
