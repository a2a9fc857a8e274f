#include "tesela/io/hdf5/write_matrix.hpp"

#include "hdf5_file.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tesela::write_matrix_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Index rows = 23;
constexpr Index cols = 9;

double third(Index i, Index j) { return static_cast<double>(i * cols + j) / 3; }

/// Writes a matrix of third() in blocks of 5 rows.
template <class T>
void write_thirds(const std::string& name, const MatrixPlan& plan) {
    const auto writer = write_matrix(name, plan);
    for (Index first = 0; first < rows; first += 5) {
        std::vector<T> block;
        for (Index i = first; i < std::min(first + 5, rows); ++i)
            for (Index j = 0; j < cols; ++j) block.push_back(static_cast<T>(third(i, j)));
        writer->append(block);
    }
    writer->commit();
}

TEST(WriteMatrix, EveryFormatReadsBackAsItWasWritten) {
    const TemporaryDirectory directory;
    for (const std::string name : {"m.h5", "m.h5:/group/d", "m.hdf5", "m.npy", "m.csv"})
        for (const StoredType type : {StoredType::float32, StoredType::float64}) {
            std::error_code ignored;
            std::filesystem::remove(directory.path(parse_matrix_name(name).file), ignored);
            const MatrixPlan plan{.rows = rows, .cols = cols, .type = type};
            write_thirds<double>(directory.path(name), plan);
            const auto matrix = open_matrix(directory.path(name));
            ASSERT_EQ(matrix->rows(), rows);
            ASSERT_EQ(matrix->cols(), cols);
            EXPECT_EQ(matrix->type(), name.ends_with("csv") ? StoredType::float64 : type);
            std::vector<double> to(static_cast<std::size_t>(rows * cols));
            ASSERT_TRUE(matrix->read({0, 0, rows, cols}, ColumnMajor<double>{to.data(), rows}).ok());
            for (Index j = 0; j < cols; ++j)
                for (Index i = 0; i < rows; ++i) {
                    const double read = to[static_cast<std::size_t>(i + j * rows)];
                    const bool single = type == StoredType::float32;
                    ASSERT_EQ(single ? static_cast<float>(read) : read,
                              single ? static_cast<float>(third(i, j)) : third(i, j))
                        << name;
                }
        }
}

TEST(WriteMatrix, ChunksAndCompressionAreAsAskedFor) {
    const TemporaryDirectory directory;
    const MatrixPlan plan{.rows = rows,
                          .cols = cols,
                          .type = StoredType::float32,
                          .chunk = {10, 4},
                          .compression = MatrixCompression::deflate};
    write_thirds<float>(directory.path("m.h5:/d"), plan);
    const auto matrix = open_matrix(directory.path("m.h5"));
    EXPECT_THAT(matrix->description(), HasSubstr("m.h5:/d, 23 x 9 float32, chunks of 10 x 4, shuffle, deflate"));
    float value = 0;
    ASSERT_TRUE(matrix->read({22, 8, 1, 1}, ColumnMajor<float>{&value, 1}).ok());
    EXPECT_EQ(value, static_cast<float>(third(22, 8)));
}

TEST(WriteMatrix, LabelsReadBackFromHdf5AndCsv) {
    const TemporaryDirectory directory;
    for (const char* name : {"m.h5", "m.csv"}) {
        const auto writer = write_matrix(
            directory.path(name),
            {.rows = 2, .cols = 2, .row_labels = {"a, b", "c"}, .col_labels = {"first", "with \"quotes\""}});
        writer->append(std::vector<double>{1, 2, 3, 4});
        writer->commit();
        const auto matrix = open_matrix(directory.path(name));
        EXPECT_THAT(matrix->header().row_labels, ElementsAre("a, b", "c"));
        EXPECT_THAT(matrix->header().col_labels, ElementsAre("first", "with \"quotes\""));
        EXPECT_THAT(read_all(*matrix).values, ElementsAre(1, 3, 2, 4));
    }
}

TEST(WriteMatrix, WithoutCommitNothingIsThere) {
    const TemporaryDirectory directory;
    for (const char* name : {"m.h5", "m.npy", "m.csv"}) {
        const auto writer = write_matrix(directory.path(name), {.rows = 2, .cols = 2});
        writer->append(std::vector<double>{1, 2});
        EXPECT_THAT(message_of<Error>([&] { writer->commit(); }), HasSubstr("has 1 of 2 rows"));
    }
    EXPECT_THAT(directory.entries(), ElementsAre());
}

TEST(WriteMatrix, WhatCannotBeWrittenIsSaid) {
    const TemporaryDirectory directory;
    const auto reason = [&](const std::string& name, const MatrixPlan& plan) {
        return message_of<Error>([&] { (void)write_matrix(directory.path(name), plan); });
    };
    EXPECT_THAT(reason("m.h5", {.rows = 0, .cols = 2}), HasSubstr("0 x 2 has no elements"));
    EXPECT_THAT(reason("m.h5", {.rows = 2, .cols = 2, .type = StoredType::int8}), HasSubstr("float32 and float64"));
    EXPECT_THAT(reason("m.h5", {.rows = 2, .cols = 2, .row_labels = {"a"}}), HasSubstr("1 labels for 2 rows"));
    EXPECT_THAT(reason("m.h5", {.rows = 2, .cols = 2, .chunk = {1, 0}}), HasSubstr("chunks of 1 x 0"));
    EXPECT_THAT(reason("m.h5", {.rows = 2, .cols = 2, .compression = MatrixCompression::deflate}),
                HasSubstr("only chunks are compressed"));
    EXPECT_THAT(reason("m.npy", {.rows = 2, .cols = 2, .chunk = {1, 1}}), HasSubstr("only HDF5 files"));
    EXPECT_THAT(reason("none/m.h5", {.rows = 2, .cols = 2}), HasSubstr("there is no directory"));
    const auto writer = write_matrix(directory.path("m.h5"), {.rows = 2, .cols = 2});
    EXPECT_THAT(message_of<Error>([&] { writer->append(std::vector<double>{1, 2, 3}); }), HasSubstr("3 values"));
    EXPECT_THAT(message_of<Error>([&] { writer->append(std::vector<double>(6)); }), HasSubstr("2 rows of 2"));
}

}  // namespace
}  // namespace tesela::write_matrix_test
