#include "tesela/geo/variogram.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/geo/variogram_plot.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

namespace tesela::geo::variogram_test {
namespace {

using tesela::testing::meuse;
using ::testing::HasSubstr;

struct GstatRow {
    Index pairs;
    double distance;
    double gamma;
};
/// variogram(log(zinc) ~ 1, meuse), as gstat's own tests print it (tests/variogram.Rout.save, R 3.0.1).
constexpr std::array<GstatRow, 15> gstat_meuse{{{57, 79.29244, 0.1234479},
                                                {299, 163.97367, 0.2162185},
                                                {419, 267.36483, 0.3027859},
                                                {457, 372.73542, 0.4121448},
                                                {547, 478.47670, 0.4634128},
                                                {533, 585.34058, 0.5646933},
                                                {574, 693.14526, 0.5689683},
                                                {564, 796.18365, 0.6186769},
                                                {589, 903.14650, 0.6471479},
                                                {543, 1011.29177, 0.6915705},
                                                {500, 1117.86235, 0.7033984},
                                                {477, 1221.32810, 0.6038770},
                                                {452, 1329.16407, 0.6517158},
                                                {457, 1437.25620, 0.5665318},
                                                {415, 1543.20248, 0.5748227}}};

TEST(Variogram, OfMeuseIsWhatGstatPrints) {
    const Variogram got = sample_variogram(without_trend(meuse(), Trend::constant), Metric::euclidean);
    ASSERT_EQ(got.points.size(), gstat_meuse.size());
    for (std::size_t k = 0; k < gstat_meuse.size(); ++k) {
        EXPECT_EQ(got.points[k].pairs, gstat_meuse[k].pairs) << k;
        EXPECT_NEAR(got.points[k].distance, gstat_meuse[k].distance, 0.5e-5);
        EXPECT_NEAR(got.points[k].gamma, gstat_meuse[k].gamma, 0.5e-7);
    }
}

// --- the definition with plain loops ---------------------------------------------------------------------------------

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

/// Haversines, where the library has chords.
double slow_distance(const Observations& data, Metric metric, std::size_t i, std::size_t j) {
    const auto& x = data.coordinates;
    if (metric == Metric::euclidean) {
        double squares = 0;
        for (const auto& column : x) squares += std::pow(column[i] - column[j], 2);
        return std::sqrt(squares);
    }
    const double lat = std::pow(std::sin(radians(x[1][i] - x[1][j]) / 2), 2);
    const double lon = std::pow(std::sin(radians(x[0][i] - x[0][j]) / 2), 2);
    const double half = std::sqrt(lat + std::cos(radians(x[1][i])) * std::cos(radians(x[1][j])) * lon);
    return 2 * earth_radius_km * (metric == Metric::chordal ? half : std::asin(std::min(1.0, half)));
}

/// The angle between a pair and an azimuth, from 0 to 90 degrees.
double angle_off(const Observations& data, std::size_t i, std::size_t j, double direction) {
    const auto& x = data.coordinates;
    const double azimuth = std::atan2(x[0][i] - x[0][j], x[1][i] - x[1][j]) * 180 / std::numbers::pi;
    const double off = std::fmod(std::abs(azimuth - direction), 180);
    return std::min(off, 180 - off);
}

VariogramPoint slow_point(const Observations& data, Metric metric, const VariogramOptions& options, double lower,
                          double upper, std::optional<double> direction) {
    VariogramPoint point{.direction = direction.value_or(0)};
    double sum = 0;
    for (std::size_t i = 0; i < data.values.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const double distance = slow_distance(data, metric, i, j);
            const bool inside = (distance > lower || lower == 0) && distance <= upper && distance <= options.cutoff;
            if (!inside || (direction && angle_off(data, i, j, *direction) > options.tolerance)) continue;
            const double difference = std::abs(data.values[i] - data.values[j]);
            sum += options.estimator == VariogramEstimator::robust ? std::sqrt(difference) : difference * difference;
            point.distance += distance;
            ++point.pairs;
        }
    const auto n = static_cast<double>(point.pairs);
    point.distance /= n;
    point.gamma = options.estimator == VariogramEstimator::robust ? std::pow(sum / n, 4) / (2 * (0.457 + 0.494 / n))
                                                                  : sum / n / 2;
    return point;
}

std::vector<VariogramPoint> slow_variogram(const Observations& data, Metric metric, const VariogramOptions& options) {
    std::vector<std::optional<double>> directions(options.directions.begin(), options.directions.end());
    if (directions.empty()) directions.emplace_back();
    std::vector<VariogramPoint> points;
    for (const auto& direction : directions)
        for (int k = 0; k * options.width < options.cutoff; ++k) {
            const VariogramPoint point =
                slow_point(data, metric, options, k * options.width, (k + 1) * options.width, direction);
            if (point.pairs > 0) points.push_back(point);
        }
    return points;
}

Observations random_observations(Metric metric, Index dimensions, Index n, std::uint64_t seed) {
    const Random random(seed);
    Observations data{.coordinates = {}, .values = {}};
    for (Index d = 0; d < dimensions; ++d) {
        const double side = metric == Metric::euclidean ? 1 : d == 0 ? 360 : 178;
        auto& column = data.coordinates.emplace_back();
        for (Index i = 0; i < n; ++i)
            column.push_back(side *
                             (random.uniform({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(d)}) - 0.5));
    }
    for (Index i = 0; i < n; ++i) data.values.push_back(random.normal({static_cast<std::uint64_t>(i), 9}));
    return data;
}

RC_GTEST_PROP(Variogram, EqualsItsDefinition, ()) {
    const auto metric = *rc::gen::element(Metric::euclidean, Metric::chordal, Metric::great_circle);
    const Index dimensions = metric == Metric::euclidean ? *rc::gen::inRange<Index>(1, 4) : 2;
    const Index n = *rc::gen::inRange<Index>(20, 150);
    const Observations data = random_observations(metric, dimensions, n, *rc::gen::arbitrary<std::uint64_t>());
    VariogramOptions options{.estimator = *rc::gen::element(VariogramEstimator::classical, VariogramEstimator::robust)};
    const double longest = PointSet(metric, data.coordinates).diameter_bound();
    options.cutoff = longest * *rc::gen::element(0.3, 0.71, 1.01);
    options.width = options.cutoff / *rc::gen::element(1.0, 6.5, 15.0);
    if (metric == Metric::euclidean && dimensions > 1 && *rc::gen::arbitrary<bool>()) {
        options.directions = {0, 37, 90, 161};
        options.tolerance = *rc::gen::element(11.0, 22.7, 60.0);
    }
    const auto expected = slow_variogram(data, metric, options);
    RC_PRE(!expected.empty());
    const auto got = sample_variogram(data, metric, options).points;
    RC_ASSERT(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        RC_ASSERT(got[k].pairs == expected[k].pairs);
        RC_ASSERT(got[k].direction == expected[k].direction);
        RC_ASSERT(std::abs(got[k].distance - expected[k].distance) <= 1e-10 * longest);
        RC_ASSERT(std::abs(got[k].gamma - expected[k].gamma) <= 1e-10 * (1 + expected[k].gamma));
    }
}

// --- its conventions -------------------------------------------------------------------------------------------------

/// Values 0, 1, 3, 6 on a line, at distances that fall on the ends of intervals, and one more on the first.
const Observations line{.coordinates = {{0, 1, 2, 3, 0}}, .values = {0, 1, 3, 6, 2}};

TEST(Variogram, AnIntervalHasItsUpperEndAndTheFirstHasZeroToo) {
    const auto points = sample_variogram(line, Metric::euclidean, {.cutoff = 3, .width = 1}).points;
    ASSERT_EQ(points.size(), 3U);
    EXPECT_EQ(points[0].pairs, 5);  // of distance 1: three and one more from the twin; of 0: one
    EXPECT_DOUBLE_EQ(points[0].distance, 4.0 / 5);
    EXPECT_DOUBLE_EQ(points[0].gamma, (1 + 4 + 9 + 1 + 4) / 10.0);
    EXPECT_EQ(points[1].pairs, 3);
    EXPECT_DOUBLE_EQ(points[1].distance, 2);
    EXPECT_EQ(points[2].pairs, 2);
    EXPECT_DOUBLE_EQ(points[2].gamma, (36 + 16) / 4.0);
}

TEST(Variogram, TheRobustOneIsCressieAndHawkins) {
    const auto points =
        sample_variogram(line, Metric::euclidean, {.estimator = VariogramEstimator::robust, .cutoff = 3, .width = 1})
            .points;
    const double root = (std::sqrt(6.0) + 2) / 2;
    EXPECT_DOUBLE_EQ(points[2].gamma, 0.5 * std::pow(root, 4) / (0.457 + 0.494 / 2));
}

TEST(Variogram, DirectionsAreClockwiseFromNorth) {
    // North-east, and a twin of the first point that belongs to every direction.
    const Observations data{.coordinates = {{0, 1, 0}, {0, 1, 0}}, .values = {0, 2, 4}};
    const auto points = sample_variogram(data, Metric::euclidean,
                                         {.cutoff = 2, .width = 1, .directions = {0, 45, 135}, .tolerance = 10})
                            .points;
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[0].direction, 0);
    EXPECT_EQ(points[1].direction, 45);
    EXPECT_EQ(points[2].direction, 45);
    EXPECT_EQ(points[2].pairs, 2);
    EXPECT_DOUBLE_EQ(points[2].distance, std::numbers::sqrt2);
    EXPECT_EQ(points[3].direction, 135);
}

TEST(Variogram, DirectionsOnTheEarthAreThoseOfGreatCircles) {
    const auto direction = [](std::vector<double> lon, std::vector<double> lat) {
        const Observations data{.coordinates = {std::move(lon), std::move(lat)}, .values = {0, 1}};
        const auto points = sample_variogram(data, Metric::great_circle,
                                             {.cutoff = 15000, .directions = {0, 45, 90, 135}, .tolerance = 5})
                                .points;
        return points.size() == 1 ? points.front().direction : -1;
    };
    EXPECT_EQ(direction({10, 10}, {50, 60}), 0);
    EXPECT_EQ(direction({0, 20}, {0, 0}), 90);
    EXPECT_EQ(direction({-10, 30}, {70, 70}), 90);    // halfway it goes due east, though the parallel is not its path
    EXPECT_EQ(direction({179, -179}, {10, 12}), 45);  // across 180 degrees
    EXPECT_EQ(direction({179, -179}, {12, 10}), 135);
}

TEST(Variogram, DefaultsAreGstats) {
    const Observations data{.coordinates = {{0, 30, 1}, {0, 40, 1}}, .values = {0, 1, 3}};
    const Variogram got = sample_variogram(data, Metric::euclidean);
    EXPECT_DOUBLE_EQ(got.cutoff, 0.33333 * 50);
    EXPECT_DOUBLE_EQ(got.width, 0.33333 * 50 / 15);
    ASSERT_EQ(got.points.size(), 1U);
}

TEST(Variogram, DoesNotDependOnThreads) {
    const Observations data = random_observations(Metric::euclidean, 2, 700, 5);
    VariogramOptions options{.cutoff = 2, .width = 0.05, .threads = 1};
    const auto one = sample_variogram(data, Metric::euclidean, options).points;
    for (const int threads : {2, 3, 7}) {
        options.threads = threads;
        const auto several = sample_variogram(data, Metric::euclidean, options).points;
        ASSERT_EQ(one.size(), several.size());
        for (std::size_t k = 0; k < one.size(); ++k) {
            EXPECT_EQ(one[k].gamma, several[k].gamma);  // to the last bit
            EXPECT_EQ(one[k].distance, several[k].distance);
        }
    }
}

TEST(Variogram, ATrendOfThePlaneIsTakenAway) {
    Observations data = meuse();
    for (std::size_t i = 0; i < data.values.size(); ++i)
        data.values[i] = 12 + 0.003 * data.coordinates[0][i] - 0.001 * data.coordinates[1][i] + (i % 2 == 0 ? 1 : -1);
    const auto residuals = without_trend(data, Trend::linear).values;
    double sum = 0;
    double along = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        EXPECT_NEAR(std::abs(residuals[i]), 1, 0.5);
        sum += residuals[i];
        along += residuals[i] * (data.coordinates[0][i] - 180000);
    }
    EXPECT_NEAR(sum, 0, 1e-9);  // the normal equations
    EXPECT_NEAR(along, 0, 1e-6);
    double mean = 0;
    for (const double value : without_trend(data, Trend::constant).values) mean += value / 155;
    EXPECT_NEAR(mean, 0, 1e-10);
}

TEST(Variogram, OfAModelStartsAtTheNuggetAndEndsAtTheSill) {
    const Covariance covariance(CovarianceFamily::exponential, {.sigma2 = 2, .range = 3, .nugget = 0.5},
                                Metric::euclidean, 1e3);
    EXPECT_DOUBLE_EQ(model_variogram(covariance, 0), 0.5);
    EXPECT_NEAR(model_variogram(covariance, 3), 2.5 - 2 * std::exp(-1.0), 1e-12);
    EXPECT_NEAR(model_variogram(covariance, 900), 2.5, 1e-12);
}

TEST(Variogram, RefusesWhatMakesNoSense) {
    const auto refusal = [](const VariogramOptions& options) -> std::string {
        try {
            (void)sample_variogram(line, Metric::euclidean, options);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refusal({.cutoff = -1}), HasSubstr("cutoff is -1"));
    EXPECT_THAT(refusal({.cutoff = 1, .width = 2}), HasSubstr("more than the cutoff"));
    EXPECT_THAT(refusal({.cutoff = 1, .width = 1e-9}), HasSubstr("larger width"));
    EXPECT_THAT(refusal({.directions = {0, 90}}), HasSubstr("two coordinates"));
    EXPECT_THAT(refusal({.tolerance = 10}), HasSubstr("needs directions"));
    const Observations apart{.coordinates = {{0, 10}}, .values = {1, 2}};
    EXPECT_THROW((void)sample_variogram(apart, Metric::euclidean, {.cutoff = 1}), Error);
}

std::size_t count(const std::string& text, std::string_view word) {
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
}

TEST(VariogramPlot, HasADotPerIntervalTwoInTheLegendAndACurve) {
    VariogramPlot plot{.title = "Variogram of z & more",
                       .x_label = "distance",
                       .y_label = "gamma",
                       .sample = sample_variogram(meuse(), Metric::euclidean)};
    const std::string without = draw_variogram(plot);
    EXPECT_EQ(count(without, "<circle"), 15U + 2U);
    EXPECT_THAT(without, HasSubstr("Variogram of z &amp; more"));
    EXPECT_THAT(without, HasSubstr("589 pairs"));
    plot.model.emplace(CovarianceFamily::exponential, CovarianceParameters{.sigma2 = 0.6, .range = 300, .nugget = 0.05},
                       Metric::euclidean, 2000);
    plot.model_label = "exponential (m.json)";
    const std::string with = draw_variogram(plot);
    EXPECT_EQ(count(with, "stroke-width=\"1.5\""), 2U);  // the curve and its sample in the legend
    EXPECT_THAT(with, HasSubstr("exponential (m.json)"));
    EXPECT_THROW((void)draw_variogram({.title = "", .x_label = "", .y_label = "", .sample = {}}), Error);
}

}  // namespace
}  // namespace tesela::geo::variogram_test
