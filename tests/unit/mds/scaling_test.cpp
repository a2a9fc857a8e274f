#include "tesela/mds/scaling.hpp"

#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/mds/placement.hpp"
#include "tesela/mds/point_distances.hpp"
#include "unit/mds/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

namespace tesela::mds::mds_scaling_test {
namespace {

using tesela::testing::distance_between;
using tesela::testing::made_matrix;
using tesela::testing::matrix_of;
using tesela::testing::random_points;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double eight_digits = 1e-8;
#define EXPECT_REL(got, wanted, tolerance) EXPECT_NEAR(got, wanted, (tolerance)*std::abs(wanted))

// cmdscale(eurodist, k = 2, eig = TRUE) of R 4.2.
TEST(Scaling, OfEurodistIsWhatCmdscaleGives) {
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *matrix_of("eurodist.csv"), {.dimensions = 2});
    const std::vector<double>& values = scaling.decomposition.values;
    const std::vector<double> wanted{1.95383770895428e+07,  1.18565553340011e+07,  1.52884446798737e+06,
                                     1.11874195050876e+06,  7.89347202680121e+05,  5.81655206719772e+05,
                                     2.62319207701126e+05,  1.92597561676215e+05,  1.45084534964410e+05,
                                     1.07967306926214e+05,  5.13948411077443e+04,  0,
                                     -9.49612421916611e+03, -5.30581956694731e+04, -1.32216574997657e+05,
                                     -2.57336025563690e+05, -3.32671900716027e+05, -5.16252254234440e+05,
                                     -9.19149098412088e+05, -1.00650396017177e+06, -2.25184433173616e+06};
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(values[k], wanted[k], 1e-14 * wanted[0]) << k;
    EXPECT_TRUE(scaling.fit.is_exact());
    EXPECT_REL(scaling.fit.of_magnitudes.low, 0.753754315507984, 1e-12);
    EXPECT_REL(scaling.fit.of_positive.low, 0.867913429647823, 1e-12);
    // Athens is first, and has the largest first coordinate, whose sign is therefore positive.
    EXPECT_REL(scaling.coordinate(0, 0), 2290.27467963145, eight_digits);
    EXPECT_REL(std::abs(scaling.coordinate(0, 1)), 1798.80292808528, eight_digits);
    const NegativeEigenvalues negative = negative_eigenvalues(scaling.decomposition);
    EXPECT_EQ(negative.known, 9);
    EXPECT_REL(negative.smallest, -2251844.33173616, 1e-10);
}

// The definition of vegan's wcmdscale, evaluated in R with weights 1 to 21.
TEST(Scaling, WithWeightsIsWhatWcmdscaleGives) {
    std::vector<double> weights(21);
    std::iota(weights.begin(), weights.end(), 1.0);
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *matrix_of("eurodist.csv"), {.dimensions = 2, .row_weights = weights});
    const std::vector<double>& values = scaling.decomposition.values;
    EXPECT_REL(values[0], 196790889.6022597, 1e-12);
    EXPECT_REL(values[1], 95991418.5847680, 1e-12);
    EXPECT_REL(values[2], 17145695.2247078, 1e-12);
    EXPECT_REL(values[20], -14196354.8041117, 1e-12);
    EXPECT_REL(std::abs(scaling.coordinate(0, 0)), 1098.04810167421, eight_digits);
    EXPECT_REL(std::abs(scaling.coordinate(0, 1)), 3126.93147569180, eight_digits);
    EXPECT_REL(scaling.fit.of_magnitudes.low, 0.762442486830386, 1e-12);
    EXPECT_REL(scaling.fit.of_positive.low, 0.861272196633733, 1e-12);
}

TEST(Scaling, OfIrisHasTheSquaredSingularValuesOfTheData) {
    InlineEngine engine;
    Stream stream(engine);
    const auto distances = point_distances(*matrix_of("iris.csv"));
    const Scaling scaling = scale(stream, *distances, {.dimensions = 4});
    const std::vector<double> wanted{630.0080142, 36.15794144, 11.65321551, 3.551428853};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_REL(scaling.decomposition.values[k], wanted[k], 5e-10);
    const Decomposition data = decompose(stream, *matrix_of("iris.csv"), Analysis::components, {.dimensions = 4});
    for (std::size_t k = 0; k < 4; ++k) EXPECT_REL(scaling.decomposition.values[k], std::pow(data.values[k], 2), 1e-12);
    EXPECT_REL(scaling.decomposition.trace, data.frobenius, 1e-12);
}

TEST(Scaling, WholeWeightsAreRepeatedPoints) {
    const auto points = random_points(12, 3, 8);
    const MatrixValues values = read_all(*points);
    const auto twice = made_matrix(18, 3, [&](Index i, Index j) {
        return values.values[static_cast<std::size_t>((i < 12 ? i : i - 12) + j * 12)];
    });
    std::vector<double> weights(12, 1.0);
    std::fill_n(weights.begin(), 6, 2.0);
    InlineEngine engine;
    Stream stream(engine);
    const Scaling weighted = scale(stream, *point_distances(*points), {.dimensions = 3, .row_weights = weights});
    const Scaling repeated = scale(stream, *point_distances(*twice), {.dimensions = 3});
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_REL(weighted.decomposition.values[k], repeated.decomposition.values[k], 1e-12);
    for (Index i = 0; i < 12; ++i)
        for (Index k = 0; k < 3; ++k)
            EXPECT_NEAR(std::abs(weighted.coordinate(i, k)), std::abs(repeated.coordinate(i, k)), 1e-10);
}

RC_GTEST_PROP(Scaling, DistancesOfPointsAreRecovered, ()) {
    const auto dimensions = *rc::gen::inRange<Index>(1, 6);
    const auto count = *rc::gen::inRange<Index>(dimensions + 2, 40);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto weighted = *rc::gen::arbitrary<bool>();
    const auto distances = point_distances(*random_points(count, dimensions, seed));
    const MatrixValues D = read_all(*distances);
    std::vector<double> weights;
    if (weighted)
        for (Index i = 0; i < count; ++i)
            weights.push_back(0.1 + Random(seed).uniform({.i = static_cast<std::uint64_t>(i), .j = 99}));
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *distances, {.dimensions = dimensions, .row_weights = weights});
    RC_ASSERT(scaling.dimensions == dimensions);
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j) {
            const double wanted = D.values[static_cast<std::size_t>(i + j * count)];
            RC_ASSERT(std::abs(distance_between(scaling.coordinates, count, i, j) - wanted) <= 1e-9);
        }
    RC_ASSERT(scaling.fit.of_positive.low > 1 - 1e-9);
}

RC_GTEST_PROP(Scaling, NewPointsAtOldPlacesGetTheirCoordinates, ()) {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto weighted = *rc::gen::arbitrary<bool>();
    // Not distances of points at all: negative eigenvalues are many.
    const Index n = 15;
    const Random random(seed);
    const auto distances = made_matrix(n, n, [&](Index i, Index j) {
        const auto low = static_cast<std::uint64_t>(std::min(i, j));
        const auto high = static_cast<std::uint64_t>(std::max(i, j));
        return i == j ? 0.0 : 1 + random.uniform({.i = low, .j = high});
    });
    std::vector<double> weights;
    if (weighted)
        for (Index i = 0; i < n; ++i) weights.push_back(1 + static_cast<double>(i % 3));
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *distances, {.dimensions = 3, .row_weights = weights});
    const std::vector<double> placed = place(scaling, *distances);
    RC_ASSERT(placed.size() == scaling.coordinates.size());
    for (std::size_t k = 0; k < placed.size(); ++k) RC_ASSERT(std::abs(placed[k] - scaling.coordinates[k]) <= 1e-9);
}

// Where all is Euclidean, new points have their true distances from the old ones.
TEST(Scaling, NewPointsHaveTheirDistances) {
    const auto old_points = random_points(30, 3, 1);
    const auto new_points = random_points(7, 3, 2);
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *point_distances(*old_points), {.dimensions = 3});
    const auto between = point_distances(*new_points, *old_points);
    const std::vector<double> placed = place(scaling, *between);
    const MatrixValues D = read_all(*between);
    for (Index i = 0; i < 7; ++i)
        for (Index j = 0; j < 30; ++j) {
            double sum = 0;
            for (Index k = 0; k < 3; ++k)
                sum += std::pow(placed[static_cast<std::size_t>(i + 7 * k)] - scaling.coordinate(j, k), 2);
            EXPECT_NEAR(std::sqrt(sum), D.values[static_cast<std::size_t>(i + 7 * j)], 1e-10);
        }
}

TEST(Scaling, HasOnlyDimensionsOfPositiveEigenvalues) {
    // Of three points with a distance that is too long one eigenvalue is below 0.
    const std::vector<double> D{0, 1, 3, 1, 0, 1, 3, 1, 0};
    const auto distances = made_matrix(3, 3, [&](Index i, Index j) { return D[static_cast<std::size_t>(i + 3 * j)]; });
    InlineEngine engine;
    Stream stream(engine);
    const Scaling scaling = scale(stream, *distances, {.dimensions = 2});
    EXPECT_EQ(scaling.decomposition.wanted, 2);
    EXPECT_EQ(scaling.dimensions, 1);
    EXPECT_EQ(negative_eigenvalues(scaling.decomposition).known, 1);
}

TEST(Scaling, OfSymmetrisedDistancesIsThatOfTheirMeans) {
    const auto skewed = made_matrix(5, 5, [](Index i, Index j) {
        return i == j ? 0.0 : static_cast<double>(std::abs(i - j)) + (i > j ? 0.25 : 0.0);
    });
    const auto even =
        made_matrix(5, 5, [](Index i, Index j) { return i == j ? 0.0 : static_cast<double>(std::abs(i - j)) + 0.125; });
    InlineEngine engine;
    Stream stream(engine);
    EXPECT_THAT(
        [&] { (void)scale(stream, *skewed, {.dimensions = 1}); },
        ThrowsMessage<Error>(HasSubstr("made is not symmetric: row 2, column 1 is 1.25 and row 1, column 2 is 1")));
    const Scaling got = scale(stream, *skewed, {.dimensions = 1, .symmetry = Symmetry::averaged});
    const Scaling wanted = scale(stream, *even, {.dimensions = 1});
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(got.decomposition.values[k], wanted.decomposition.values[k], 1e-13);
}

TEST(PointDistances, AreSymmetricWithZerosAndAccurateForNearPoints) {
    // Far from the origin, a Gram matrix would have no digits left of these distances.
    const auto points =
        made_matrix(37, 3, [](Index i, Index j) { return 1e8 + static_cast<double>(i * (j + 1)) / 1024; });
    const MatrixValues D = read_all(*point_distances(*points));
    for (Index i = 0; i < 37; ++i)
        for (Index j = 0; j < 37; ++j) {
            const double got = D.values[static_cast<std::size_t>(i + 37 * j)];
            EXPECT_EQ(got, D.values[static_cast<std::size_t>(j + 37 * i)]);
            EXPECT_NEAR(got, std::sqrt(14.0) * static_cast<double>(std::abs(i - j)) / 1024, 1e-15 * 37);
        }
    EXPECT_EQ(D.values[0], 0);
}

TEST(PointDistances, BlocksAreThoseOfTheWhole) {
    const auto distances = point_distances(*random_points(9, 4, 3), *random_points(6, 4, 4));
    const MatrixValues D = read_all(*distances);
    std::vector<float> block(6);
    ASSERT_TRUE(distances->read({.row = 5, .col = 3, .rows = 3, .cols = 2}, ColumnMajor<float>{block.data(), 3}).ok());
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 2; ++j)
            EXPECT_EQ(block[static_cast<std::size_t>(i + 3 * j)],
                      static_cast<float>(D.values[static_cast<std::size_t>(5 + i + 9 * (3 + j))]));
}

}  // namespace
}  // namespace tesela::mds::mds_scaling_test
