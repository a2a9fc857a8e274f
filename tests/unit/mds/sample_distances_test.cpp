#include "tesela/mds/sample_distances.hpp"

#include "support/seed.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/csv_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/io/npy_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace tesela::mds::sample_distances_test {
namespace {

MatrixValues distances_of(const PointSample& sample, StoredType type, Index threads) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("d.npy");
    const auto writer = write_npy_matrix(path, {.rows = sample.points, .cols = sample.points, .type = type});
    write_distances(sample, *writer, {.threads = threads});
    writer->commit();
    return read_all(*open_npy_matrix(path));
}

TEST(SampleDistances, AreThoseOfThePoints) {
    const PointSample sample{.points = 531, .dimensions = 17, .decay = 0.7, .seed = testing::seed()};
    const TemporaryDirectory directory;
    const std::string path = directory.path("x.csv");
    const auto writer = write_csv_matrix(path, {.rows = sample.points, .cols = sample.dimensions});
    write_points(sample, *writer);
    writer->commit();
    const MatrixValues points = read_all(*read_csv_matrix(path));
    const MatrixValues distances = distances_of(sample, StoredType::float64, 2);
    for (Index i = 0; i < sample.points; i += 7)
        for (Index j = 0; j < sample.points; ++j) {
            double sum = 0;
            for (Index k = 0; k < sample.dimensions; ++k) {
                const double difference = points.values[static_cast<std::size_t>(i + k * sample.points)] -
                                          points.values[static_cast<std::size_t>(j + k * sample.points)];
                sum += difference * difference;
            }
            ASSERT_NEAR(distances.values[static_cast<std::size_t>(i + j * sample.points)], std::sqrt(sum), 1e-14);
        }
}

TEST(SampleDistances, AreSymmetricWithZerosOnTheDiagonalWhateverTheThreads) {
    const PointSample sample{.points = 611, .dimensions = 30, .seed = testing::seed()};
    for (const StoredType type : {StoredType::float32, StoredType::float64}) {
        const MatrixValues one = distances_of(sample, type, 1);
        EXPECT_EQ(one.values, distances_of(sample, type, 3).values);
        Index wrong = 0;
        for (Index j = 0; j < sample.points; ++j)
            for (Index i = 0; i < sample.points; ++i) {
                const double lower = one.values[static_cast<std::size_t>(i + j * sample.points)];
                const double upper = one.values[static_cast<std::size_t>(j + i * sample.points)];
                wrong += lower != upper || (lower == 0) != (i == j) ? 1 : 0;
            }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(SampleDistances, FewerPointsAreTheFirstOfMore) {
    const PointSample few{.points = 10, .dimensions = 5, .seed = 3};
    const PointSample more{.points = 14, .dimensions = 5, .seed = 3};
    const MatrixValues small = distances_of(few, StoredType::float64, 1);
    const MatrixValues large = distances_of(more, StoredType::float64, 1);
    for (Index j = 0; j < 10; ++j)
        for (Index i = 0; i < 10; ++i)
            ASSERT_EQ(small.values[static_cast<std::size_t>(i + 10 * j)],
                      large.values[static_cast<std::size_t>(i + 14 * j)]);
}

TEST(SampleDistances, CoordinatesHaveTheDeviationAskedFor) {
    const PointSample sample{.points = 20000, .dimensions = 9, .decay = 0.5, .seed = testing::seed()};
    for (const Index k : {0, 3, 8}) {
        double squares = 0;
        for (Index i = 0; i < sample.points; ++i) squares += std::pow(sample.coordinate(i, k), 2);
        // The variance of a sample of 20000 is off by 1 % on average; by 6 % never.
        EXPECT_NEAR(squares / static_cast<double>(sample.points) * static_cast<double>(k + 1), 1, 0.06);
    }
}

TEST(SampleDistances, WriterOfAnotherSizeIsRefused) {
    const TemporaryDirectory directory;
    const auto writer = write_npy_matrix(directory.path("d.npy"), {.rows = 3, .cols = 4});
    EXPECT_THAT(message_of<Error>([&] { write_distances({.points = 3}, *writer); }),
                ::testing::HasSubstr("3 x 3 numbers do not fit a matrix of 3 x 4"));
    EXPECT_THAT(message_of<Error>([&] { write_distances({.points = 0}, *writer); }), ::testing::HasSubstr("0 points"));
}

}  // namespace
}  // namespace tesela::mds::sample_distances_test
