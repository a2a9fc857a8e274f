#include "tesela/io/matrix_file.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/csv_matrix.hpp"
#include "tesela/io/memory_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tesela::matrix_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string data_folder = TESELA_DATA_DIR;

/// Element (i, j) is 100 i + j.
MatrixValues numbered(Index rows, Index cols) {
    MatrixValues values{.rows = rows, .cols = cols};
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) values.values.push_back(static_cast<double>(100 * i + j));
    return values;
}

double element(const MatrixFile& matrix, Index i, Index j) {
    double value = -1;
    EXPECT_TRUE(matrix.read({.row = i, .col = j, .rows = 1, .cols = 1}, ColumnMajor<double>{&value, 1}).ok());
    return value;
}

TEST(MatrixFile, BlockOfAMatrixInMemoryKeepsWhatStandsBetweenItsColumns) {
    const auto matrix = memory_matrix(numbered(5, 4));
    std::vector<float> to(8, -1.0F);
    ASSERT_TRUE(matrix->read({.row = 3, .col = 1, .rows = 2, .cols = 2}, ColumnMajor<float>{to.data(), 4}).ok());
    EXPECT_THAT(to, ElementsAre(301, 401, -1, -1, 302, 402, -1, -1));
}

TEST(MatrixFile, BlockOutsideOfTheMatrixIsAReason) {
    const auto matrix = memory_matrix(numbered(5, 4), "five by four");
    double to = 0;
    const ColumnMajor<double> target{&to, 5};
    for (const MatrixBlock& block : {MatrixBlock{5, 0, 1, 1}, MatrixBlock{-1, 0, 1, 1}, MatrixBlock{0, 3, 1, 2},
                                     MatrixBlock{0, 0, 1, -1}, MatrixBlock{1, 0, 5, 1}})
        EXPECT_THAT(matrix->read(block, target).reason(), HasSubstr("not inside of five by four, 5 x 4 float64"));
    EXPECT_TRUE(matrix->read({5, 4, 0, 0}, target).ok());
    EXPECT_THAT(matrix->read({0, 0, 2, 1}, ColumnMajor<double>{&to, 1}).reason(), HasSubstr("leading dimension of 1"));
}

TEST(MatrixFile, NumbersOfValuesAndLabelsMustFit) {
    MatrixValues values = numbered(3, 2);
    values.col_labels = {"only one"};
    EXPECT_THAT(message_of<Error>([&] { (void)memory_matrix(values); }), HasSubstr("1 column labels where 2 belong"));
    values = numbered(3, 2);
    values.rows = 4;
    EXPECT_THAT(message_of<Error>([&] { (void)memory_matrix(values); }), HasSubstr("6 values where 8 belong"));
    EXPECT_THAT(message_of<Error>([&] { (void)memory_matrix({.rows = 0, .cols = 3}, "nothing"); }),
                HasSubstr("nothing has no elements: it is 0 x 3"));
}

TEST(MatrixFile, LimitedRateIsSharedByReaders) {
    constexpr Index rows = 100;
    const auto matrix = limit_rate(memory_matrix(numbered(rows, 100)), 80000 / 0.2);  // 0.2 s for all of it
    const auto start = Clock::now();
    std::vector<std::thread> readers;
    for (Index r = 0; r < 2; ++r)
        readers.emplace_back([&, r] {
            std::vector<double> to(50 * 100);
            EXPECT_TRUE(matrix->read({50 * r, 0, 50, 100}, ColumnMajor<double>{to.data(), 50}).ok());
            EXPECT_EQ(to[1], 100.0 * static_cast<double>(50 * r + 1));
        });
    for (std::thread& reader : readers) reader.join();
    const double seconds = seconds_since(start);
    EXPECT_GE(seconds, 0.19);
    EXPECT_LT(seconds, 2.0);
    EXPECT_THROW((void)limit_rate(memory_matrix(numbered(1, 1)), 0), Error);
}

TEST(CsvMatrix, DistancesHaveLabelsOfRowsAndColumns) {
    const auto matrix = read_csv_matrix(data_folder + "/eurodist.csv");
    ASSERT_EQ(matrix->rows(), 21);
    ASSERT_EQ(matrix->cols(), 21);
    EXPECT_EQ(matrix->header().row_labels, matrix->header().col_labels);
    EXPECT_EQ(matrix->header().row_labels[10], "Hook of Holland");
    EXPECT_THAT(matrix->header().notes, IsEmpty());
    for (Index i = 0; i < 21; ++i) {
        EXPECT_EQ(element(*matrix, i, i), 0);
        for (Index j = 0; j < i; ++j) EXPECT_EQ(element(*matrix, i, j), element(*matrix, j, i));
    }
    EXPECT_EQ(element(*matrix, 20, 0), 1991);  // Vienna to Athens
}

TEST(CsvMatrix, TableWithoutLabelsHasColumnNamesOnly) {
    const auto matrix = read_csv_matrix(data_folder + "/iris.csv");
    EXPECT_EQ(matrix->rows(), 150);
    EXPECT_THAT(matrix->header().col_labels, ElementsAre("Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width"));
    EXPECT_THAT(matrix->header().row_labels, IsEmpty());
    EXPECT_EQ(element(*matrix, 149, 3), 1.8);
    EXPECT_THAT(matrix->description(), HasSubstr("iris.csv, 150 x 4 float64, CSV"));
}

TEST(CsvMatrix, FirstColumnWithoutANameLabelsTheRows) {
    const auto arrests = read_csv_matrix(data_folder + "/usarrests.csv");
    EXPECT_EQ(arrests->header().row_labels[4], "California");
    EXPECT_EQ(arrests->cols(), 4);
    EXPECT_EQ(element(*arrests, 4, 1), 276);
    const auto smoke = read_csv_matrix(data_folder + "/smoke.csv");
    EXPECT_THAT(smoke->header().row_labels, ElementsAre("SM", "JM", "SE", "JE", "SC"));
    EXPECT_THAT(smoke->header().col_labels, ElementsAre("none", "light", "medium", "heavy"));
    EXPECT_EQ(element(*smoke, 3, 2), 33);
    // as pandas writes an index
    EXPECT_THAT(parse_csv_matrix(",a\n0,5\n1,6\n", "f")->header().row_labels, ElementsAre("0", "1"));
}

TEST(CsvMatrix, NumbersThatNameRowsAreLabels) {
    // In a table of distances the first column has the names of the others, in whatever order.
    for (const char* text : {"point,101,102\n101,0,5\n102,5,0\n", "point;101;102\n102;0;5\n101;5;0\n"}) {
        const auto matrix = parse_csv_matrix(text, "f");
        EXPECT_THAT(matrix->header().col_labels, ElementsAre("101", "102"));
        EXPECT_EQ(matrix->header().row_labels.size(), 2U);
        EXPECT_THAT(read_all(*matrix).values, ElementsAre(0, 5, 5, 0));
        EXPECT_THAT(matrix->header().notes, IsEmpty());
    }
    EXPECT_THAT(parse_csv_matrix("point,a1,a2\na1,0,5\na2,5,0\n", "f")->header().row_labels, ElementsAre("a1", "a2"));
    // Elsewhere it has to be called so, and be one number for one row.
    const auto named = parse_csv_matrix("ID,x,y\n7,1,2\n3,4,5\n", "f");
    EXPECT_THAT(named->header().row_labels, ElementsAre("7", "3"));
    EXPECT_THAT(named->header().col_labels, ElementsAre("x", "y"));
    EXPECT_THAT(named->header().notes,
                ElementsAre("'f': column 'ID' is taken for labels; --columns takes it for numbers"));
    EXPECT_EQ(parse_csv_matrix("ID,x,y\n7,1,2\n3,4,5\n", "f", {.columns = {"ID", "x"}})->cols(), 2);
    const auto columns = [](const std::string& name) {
        return parse_csv_matrix(name + ",x,y\n7,1,2\n3,4,5\n", "f")->cols();
    };
    for (const char* name : {"site", "Sample ID", "plot_nr", "SampleID", "row.names"})
        EXPECT_EQ(columns(name), 2) << name;
    for (const char* name : {"grid", "site2", "no", "sites", "filename2"}) EXPECT_EQ(columns(name), 3) << name;
    for (const char* data : {"age,x,y\n7,1,2\n3,4,5\n", "id,x,y\n7,1,2\n7,4,5\n", "id,x,y\n7.5,1,2\n3,4,5\n"})
        EXPECT_EQ(parse_csv_matrix(data, "f")->cols(), 3) << data;
    // A line of numbers behind a name is data where rows are called otherwise.
    const auto towns = parse_csv_matrix("Rome,1,2\nOslo,3,4\nBern,5,6\n", "f");
    EXPECT_EQ(towns->rows(), 3);
    EXPECT_THAT(towns->header().notes,
                ElementsAre(HasSubstr("the first line, a name and numbers, is taken for a row")));
    EXPECT_THAT(parse_csv_matrix("site,1990,1991\na,1,2\nb,3,4\n", "f")->header().col_labels,
                ElementsAre("1990", "1991"));
}

TEST(CsvMatrix, WhatMayNameRowsIsSaid) {
    const auto notes = [](const std::string& text) { return parse_csv_matrix(text, "f")->header().notes; };
    const auto variable = ElementsAre(HasSubstr("is taken for a variable; if it names the rows, give --labels"));
    EXPECT_THAT(notes("quadrat,x\n7,0\n3,4.5\n5,5\n"), ElementsAre(HasSubstr("--labels 'quadrat'")));
    EXPECT_THAT(notes("id,x\n7,1\n7,4\n"), variable);  // called so, but one number of two rows
    EXPECT_THAT(notes(",x\n1,1\n2,4\n"),
                ElementsAre("'f': column '' is taken for labels; --columns takes it for numbers"));
    // Counts that happen to differ, distances from a point, and what was chosen.
    EXPECT_THAT(notes("fir,oak\n7,1\n3,4\n5,2\n"), IsEmpty());
    EXPECT_THAT(notes("a,b,c\n0,3,4\n3,0,3\n4,3,0\n"), IsEmpty());
    EXPECT_THAT(parse_csv_matrix("id,x\n7,1\n7,4\n", "f", {.columns = {"id", "x"}})->header().notes, IsEmpty());
}

TEST(CsvMatrix, LabelsKeepTheirCommas) {
    const auto matrix = parse_csv_matrix(";1,5;2,5\n1,5;0;0,5\n2,5;0,5;0\n", "f");
    EXPECT_THAT(matrix->header().row_labels, ElementsAre("1,5", "2,5"));
    EXPECT_EQ(matrix->header().row_labels, matrix->header().col_labels);
    EXPECT_EQ(element(*matrix, 1, 0), 0.5);
}

TEST(CsvMatrix, ColumnsOfTextAreLeftOutAndNamed) {
    const std::string text = "length,species,width\n1,setosa,2\n3,virginica,4\n";
    const auto matrix = parse_csv_matrix(text, "iris");
    EXPECT_THAT(matrix->header().col_labels, ElementsAre("length", "width"));
    EXPECT_THAT(matrix->header().notes, ElementsAre("'iris': column 'species' left out, which is not of numbers"));
    EXPECT_THAT(read_all(*matrix).values, ElementsAre(1, 3, 2, 4));
}

TEST(CsvMatrix, ColumnsAreChosenInTheOrderAskedFor) {
    const std::string text = "length,species,width\n1,setosa,2\n3,virginica,4\n";
    const auto matrix = parse_csv_matrix(text, "iris", {.columns = {"width", "length"}, .labels = "species"});
    EXPECT_THAT(matrix->header().col_labels, ElementsAre("width", "length"));
    EXPECT_THAT(matrix->header().row_labels, ElementsAre("setosa", "virginica"));
    EXPECT_THAT(read_all(*matrix).values, ElementsAre(2, 4, 1, 3));
    EXPECT_THAT(message_of<Error>([&] { (void)parse_csv_matrix(text, "iris", {.columns = {"widht"}}); }),
                HasSubstr("did you mean 'width'?"));
    EXPECT_THAT(message_of<Error>([&] { (void)parse_csv_matrix(text, "iris", {.columns = {"species"}}); }),
                HasSubstr("line 2, column 'species': 'setosa' is not a number"));
}

TEST(CsvMatrix, LinesOfNumbersAloneNeedNoHeader) {
    const auto matrix = parse_csv_matrix("0,1,1\n1,0,2\n", "f");
    EXPECT_EQ(matrix->rows(), 2);
    EXPECT_THAT(matrix->header().col_labels, IsEmpty());
    EXPECT_THAT(read_all(*matrix).values, ElementsAre(0, 1, 1, 0, 1, 2));
    EXPECT_EQ(parse_csv_matrix("5\n6\n7\n", "f")->rows(), 3);
    const auto labelled = parse_csv_matrix("\"a, b\";1;2\n\"c\";3;4\n", "f");
    EXPECT_THAT(labelled->header().row_labels, ElementsAre("a, b", "c"));
    EXPECT_THAT(read_all(*labelled).values, ElementsAre(1, 3, 2, 4));
    const CsvMatrixOptions with_header{.csv = {.header = CsvHeader::present}};
    EXPECT_THAT(parse_csv_matrix("2001,2002\n1,2\n", "f", with_header)->header().col_labels,
                ElementsAre("2001", "2002"));
}

TEST(CsvMatrix, SayWhereAMatrixIsNotWhole) {
    const auto reason = [](const std::string& text) {
        return message_of<Error>([&] { (void)parse_csv_matrix(text, "f"); });
    };
    EXPECT_THAT(reason("a,b\n1,2\n3,\n"), HasSubstr("'f', line 3, column 'b': the value is missing"));
    EXPECT_THAT(reason("1,2\n3\n"), HasSubstr("line 2: 1 field where the first line has 2"));
    EXPECT_THAT(reason("a,b\nx,y\n"), HasSubstr("has no column of numbers"));
    EXPECT_THAT(reason("a,b\n1,inf\n"), HasSubstr("'inf' is not finite"));
    // One cell of text in a column of numbers does not make it one of text.
    EXPECT_EQ(
        reason("town,b,c\nRome,1,2\nOslo,far,3\n,4,5\n"),
        "'f', line 3, column 'b': 'far' is not a number, in the row of 'Oslo'; --columns names the columns to take");
    EXPECT_EQ(
        reason("height,b\n1,2\nx3,4\n"),
        "'f', line 3, column 'height': 'x3' is not a number; if the column names the rows, give --labels 'height'");
    EXPECT_THAT(reason("a,b\n1,\"2,5\"\n3,\"3,5\"\n"), HasSubstr("'2,5' has a decimal comma"));
    EXPECT_EQ(parse_csv_matrix("site,b\n1,2\n3a,4\n", "f")->header().row_labels.back(), "3a");
}

}  // namespace
}  // namespace tesela::matrix_file_test
