#include "tesela/geo/sample.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/largest_difference.hpp"
#include "tesela/base/random.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace tesela::geo::sample_test {
namespace {

using ::testing::HasSubstr;

const Field smooth{.theta = {.sigma2 = 2, .range = 0.1, .smoothness = 1.2, .nugget = 0.2}};

RC_GTEST_PROP(Sample, DoesNotDependOnTilesAndNodes, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 90);
    const auto points = random_points(n, 3);
    InlineEngine one;
    Stream s(one);
    const auto whole = sample(s, smooth, points, {.seed = 9, .tile = n});
    InlineEngine many(*rc::gen::inRange<Index>(1, 6));
    Stream t(many);
    const Index tile = *rc::gen::inRange<Index>(5, 60);
    const Distribution owners = random_distribution(Tiling::square(n, tile).grid(), many.node_count(), 1);
    RC_ASSERT(largest_difference(whole, sample(t, smooth, points, {.seed = 9, .tile = tile, .distribution = owners})) <
              1e-12);
}

TEST(Sample, TheFirstPointsOfALargerSampleAreTheSmallerOne) {
    // Both e and the leading block of L are.
    InlineEngine engine;
    Stream s(engine);
    auto more = sample(s, smooth, random_points(80, 3), {.seed = 5, .tile = 32});
    const auto fewer = sample(s, smooth, random_points(30, 3), {.seed = 5, .tile = 32});
    more.resize(30);
    EXPECT_LT(largest_difference(more, fewer), 1e-12);
}

TEST(Sample, SeveralDrawsShareAFactorAndTheFirstIsTheOneDrawnAlone) {
    const auto points = random_points(70, 3);
    InlineEngine engine(3);
    Stream s(engine);
    const auto alone = sample(s, smooth, points, {.seed = 5, .tile = 32});
    // More than one tile of columns.
    const auto draws = sample_fields(s, smooth, points, {.seed = 5, .draws = 150, .tile = 32});
    ASSERT_EQ(draws.size(), 150U);
    EXPECT_LT(largest_difference(draws[0], alone), 1e-12);
    const auto fewer = sample_fields(s, smooth, points, {.seed = 5, .draws = 2, .tile = 70});
    EXPECT_LT(largest_difference(draws[1], fewer[1]), 1e-12);
    double between = 0;  // two draws are independent: their mean product is 0 at every point
    double variance = 0;
    for (std::size_t i = 0; i < 70; ++i)
        for (std::size_t d = 0; d + 1 < draws.size(); d += 2) {
            between += draws[d][i] * draws[d + 1][i] / (70 * 75);
            variance += draws[d][i] * draws[d][i] / (70 * 75);
        }
    EXPECT_NEAR(variance, 2.2, 0.5);
    EXPECT_NEAR(between, 0, 0.3);
    EXPECT_THROW((void)sample_fields(s, smooth, points, {.draws = 0}), Error);
}

TEST(Sample, WhiteNoiseIsTheScaledNormalsAboutTheMean) {
    InlineEngine engine;
    Stream s(engine);
    const Field noise{.theta = {.sigma2 = 0, .range = 1, .smoothness = 0.5, .nugget = 4}, .mean = 7};
    const auto a = sample(s, noise, random_points(1500, 1), {.seed = 1, .tile = 250});
    double mean = 0;
    double squares = 0;
    for (const double v : a) {
        mean += v / 1500;
        squares += (v - 7) * (v - 7) / 1500;
    }
    EXPECT_NEAR(mean, 7, 5 * 2 / std::sqrt(1500.0));
    EXPECT_NEAR(squares, 4, 5 * 4 * std::sqrt(2.0 / 1500));
    EXPECT_NE(a, sample(s, noise, random_points(1500, 1), {.seed = 2, .tile = 250}));
}

TEST(Sample, PairsHaveTheCovarianceOfTheModel) {
    InlineEngine engine;
    Stream s(engine);
    const std::vector<std::vector<double>> points{{0, 0.05, 0.3}, {0, 0, 0}};
    const Covariance covariance(smooth.family, smooth.theta, smooth.metric, 1);
    constexpr int draws = 4000;
    double variance = 0;
    double near = 0;
    double far = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
        const auto z = sample(s, smooth, points, {.seed = seed, .tile = 2});
        variance += z[0] * z[0] / draws;
        near += z[0] * z[1] / draws;
        far += z[0] * z[2] / draws;
    }
    const double tolerance = 5 * 2.2 * std::sqrt(2.0 / draws);
    EXPECT_NEAR(variance, 2.2, tolerance);
    EXPECT_NEAR(near, covariance(0.05), tolerance);
    EXPECT_NEAR(far, covariance(0.3), tolerance);
}

TEST(RandomPoints, FillTheUnitSquare) {
    const auto points = random_points(10000, 8);
    ASSERT_EQ(points.size(), 2U);
    for (const auto& column : points) {
        double mean = 0;
        for (const double x : column) {
            ASSERT_GE(x, 0);
            ASSERT_LT(x, 1);
            mean += x / 10000;
        }
        EXPECT_NEAR(mean, 0.5, 5 * std::sqrt(1 / 12.0 / 10000));
    }
    EXPECT_NE(points[0], points[1]);
}

TEST(RandomPoints, FillABoxOfAnyDimension) {
    const auto points = random_points(1000, 8, {.low = {10, -2, 5}, .high = {20, -1, 5}});
    ASSERT_EQ(points.size(), 3U);
    EXPECT_THAT(points[0], ::testing::Each(::testing::AllOf(::testing::Ge(10), ::testing::Lt(20))));
    EXPECT_THAT(points[1], ::testing::Each(::testing::AllOf(::testing::Ge(-2), ::testing::Le(-1))));
    EXPECT_THAT(points[2], ::testing::Each(5));
    EXPECT_NE(points[0][0] - 10, 10 * (points[1][0] + 2));
}

TEST(Sample, NamesTheClosestPointsOfASingularMatrix) {
    InlineEngine engine;
    Stream s(engine);
    const Field exact{.theta = {.sigma2 = 1, .range = 1, .smoothness = 1.5, .nugget = 0}};
    const std::vector<std::vector<double>> twins{{0.5, 0.5, 0}, {0.5, 0.5, 0}};
    try {
        (void)sample(s, exact, twins, {.tile = 2});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("point 0 (counted from 0) and point 1"));
    }
    Field jittered = exact;
    jittered.jitter = 1e-8;
    EXPECT_NO_THROW((void)sample(s, jittered, twins, {.tile = 2}));
    EXPECT_THROW((void)sample(s, exact, {{}, {}}), Error);
}

}  // namespace
}  // namespace tesela::geo::sample_test
