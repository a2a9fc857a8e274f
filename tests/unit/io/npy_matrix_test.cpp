#include "tesela/io/npy_matrix.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/memory_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace tesela::npy_matrix_test {
namespace {

using testing::HasSubstr;

/// A NumPy file as NumPy writes it: magic, version, length, dictionary padded by blanks.
std::string npy(const std::string& dictionary, const std::string& elements, int version = 1) {
    std::string text = dictionary;
    const std::size_t prefix = version == 1 ? 10 : 12;
    text.append(64 - (prefix + text.size() + 1) % 64, ' ').append("\n");
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    for (std::size_t k = 0; k < prefix - 8; ++k) file += static_cast<char>((text.size() >> (8 * k)) & 0xffU);
    return file + text + elements;
}

std::string dictionary(const std::string& type, const std::string& fortran, const std::string& shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran, shape);
}

enum class Bytes { native, reversed };

/// Elements one after the other; element k is f(k).
template <class T, class F>
std::string stored(Index count, Bytes order, F f) {
    std::string bytes;
    for (Index k = 0; k < count; ++k) {
        const T value = static_cast<T>(f(k));
        char text[sizeof(T)];
        std::memcpy(text, &value, sizeof(T));
        if (order == Bytes::reversed) std::reverse(text, text + sizeof(T));
        bytes.append(text, sizeof(T));
    }
    return bytes;
}

/// A matrix of 37 x 53 whose element (i, j) is i - j + 60 in C or Fortran order reads back as it was, in blocks too.
template <class T>
void expect_reads(const std::string& type, int version = 1) {
    constexpr Index rows = 37;
    constexpr Index cols = 53;
    const auto value = [](Index i, Index j) { return i - j + 60; };
    const TemporaryDirectory directory;
    for (const bool fortran : {false, true})
        for (const Bytes order : {Bytes::native, Bytes::reversed}) {
            const std::string path = directory.path("m.npy");
            const char* byte_order =
                (std::endian::native == std::endian::little) == (order == Bytes::native) ? "<" : ">";
            put(path,
                npy(dictionary(byte_order + type, fortran ? "True" : "False", "(37, 53)"),
                    stored<T>(rows * cols, order,
                              [&](Index k) { return fortran ? value(k % rows, k / rows) : value(k / cols, k % cols); }),
                    version));
            const auto matrix = open_npy_matrix(path);
            const MatrixValues all = read_all(*matrix);
            for (Index j = 0; j < cols; ++j)
                for (Index i = 0; i < rows; ++i)
                    ASSERT_EQ(all.values[static_cast<std::size_t>(i + j * rows)], static_cast<double>(value(i, j)));
            std::vector<float> block(40 * 7, -9);
            ASSERT_TRUE(matrix->read({5, 11, 13, 7}, ColumnMajor<float>{block.data(), 40}).ok());
            for (Index j = 0; j < 7; ++j)
                for (Index i = 0; i < 40; ++i)
                    ASSERT_EQ(block[static_cast<std::size_t>(i + 40 * j)],
                              i < 13 ? static_cast<float>(value(5 + i, 11 + j)) : -9.0F);
        }
}

TEST(NpyMatrix, ReadsEveryTypeInBothOrdersOfElementsAndBytes) {
    expect_reads<float>("f4");
    expect_reads<double>("f8", 2);
    expect_reads<std::int8_t>("i1");
    expect_reads<std::int16_t>("i2", 3);
    expect_reads<std::int32_t>("i4");
    expect_reads<std::int64_t>("i8");
    expect_reads<std::uint8_t>("u1");
    expect_reads<std::uint16_t>("u2");
    expect_reads<std::uint32_t>("u4");
    expect_reads<std::uint64_t>("u8");
}

TEST(NpyMatrix, LongRowsAndTallBlocksAreReadInPieces) {
    constexpr Index rows = 75;
    constexpr Index cols = 20011;
    const TemporaryDirectory directory;
    const std::string path = directory.path("m.npy");
    put(path, npy(dictionary("<f4", "False", fmt::format("({}, {})", rows, cols)),
                  stored<float>(rows * cols, Bytes::native, [](Index k) { return k; })));
    const auto matrix = open_npy_matrix(path);
    const MatrixValues all = read_all(*matrix);
    Index wrong = 0;
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i)
            wrong += all.values[static_cast<std::size_t>(i + j * rows)] != static_cast<double>(i * cols + j) ? 1 : 0;
    EXPECT_EQ(wrong, 0);
}

TEST(NpyMatrix, ManyThreadsReadAtOnce) {
    constexpr Index order = 400;
    const TemporaryDirectory directory;
    const std::string path = directory.path("m.npy");
    put(path, npy(dictionary("<f8", "False", "(400, 400)"),
                  stored<double>(order * order, Bytes::native, [](Index k) { return k; })));
    const auto matrix = open_npy_matrix(path);
    std::atomic<Index> right = 0;
    std::vector<std::thread> readers;
    for (Index r = 0; r < 8; ++r)
        readers.emplace_back([&, r] {
            std::vector<double> panel(50 * order);
            for (int repetition = 0; repetition < 20; ++repetition) {
                if (!matrix->read({50 * r, 0, 50, order}, ColumnMajor<double>{panel.data(), 50})) return;
                for (Index k = 0; k < 50 * order; ++k)
                    right +=
                        panel[static_cast<std::size_t>(k)] == static_cast<double>((50 * r + k % 50) * order + k / 50);
            }
        });
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(right, 20 * order * order);
}

TEST(NpyMatrix, OpeningSaysWhatIsWrong) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("m.npy");
    const auto reason = [&](const std::string& content) {
        put(path, content);
        return message_of<Error>([&] { (void)open_npy_matrix(path); });
    };
    const std::string twelve = stored<float>(12, Bytes::native, [](Index k) { return k; });
    EXPECT_THAT(message_of<Error>([&] { (void)open_npy_matrix(directory.path("none.npy")); }),
                HasSubstr("No such file or directory"));
    EXPECT_THAT(message_of<Error>([&] { (void)open_npy_matrix(directory.path()); }), HasSubstr("Is a directory"));
    EXPECT_THAT(reason("1,2\n3,4\n"), HasSubstr("is not a NumPy file"));
    EXPECT_THAT(reason(""), HasSubstr("is not a NumPy file"));
    EXPECT_THAT(reason("\x93NUMPY\x01"), HasSubstr("cut short"));
    const std::string whole = npy(dictionary("<f4", "False", "(3, 4)"), twelve);
    EXPECT_THAT(reason(whole.substr(0, 40)), HasSubstr("ends inside of its header"));
    EXPECT_THAT(reason(whole.substr(0, whole.size() - 1)),
                HasSubstr("3 x 4 elements of 4 bytes need 48 bytes after the header, it has 47"));
    EXPECT_THAT(reason(npy(dictionary("<f4", "False", "(3, 2, 2)"), twelve)), HasSubstr("has 3 dimensions"));
    EXPECT_THAT(reason(npy(dictionary("<f4", "False", "(0, 4)"), twelve)), HasSubstr("no elements: it is 0 x 4"));
    EXPECT_THAT(reason(npy(dictionary("<c8", "False", "(3, 2)"), twelve)), HasSubstr("type '<c8'"));
    EXPECT_THAT(reason(npy(dictionary("<f4", "Perhaps", "(3, 4)"), twelve)), HasSubstr("neither True nor False"));
    EXPECT_THAT(reason(npy("{'descr': '<f4'}", twelve)), HasSubstr("lacks"));
    EXPECT_THAT(reason(npy("{'descr': [('x', '<f4')]}", twelve)), HasSubstr("records with fields"));
    EXPECT_THAT(reason(npy(dictionary("<f4", "False", "(4611686018427387904, 4)"), twelve)), HasSubstr("too large"));
    EXPECT_THAT(reason(npy(dictionary("<f4", "False", "(3, 4)"), twelve, 9)), HasSubstr("version 9"));
}

TEST(NpyMatrix, AVectorIsAColumn) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("w.npy");
    put(path, npy(dictionary("<f8", "False", "(5,)"), stored<double>(5, Bytes::native, [](Index k) { return 2 * k; })));
    const auto vector = open_npy_matrix(path);
    EXPECT_EQ(vector->rows(), 5);
    EXPECT_EQ(vector->cols(), 1);
    std::vector<double> to(5);
    ASSERT_TRUE(vector->read({0, 0, 5, 1}, ColumnMajor<double>{to.data(), 5}).ok());
    EXPECT_EQ(to, (std::vector<double>{0, 2, 4, 6, 8}));
}

TEST(NpyMatrix, FileThatShrinksIsAReasonOfTheRead) {
    const TemporaryDirectory directory;
    const std::string path = directory.path("m.npy");
    put(path, npy(dictionary("<f4", "False", "(3, 4)"), stored<float>(12, Bytes::native, [](Index k) { return k; })));
    const auto matrix = open_npy_matrix(path);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
    std::vector<double> to(12);
    EXPECT_TRUE(matrix->read({0, 0, 2, 4}, ColumnMajor<double>{to.data(), 2}).ok());
    EXPECT_THAT(matrix->read({0, 0, 3, 4}, ColumnMajor<double>{to.data(), 3}).reason(),
                HasSubstr("m.npy' ends at byte 168, before its elements do"));
}

}  // namespace
}  // namespace tesela::npy_matrix_test
