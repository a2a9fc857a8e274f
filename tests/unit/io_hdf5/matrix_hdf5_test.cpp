#include "tesela/io/hdf5/matrix_hdf5.hpp"

#include "hdf5_file.hpp"
#include "support/seed.hpp"
#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/random.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace tesela::matrix_hdf5_test {
namespace {

using ::testing::AllOf;
using testing::chunks_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Hdf5File;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::row_major_values;
using testing::value_at;

constexpr Index rows = 61;
constexpr Index cols = 47;

/// Blocks of random sizes at random places hold what was written, in both precisions, and nothing beside them changes.
void expect_values(const MatrixFile& matrix) {
    ASSERT_EQ(matrix.rows(), rows);
    ASSERT_EQ(matrix.cols(), cols);
    const Random random(testing::seed());
    for (std::uint64_t k = 0; k < 30; ++k) {
        MatrixBlock block;
        block.row = static_cast<Index>(random.below(rows, {k, 0}));
        block.col = static_cast<Index>(random.below(cols, {k, 1}));
        block.rows = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(rows - block.row), {k, 2}));
        block.cols = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(cols - block.col), {k, 3}));
        if (k == 0) block = {0, 0, rows, cols};
        const Index leading = block.rows + static_cast<Index>(k % 3);
        std::vector<double> doubles(static_cast<std::size_t>(leading * block.cols), -1);
        std::vector<float> floats(doubles.size(), -1);
        ASSERT_EQ(matrix.read(block, ColumnMajor<double>{doubles.data(), leading}).reason(), "");
        ASSERT_EQ(matrix.read(block, ColumnMajor<float>{floats.data(), leading}).reason(), "");
        Index wrong = 0;
        for (Index j = 0; j < block.cols; ++j)
            for (Index i = 0; i < leading; ++i) {
                const auto at = static_cast<std::size_t>(i + j * leading);
                const double wanted = i < block.rows ? value_at(block.row + i, block.col + j) : -1;
                wrong += doubles[at] != wanted || floats[at] != static_cast<float>(wanted) ? 1 : 0;
            }
        ASSERT_EQ(wrong, 0) << matrix.description();
    }
}

/// Writes the labels "0", "1", …
void write_names(const Hdf5File& file, const std::string& name, Index count) {
    std::vector<std::string> texts;
    std::vector<const char*> pointers;
    for (Index k = 0; k < count; ++k) texts.push_back(fmt::format("{}", k));
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t names = file.make({.name = name, .size = {static_cast<hsize_t>(count)}, .type = type});
    EXPECT_GE(H5Dwrite(names, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), 0);
    H5Dclose(names);
    H5Tclose(type);
}

class Hdf5Matrix : public ::testing::Test {
protected:
    /// Writes a matrix of value_at() and expects to read it back; the description comes back.
    std::string expect_reads(Hdf5File::Set set, hid_t creation = H5P_DEFAULT) {
        set.size = {rows, cols};
        Hdf5File(path_, creation).write(set, row_major_values(rows, cols));
        const auto matrix = open_hdf5_matrix(path_);
        expect_values(*matrix);
        return matrix->description();
    }

    std::string opening_error(const std::string& dataset = {}) {
        return message_of<Error>([&] { (void)open_hdf5_matrix(path_, dataset); });
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_.path("m.h5");
};

TEST_F(Hdf5Matrix, ReadsEveryTypeInBothByteOrdersContiguousAndInChunks) {
    for (const hid_t type : {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_STD_I8LE, H5T_STD_I8BE,
                             H5T_STD_I16LE, H5T_STD_I16BE, H5T_STD_I32LE, H5T_STD_I32BE, H5T_STD_I64LE, H5T_STD_I64BE,
                             H5T_STD_U8LE, H5T_STD_U16BE, H5T_STD_U32LE, H5T_STD_U64BE}) {
        EXPECT_THAT(expect_reads({.type = type}), AllOf(HasSubstr("contiguous"), Not(HasSubstr("read by HDF5"))));
        EXPECT_THAT(expect_reads({.type = type, .properties = chunks_of(16, 10)}),
                    AllOf(HasSubstr("chunks of 16 x 10"), Not(HasSubstr("read by HDF5"))));
        EXPECT_THAT(expect_reads({.type = type,
                                  .properties =
                                      [](hid_t properties) {
                                          chunks_of(16, 10)(properties);
                                          H5Pset_shuffle(properties);
                                          H5Pset_deflate(properties, 4);
                                      }}),
                    AllOf(HasSubstr("chunks of 16 x 10, shuffle, deflate"), Not(HasSubstr("read by HDF5"))));
    }
}

TEST_F(Hdf5Matrix, DescriptionNamesFileSizeTypeAndLayout) {
    EXPECT_EQ(expect_reads({.name = "/a/distance", .properties = chunks_of(20, 47)}),
              path_ + ":/a/distance, 61 x 47 float32, chunks of 20 x 47");
    const auto matrix = open_hdf5_matrix(path_, "a/distance");
    EXPECT_EQ(matrix->header().chunk, (GridSize{20, 47}));
    EXPECT_EQ(matrix->panel_rows(50), 40);
    EXPECT_EQ(matrix->panel_rows(7), 7);
    EXPECT_EQ(matrix->bytes(), rows * cols * 4);
}

TEST_F(Hdf5Matrix, FiltersInAnyOrderAndChunksLargerThanTheMatrix) {
    expect_reads({.properties = [](hid_t properties) {
        chunks_of(61, 47)(properties);
        H5Pset_deflate(properties, 9);
    }});
    expect_reads({.properties = [](hid_t properties) {
        chunks_of(7, 47)(properties);
        H5Pset_shuffle(properties);
    }});
    expect_reads({.properties = [](hid_t properties) {
        chunks_of(7, 5)(properties);
        H5Pset_deflate(properties, 1);
        H5Pset_shuffle(properties);
    }});
}

TEST_F(Hdf5Matrix, WhatOnlyHdf5CanReadIsReadByItAndSaidSo) {
    EXPECT_THAT(expect_reads({.properties = [](hid_t properties) { H5Pset_layout(properties, H5D_COMPACT); }}),
                HasSubstr("compact, read by HDF5, one thread at a time (compact layout)"));
    EXPECT_THAT(expect_reads({.properties =
                                  [](hid_t properties) {
                                      chunks_of(16, 10)(properties);
                                      H5Pset_fletcher32(properties);
                                  }}),
                HasSubstr("(filter fletcher32)"));
    EXPECT_THAT(expect_reads({.type = H5T_STD_I32LE,
                              .properties =
                                  [](hid_t properties) {
                                      chunks_of(16, 10)(properties);
                                      H5Pset_scaleoffset(properties, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
                                  }}),
                HasSubstr("(filter scale-offset)"));
    EXPECT_THAT(expect_reads({.properties =
                                  [](hid_t properties) {
                                      chunks_of(16, 10)(properties);
                                      H5Pset_deflate(properties, 1);
                                      H5Pset_chunk_opts(properties, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
                                  }}),
                HasSubstr("(partial chunks without filters)"));
    EXPECT_THAT(expect_reads({.properties =
                                  [&](hid_t properties) {
                                      H5Pset_external(properties, directory_.path("elements").c_str(), 0,
                                                      H5F_UNLIMITED);
                                  }}),
                HasSubstr("(external files)"));
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, 512);
    EXPECT_THAT(expect_reads({}, creation), HasSubstr("(a user block before the data)"));
    EXPECT_THAT(expect_reads({.properties = chunks_of(16, 10)}, creation), HasSubstr("(a user block before the data)"));
    H5Pclose(creation);
    const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_ebias(half, 15);
    EXPECT_THAT(expect_reads({.type = half}), HasSubstr("(elements of a rare type)"));
    H5Tclose(half);
}

TEST_F(Hdf5Matrix, ChunksThatWereNeverWrittenHoldTheFillValue) {
    {
        const Hdf5File file(path_);
        const float fill = 2.5F;
        const hid_t data = file.make({.size = {40, 30}, .properties = [&](hid_t properties) {
                                          chunks_of(16, 16)(properties);
                                          H5Pset_fill_value(properties, H5T_NATIVE_FLOAT, &fill);
                                      }});
        const std::vector<double> ones(16 * 16, 1.0);
        const std::array<hsize_t, 2> first{16, 0};
        const std::array<hsize_t, 2> size{16, 16};
        const hid_t space = H5Dget_space(data);
        const hid_t memory = H5Screate_simple(2, size.data(), nullptr);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr);
        EXPECT_GE(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, ones.data()), 0);
        H5Sclose(memory);
        H5Sclose(space);
        H5Dclose(data);
        H5Dclose(file.make({.name = "/never", .size = {3, 2}}));
    }
    const MatrixValues all = read_all(*open_hdf5_matrix(path_, "/d"));
    for (Index j = 0; j < 30; ++j)
        for (Index i = 0; i < 40; ++i)
            ASSERT_EQ(all.values[static_cast<std::size_t>(i + 40 * j)], i >= 16 && i < 32 && j < 16 ? 1.0 : 2.5);
    EXPECT_THAT(read_all(*open_hdf5_matrix(path_, "/never")).values, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST_F(Hdf5Matrix, ManyThreadsReadAtOnceWhicheverTheLayout) {
    const auto compressed = [](hid_t properties) {
        chunks_of(9, 20)(properties);
        H5Pset_deflate(properties, 1);
    };
    const auto by_hdf5 = [](hid_t properties) {
        chunks_of(9, 20)(properties);
        H5Pset_fletcher32(properties);
    };
    for (const auto& properties : {std::function<void(hid_t)>([](hid_t) {}), std::function<void(hid_t)>(compressed),
                                   std::function<void(hid_t)>(by_hdf5)}) {
        Hdf5File(path_).write({.size = {rows, cols}, .properties = properties}, row_major_values(rows, cols));
        const auto matrix = open_hdf5_matrix(path_);
        std::vector<std::thread> readers;
        for (int r = 0; r < 6; ++r) readers.emplace_back([&] { expect_values(*matrix); });
        for (std::thread& reader : readers) reader.join();
    }
}

TEST_F(Hdf5Matrix, LabelsStandBesideTheDataSet) {
    {
        const Hdf5File file(path_);
        file.write({.name = "/a/d", .size = {2, 3}}, {1, 2, 3, 4, 5, 6});
        const hid_t fixed = H5Tcopy(H5T_C_S1);
        H5Tset_size(fixed, 4);
        const hid_t names = file.make({.name = "/a/rownames", .size = {2}, .type = fixed});
        H5Dwrite(names, fixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, "one\0four");
        H5Dclose(names);
        H5Tset_size(fixed, H5T_VARIABLE);
        const std::array<const char*, 3> texts{"x", "a longer name", ""};
        const hid_t columns = file.make({.name = "/a/colnames", .size = {3}, .type = fixed});
        H5Dwrite(columns, fixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data());
        H5Dclose(columns);
        H5Tclose(fixed);
        file.write({.name = "/b/d", .size = {2, 3}}, {1, 2, 3, 4, 5, 6});
    }
    const auto matrix = open_hdf5_matrix(path_, "/a/d");
    EXPECT_THAT(matrix->header().row_labels, ElementsAre("one", "four"));
    EXPECT_THAT(matrix->header().col_labels, ElementsAre("x", "a longer name", ""));
    EXPECT_THAT(open_hdf5_matrix(path_, "/b/d")->header().row_labels, IsEmpty());
}

TEST_F(Hdf5Matrix, LinksLeadToDataSetsOfThisAndOfOtherFiles) {
    for (const bool chunked : {false, true}) {
        {
            const Hdf5File other(directory_.path("other.h5"));
            // So that elements stand elsewhere than in the file with the link.
            other.write({.name = "/before", .size = {1000}}, std::vector<double>(1000, 1.0));
            other.write(
                {.name = "/deep/d", .size = {rows, cols}, .properties = chunked ? chunks_of(16, 10) : [](hid_t) {}},
                row_major_values(rows, cols));
            write_names(other, "/deep/rownames", rows);
            const Hdf5File file(path_);
            file.write({.name = "/deep/d", .size = {rows, cols}}, std::vector<double>(rows * cols, -5.0));
            H5Lcreate_external("other.h5", "/deep/d", file.id(), "/elsewhere", H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_external("other.h5", "/deep", file.id(), "/folder", H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_soft("/elsewhere", file.id(), "/twice", H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_soft("/deep/d", other.id(), "/soft", H5P_DEFAULT, H5P_DEFAULT);
        }
        for (const char* name : {"/elsewhere", "/folder/d", "/twice"}) {
            const auto matrix = open_hdf5_matrix(path_, name);
            expect_values(*matrix);
            EXPECT_THAT(matrix->description(), AllOf(HasSubstr(fmt::format("m.h5:{}, 61 x 47", name)),
                                                     HasSubstr(fmt::format(", in '{}", directory_.path("other.h5"))),
                                                     Not(HasSubstr("read by HDF5"))));
            EXPECT_THAT(matrix->header().row_labels, Contains("60")) << name;
            expect_values(*open_hdf5_matrix(path_, name, {.reading = Hdf5Reading::library}));
        }
        const auto soft = open_hdf5_matrix(directory_.path("other.h5"), "/soft");
        expect_values(*soft);
        EXPECT_THAT(soft->header().row_labels, Contains("60"));
        // A soft link is another name of a matrix, not another matrix.
        expect_values(*open_hdf5_matrix(directory_.path("other.h5")));
    }
    EXPECT_THAT(opening_error(), HasSubstr("has several matrices; choose one as in " + path_ +
                                           ":/deep/d: it has /deep/d (2-D), /elsewhere (2-D)"));
}

TEST_F(Hdf5Matrix, AFileOfNothingButALinkIsTheMatrixThatItLeadsTo) {
    Hdf5File(directory_.path("other.h5")).write({.size = {rows, cols}}, row_major_values(rows, cols));
    {
        const Hdf5File file(path_);
        H5Lcreate_external("other.h5", "/d", file.id(), "/link", H5P_DEFAULT, H5P_DEFAULT);
    }
    expect_values(*open_hdf5_matrix(path_));
}

TEST_F(Hdf5Matrix, LinksThatLeadNowhereAreNamed) {
    {
        const Hdf5File file(path_);
        file.write({.name = "/d", .size = {1, 1}}, {1});
        H5Lcreate_soft("/nothing", file.id(), "/soft", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_soft("/circle", file.id(), "/circle", H5P_DEFAULT, H5P_DEFAULT);
        H5Lcreate_external("none.h5", "/x", file.id(), "/external", H5P_DEFAULT, H5P_DEFAULT);
    }
    EXPECT_THAT(opening_error("/soft"),
                ::testing::EndsWith("'/soft' in '" + path_ + "' is a link to '/nothing', which cannot be found"));
    EXPECT_THAT(opening_error("/circle"), HasSubstr("is a link to '/circle', which cannot be found"));
    EXPECT_THAT(opening_error("/external"), HasSubstr("is a link to '/x' in 'none.h5', which cannot be found"));
    EXPECT_THAT(opening_error("external/y"), HasSubstr("'/external' in '"));
    EXPECT_THAT(opening_error("/d/y"), HasSubstr("has no data set '/d/y'"));
    EXPECT_EQ(open_hdf5_matrix(path_)->rows(), 1);
}

TEST_F(Hdf5Matrix, OpeningSaysWhatIsWrong) {
    EXPECT_THAT(opening_error(), HasSubstr("No such file or directory"));
    put(path_, "1,2\n3,4\n");
    EXPECT_THAT(opening_error(), HasSubstr("is not an HDF5 file"));
    {
        const Hdf5File file(path_);
        EXPECT_GE(file.id(), 0);
    }
    EXPECT_THAT(opening_error(), HasSubstr("has no data set of 2 dimensions: it has none"));
    {
        const Hdf5File file(path_);
        file.write({.name = "/one", .size = {6}}, {1, 2, 3, 4, 5, 6});
        file.write({.name = "/g/two", .size = {2, 3}}, {1, 2, 3, 4, 5, 6});
        file.write({.name = "/g/other", .size = {2, 3}}, {1, 2, 3, 4, 5, 6});
        H5Dclose(file.make({.name = "/empty", .size = {0, 3}}));
        const hid_t text = H5Tcopy(H5T_C_S1);
        H5Dclose(file.make({.name = "/texts", .size = {2, 2}, .type = text}));
        H5Tclose(text);
        H5Dclose(file.make({.name = "/references", .size = {2, 2}, .type = H5T_STD_REF_OBJ}));
    }
    EXPECT_THAT(opening_error("/one"), HasSubstr("m.h5:/one has 1 dimension; a matrix has 2"));
    EXPECT_THAT(opening_error("/empty"), HasSubstr("m.h5:/empty has no elements: it is 0 x 3"));
    EXPECT_THAT(opening_error("/texts"), HasSubstr("does not hold numbers: its elements are strings"));
    EXPECT_THAT(opening_error("/references"), HasSubstr("neither floating-point numbers nor integers"));
    EXPECT_THAT(opening_error("/tow"),
                HasSubstr("has no data set '/tow': it has /empty (2-D), /g/other (2-D), /g/two"));
    EXPECT_THAT(opening_error("/g"), HasSubstr("has no data set '/g'"));
    EXPECT_THAT(opening_error(), HasSubstr("has several matrices; choose one"));
}

TEST_F(Hdf5Matrix, FileCutShortIsSeenWhenItIsOpened) {
    Hdf5File(path_).write({.size = {200, 200}}, std::vector<double>(40000, 1.0));
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1000);
    EXPECT_THAT(opening_error(), HasSubstr("is cut short"));
}

TEST_F(Hdf5Matrix, DamagedChunkIsAReasonOfTheRead) {
    Hdf5File(path_).write({.size = {rows, cols},
                           .properties =
                               [](hid_t properties) {
                                   chunks_of(61, 47)(properties);
                                   H5Pset_deflate(properties, 1);
                               }},
                          row_major_values(rows, cols));
    const auto matrix = open_hdf5_matrix(path_);
    std::string bytes = get(path_);
    std::fill(bytes.begin() + 3000, bytes.begin() + 4000, '\xff');
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size()) - 600, bytes.end(), '\xff');
    put(path_, bytes);
    std::vector<double> to(rows * cols);
    EXPECT_THAT(matrix->read({0, 0, rows, cols}, ColumnMajor<double>{to.data(), rows}).reason(),
                HasSubstr("the compressed chunk at byte"));
}

TEST_F(Hdf5Matrix, FilterThatIsMissingIsNamed) {
    constexpr H5Z_filter_t zstd = 32015;
    const auto pass = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
        return bytes;
    };
    const H5Z_class2_t filter{H5Z_CLASS_T_VERS, zstd, 1, 1, "zstd of a test", nullptr, nullptr, pass};
    ASSERT_GE(H5Zregister(&filter), 0);
    Hdf5File(path_).write({.size = {rows, cols},
                           .properties =
                               [](hid_t properties) {
                                   chunks_of(16, 10)(properties);
                                   H5Pset_filter(properties, zstd, 0, 0, nullptr);
                               }},
                          row_major_values(rows, cols));
    EXPECT_THAT(open_hdf5_matrix(path_)->description(), HasSubstr("(filter 32015 zstd of a test)"));
    H5Zunregister(zstd);
    EXPECT_THAT(opening_error(), HasSubstr("compressed by a filter that this HDF5 lacks: 32015 zstd of a test"));
}

TEST_F(Hdf5Matrix, OnlyChunksThatABlockIntersectsAreTouched) {
    Hdf5File(path_).write({.size = {40, 40},
                           .properties =
                               [](hid_t properties) {
                                   chunks_of(10, 10)(properties);
                                   H5Pset_deflate(properties, 1);
                               }},
                          row_major_values(40, 40));
    const auto matrix = open_hdf5_matrix(path_);
    // The file loses its end: chunks that are left can be read, whatever has become of the others.
    std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 600);
    std::vector<double> to(100);
    Index readable = 0;
    for (Index i = 0; i < 40; i += 10)
        for (Index j = 0; j < 40; j += 10)
            readable += matrix->read({i, j, 10, 10}, ColumnMajor<double>{to.data(), 10}).ok() ? 1 : 0;
    EXPECT_GT(readable, 0);
    EXPECT_LT(readable, 16);
}

TEST(OpenMatrix, KindOfFileIsToldByHowItBegins) {
    const TemporaryDirectory directory;
    Hdf5File(directory.path("numbers")).write({.name = "/g/d", .size = {2, 3}}, {1, 2, 3, 4, 5, 6});
    put(directory.path("m.txt"), "1,2\n3,4\n");
    EXPECT_EQ(open_matrix(directory.path("numbers"))->cols(), 3);
    EXPECT_EQ(open_matrix(directory.path("numbers") + ":/g/d")->cols(), 3);
    EXPECT_EQ(open_matrix(directory.path("numbers") + ":g/d")->cols(), 3);
    EXPECT_EQ(open_matrix(directory.path("m.txt"))->cols(), 2);
    EXPECT_THAT(message_of<Error>([&] { (void)open_matrix(directory.path("m.txt") + ":/d"); }),
                HasSubstr("is not an HDF5 file, so there is no data set '/d' in it"));
    EXPECT_THAT(message_of<Error>([&] { (void)open_matrix(directory.path("none.h5") + ":/d"); }),
                HasSubstr("none.h5': No such file or directory"));
}

TEST(OpenMatrix, FilesThatFormAGridAreOneMatrix) {
    const TemporaryDirectory directory;
    const std::vector<Index> row_cuts{0, 20, 40, rows};
    const std::vector<Index> col_cuts{0, 30, cols};
    for (const Index first : {0, 1}) {
        const std::string stem = directory.path(fmt::format("part{}", first));
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 2; ++j) {
                std::vector<double> values;
                for (Index r = row_cuts[i]; r < row_cuts[i + 1]; ++r)
                    for (Index c = col_cuts[j]; c < col_cuts[j + 1]; ++c) values.push_back(value_at(r, c));
                Hdf5File(fmt::format("{}_{}_{}.h5", stem, static_cast<Index>(i) + first, static_cast<Index>(j) + first))
                    .write({.size = {static_cast<hsize_t>(row_cuts[i + 1] - row_cuts[i]),
                                     static_cast<hsize_t>(col_cuts[j + 1] - col_cuts[j])}},
                           values);
            }
        const auto matrix = open_matrix(stem + "_{i}_{j}.h5:/d");
        expect_values(*matrix);
        EXPECT_THAT(matrix->description(), HasSubstr("61 x 47 float32, 3 x 2 parts, the first 20 x 30, contiguous"));
    }
    put(directory.path("band0.csv"), "1,2\n3,4\n");
    put(directory.path("band1.csv"), "5,6\n");
    EXPECT_THAT(read_all(*open_matrix(directory.path("band{i}.csv"))).values, ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(OpenMatrix, PartsThatDoNotFitAreNamed) {
    const TemporaryDirectory directory;
    const auto reason = [&] { return message_of<Error>([&] { (void)open_matrix(directory.path("p{i}{j}.csv")); }); };
    EXPECT_THAT(reason(), AllOf(HasSubstr("there is neither"), HasSubstr("p00.csv"), HasSubstr("p11.csv")));
    put(directory.path("p00.csv"), "1,2\n3,4\n");
    put(directory.path("p01.csv"), "1,2\n3,4\n");
    put(directory.path("p10.csv"), "1,2\n3,4\n");
    EXPECT_THAT(reason(), HasSubstr("p11.csv': No such file"));
    put(directory.path("p11.csv"), "1,2,3\n4,5,6\n");
    EXPECT_THAT(reason(),
                AllOf(HasSubstr("p11.csv does not fit: it has 3 columns"), HasSubstr("p01.csv above it has 2")));
    put(directory.path("p11.csv"), "1,2\n");
    EXPECT_THAT(reason(),
                AllOf(HasSubstr("p11.csv does not fit: it has 1 rows"), HasSubstr("p10.csv beside it has 2")));
}

}  // namespace
}  // namespace tesela::matrix_hdf5_test
