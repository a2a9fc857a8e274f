#include "tesela/io/csv.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tesela::csv_test {
namespace {

using Doubles = std::vector<double>;

CsvTable parse(const std::string& text, CsvOptions options = {}) { return parse_csv(text, "data.csv", options); }

std::vector<std::string> row(const CsvTable& table, Index r) {
    std::vector<std::string> fields;
    for (std::size_t c = 0; c < table.names().size(); ++c) fields.emplace_back(table.field(r, static_cast<Index>(c)));
    return fields;
}

std::string repository_file(const std::string& name) {
    return (std::filesystem::path(TESELA_DATA_DIR).parent_path() / name).string();
}

TEST(Csv, ReadsNumbersByColumnName) {
    const NumericTable table = parse("id,z,x,y\na,1.5,2,3\nb,-1e-3,+4,5\n").numbers({"x", "y", "z"}, NaPolicy::error);
    EXPECT_EQ(table.columns, (std::vector<Doubles>{{2, 4}, {3, 5}, {1.5, -1e-3}}));
    EXPECT_EQ(table.lines, (std::vector<Index>{2, 3}));
    EXPECT_EQ(table.rows_read, 2);
    EXPECT_EQ(table.rows_dropped, 0);
}

TEST(Csv, UnderstandsQuotesAndKeepsPhysicalLines) {
    const CsvTable table = parse("\"a,b\",\"c\"\"d\"\n\"one\ntwo\",\"x \"\"y\"\"\"\n,\"\"\nlast,5\"");
    EXPECT_EQ(table.names(), (std::vector<std::string>{"a,b", "c\"d"}));
    ASSERT_EQ(table.rows(), 3);
    EXPECT_EQ(row(table, 0), (std::vector<std::string>{"one\ntwo", "x \"y\""}));
    EXPECT_EQ(row(table, 1), (std::vector<std::string>{"", ""}));
    EXPECT_EQ(row(table, 2), (std::vector<std::string>{"last", "5\""}));
    EXPECT_EQ(table.line(0), 2);
    EXPECT_EQ(table.line(1), 4);
    EXPECT_EQ(table.line(2), 5);
}

TEST(Csv, LineEndsMarksAndBlankLinesMakeNoDifference) {
    const NumericTable expected = parse("x,y\n1,2\n3,4\n").numbers({"x", "y"}, NaPolicy::error);
    for (const char* text : {"x,y\r\n1,2\r\n3,4\r\n", "\xef\xbb\xbfx,y\n1,2\n3,4", "x,y\r1,2\r3,4\r",
                             "x,y\n1,2\n3,4\n\n\n", "x, y \n 1 ,2\n3,\t4\n", "\n\nx,y\n\n1,2\r\n\r\n3,4"})
        EXPECT_EQ(parse(text).numbers({"x", "y"}, NaPolicy::error).columns, expected.columns) << text;
}

TEST(Csv, FindsTheDelimiterInTheHeaderUnlessTold) {
    const std::vector<Doubles> expected{{1}, {2}};
    EXPECT_EQ(parse("x;y\n1;2\n").numbers({"x", "y"}, NaPolicy::error).columns, expected);
    EXPECT_EQ(parse("x\ty\n1\t2\n").numbers({"x", "y"}, NaPolicy::error).columns, expected);
    EXPECT_EQ(parse("\"x,,,\";y\n1;2\n").numbers({"x,,,", "y"}, NaPolicy::error).columns, expected);
    const CsvTable forced = parse("a,b;c,d\n1,5;2\n", {.delimiter = CsvDelimiter::semicolon});
    EXPECT_EQ(forced.names(), (std::vector<std::string>{"a,b", "c,d"}));
    EXPECT_EQ(row(forced, 0), (std::vector<std::string>{"1.5", "2"}));
}

TEST(Csv, OfSeveralPossibleSeparatorsTakesTheOneThatFits) {
    // Names with commas between semicolons, and numbers with them in a file without a header.
    EXPECT_EQ(parse("conc, mg/l;y\n1;2\n").numbers({"conc, mg/l", "y"}, NaPolicy::error).columns,
              (std::vector<Doubles>{{1}, {2}}));
    EXPECT_EQ(parse("a;b,y\n\n1,2\n\n").numbers({"a;b", "y"}, NaPolicy::error).columns,
              (std::vector<Doubles>{{1}, {2}}));
    for (const char* text : {"1,5;2\n3,5;4\n", "Rome;1,5;2\nOslo;3,5;4\n"}) {
        const CsvTable table = parse(text, {.header = CsvHeader::automatic});
        EXPECT_FALSE(table.has_header());
        const auto last = static_cast<Index>(table.names().size()) - 1;
        EXPECT_EQ(table.number(1, last - 1), 3.5);
        EXPECT_EQ(table.number(1, last), 4);
    }
}

TEST(Csv, DistancesWithDecimalCommasAndWithoutAHeaderKeepTheirFirstRow) {
    const CsvTable table = parse("0,0;1,5;2,0\n1,5;0,0;1,5\n2,0;1,5;0,0\n", {.header = CsvHeader::automatic});
    EXPECT_FALSE(table.has_header());
    EXPECT_EQ(table.rows(), 3);
    EXPECT_EQ(table.number(0, 1), 1.5);
}

TEST(Csv, BetweenSemicolonsACommaIsADecimalPoint) {
    const CsvTable table = parse("id;x;y;note\n3;1,5; -2,25e1 ;1,5\n4;2;NA;text\n5;\"+0,5\";7;\n");
    const NumericTable numbers = table.numbers({"id", "x"}, NaPolicy::error);
    EXPECT_EQ(numbers.columns, (std::vector<Doubles>{{3, 4, 5}, {1.5, 2, 0.5}}));
    EXPECT_EQ(table.numbers({"y"}, NaPolicy::drop).columns, (std::vector<Doubles>{{-22.5, 7}}));
    EXPECT_EQ(table.content("x"), CsvContent::numbers);
    EXPECT_EQ(table.content("note"), CsvContent::mixed);
    // What is written again can be read again; text stays as it was.
    EXPECT_EQ(row(table, 0), (std::vector<std::string>{"3", "1.5", " -2.25e1 ", "1,5"}));
    // A column with points beside one with commas does no harm to who does not ask for it.
    EXPECT_EQ(parse("x;time\n1,5;12.30\n").numbers({"x"}, NaPolicy::error).columns, (std::vector<Doubles>{{1.5}}));
    EXPECT_EQ(parse("x;y\n1.5;2\n").numbers({"x"}, NaPolicy::error).columns, (std::vector<Doubles>{{1.5}}));
    // Nor does a comma in a remark to numbers with points.
    EXPECT_EQ(parse("x;remark\n1.5;1,5\n2.5;see there\n").numbers({"x"}, NaPolicy::error).columns,
              (std::vector<Doubles>{{1.5, 2.5}}));
}

TEST(Csv, AFieldThatIsANumberToPeopleIsNoText) {
    const CsvTable table =
        parse("pop,size,day,place\n\"1,234\",1 234,01.02.2023,\"1, 2\"\n\"2,5\",-5'678.5,2.3.24,3a\n");
    for (const char* column : {"pop", "size"}) {
        EXPECT_EQ(table.content(column), CsvContent::numbers) << column;
        EXPECT_THROW((void)table.numbers({column}, NaPolicy::error), Error) << column;
    }
    for (const char* column : {"day", "place"}) EXPECT_EQ(table.content(column), CsvContent::text) << column;
}

TEST(Csv, NamesKeepTheirCommas) {
    const CsvTable table = parse("plot;x;note\n1,1;0,5;a,b\n1,2;1;1.5\n");
    EXPECT_EQ(table.field(0, 0), "1.1");
    EXPECT_EQ(table.label(0, 0), "1,1");
    EXPECT_EQ(table.label(1, 1), "1");
    EXPECT_EQ(table.label(0, 2), "a,b");
    EXPECT_EQ(table.label(1, 2), "1.5");
}

TEST(Csv, ExcelsFirstLineNamesTheSeparator) {
    for (const char* text :
         {"sep=;\nx;y,z\n1,5;2\n", "\xef\xbb\xbf\"sep=;\"\r\nx;y,z\r\n1,5;2\r\n", "SEP=;\n\nx;y,z\n1,5;2"}) {
        const CsvTable table = parse(text);
        EXPECT_EQ(table.names(), (std::vector<std::string>{"x", "y,z"})) << text;
        EXPECT_EQ(table.number(0, 0), 1.5) << text;
    }
    EXPECT_EQ(parse("sep=\t\nx,y\tz\n1\t2\n").line(0), 3);
}

TEST(Csv, RsRowNamesNeedNoNameInTheHeader) {
    for (const char* text : {"\"x\"\t\"y\"\n\"1\"\t2\t3\n\"7\"\t4\t5\n", "x\ty\na\t2\t3\nb\t4\t5\n",
                             "\"x\",\"y\"\n\"a\",2,3\n\"b\",4,5\n"}) {
        const CsvTable table = parse(text);
        EXPECT_EQ(table.names(), (std::vector<std::string>{"", "x", "y"})) << text;
        EXPECT_EQ(table.numbers({"y"}, NaPolicy::error).columns, (std::vector<Doubles>{{3, 5}})) << text;
    }
    // What could as well be a name that the header lacks at its end is refused.
    for (const char* text : {"x,y\n1,2,3\n", "x\ty\n1\t2\t3\n", "x,y\na,2,3\n", "site\ty\na\t2\t3\n", "x\ty\na\t2\t\n",
                             "\"x\",\"y\"\n\"1\",\"2\",\"3\"\n"})
        EXPECT_THROW((void)parse(text), Error) << text;
}

TEST(Csv, ABlankTabAfterACommaSeparatesNothing) {
    EXPECT_EQ(parse("x,\ty,\tz\n1,\t2,\t3\n").numbers({"x", "y", "z"}, NaPolicy::error).columns,
              (std::vector<Doubles>{{1}, {2}, {3}}));
}

TEST(Csv, SaysWhatAPackedFileIs) {
    const auto complaint = [](const std::string& text) { return message_of<Error>([&] { (void)parse(text); }); };
    EXPECT_EQ(complaint(std::string("\x1f\x8b\x08\x00\x00", 5)),
              "'data.csv' is compressed by gzip: unpack it first, as with gunzip");
    EXPECT_EQ(complaint(std::string("PK\x03\x04\x14\x00", 6)),
              "'data.csv' is a ZIP archive, as spreadsheets are: save the table as CSV");
}

TEST(Csv, SaysThatFieldsAreSeparatedBySpaces) {
    const std::string spaces = "the fields seem to be separated by spaces; separate them by commas, semicolons or tabs";
    const auto complaint = [](const std::string& text, const std::string& column) {
        return message_of<Error>([&] { (void)parse(text).numbers({column}, NaPolicy::error); });
    };
    EXPECT_EQ(complaint("x y  z\n1 2 3\n", "z"), "'data.csv', line 1: no column 'z'; " + spaces);
    // As R's write.table() does.
    EXPECT_EQ(complaint("\"x\" \"y\"\n\"1\" 2 3\n", "y"), "'data.csv', line 1: " + spaces);
    EXPECT_EQ(complaint("log zinc\n1\n", "zink"), "'data.csv', line 1: no column 'zink'; the columns are 'log zinc'");
    EXPECT_EQ(parse("log zinc\n1\n").numbers({"log zinc"}, NaPolicy::error).columns, (std::vector<Doubles>{{1}}));
}

TEST(CsvNames, AreThoseOfAHeaderWithQuotesWhereThereAreCommas) {
    const std::vector<std::string> expected{"east, m", "north", "a \"b\""};
    EXPECT_EQ(parse_csv_names(R"("east, m",north,"a ""b""")", "--coords"), expected);
    EXPECT_EQ(parse_csv_names("x, y", "--coords"), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(parse_csv_names("x;y", "--coords"), (std::vector<std::string>{"x;y"}));
    EXPECT_THROW((void)parse_csv_names("\"x", "--coords"), Error);
    EXPECT_THROW((void)parse_csv_names("", "--coords"), Error);
    EXPECT_THROW((void)parse_csv_names("x\ny", "--coords"), Error);
}

TEST(Csv, CountsMissingValuesPerColumnAndDropsTheirRows) {
    const CsvTable table = parse("x,y,note\n1,2,\n,3,a\nNA,nan,b\n4,NaN,c\n5,null,d\n6,\"NA\",e\n7,8,NA\n");
    const NumericTable numbers = table.numbers({"x", "y"}, NaPolicy::drop);
    EXPECT_EQ(numbers.columns, (std::vector<Doubles>{{1, 7}, {2, 8}}));
    EXPECT_EQ(numbers.lines, (std::vector<Index>{2, 8}));
    EXPECT_EQ(numbers.rows_read, 7);
    EXPECT_EQ(numbers.rows_dropped, 5);
    EXPECT_EQ(numbers.missing, (std::vector<Index>{2, 4}));
}

struct BadInput {
    const char* what;
    std::string text;
    std::vector<std::string> mentions;
};

class BadCsv : public testing::TestWithParam<BadInput> {};

TEST_P(BadCsv, GivesOneLineThatSaysWhere) {
    const std::string message = message_of<Error>([] {
        (void)parse(GetParam().text).numbers({"x", "zinc"}, NaPolicy::error);
    });
    for (const std::string& part : GetParam().mentions) EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_NE(message.find("'data.csv'"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCsv,
    testing::Values(
        BadInput{
            "missing_column", "x,y,zinck\n1,2,3\n", {"line 1", "'zinc'", "did you mean 'zinck'?", "'x', 'y', 'zinck'"}},
        BadInput{"nothing_similar", "x,alpha\n1,2\n", {"line 1", "no column 'zinc'; the columns are 'x', 'alpha'"}},
        BadInput{"column_twice", "x,zinc,zinc\n1,2,3\n", {"line 1", "more than one column", "'zinc'"}},
        BadInput{"text", "x,zinc\n1,2\n3,4 mg\n", {"line 3", "column 'zinc'", "'4 mg' is not a number"}},
        BadInput{"text_after_newline_in_quotes", "x,zinc,n\n1,2,\"a\nb\"\nz,4,c\n", {"line 4", "column 'x'", "'z'"}},
        BadInput{"newline_in_value", "x,zinc\n1,\"2\n3\"\n", {"line 2", "column 'zinc'", "'2\\n3'"}},
        BadInput{"long_text", "x,zinc\n1," + std::string(10000, 'q') + "\n", {"line 2", "qqq…'"}},
        BadInput{"infinity", "x,zinc\n1,-inf\n", {"line 2", "column 'zinc'", "'-inf' is not finite"}},
        BadInput{"too_large", "x,zinc\n1,1e999\n", {"line 2", "column 'zinc'", "'1e999' is out of the range"}},
        BadInput{"decimal_comma", "x,zinc\n1,\"2,5\"\n", {"line 2", "column 'zinc'", "decimal comma; write 2.5"}},
        BadInput{"decimal_comma_between_tabs", "x\tzinc\n1\t2,5\n", {"line 2", "'2,5' has a decimal comma"}},
        BadInput{"two_decimal_commas", "x;zinc\n1;2,500,000\n", {"line 2", "'2,500,000' is not a number"}},
        BadInput{"comma_and_point_in_a_number", "x;zinc\n1;2.500,5\n", {"line 2", "'2.500,5' is not a number"}},
        BadInput{"comma_and_point_in_a_column",
                 "x;zinc\n1;2,5\n1;3.5\n",
                 {"line 3, column 'zinc': '3.5' has a decimal point, and '2,5' in line 2, column 'zinc' a decimal"}},
        BadInput{"comma_and_point_in_two_columns",
                 "x;zinc\n1.234;2\n1.5;2,5\n",
                 {"line 2, column 'x': '1.234' has a decimal point, and '2,5' in line 3, column 'zinc' a decimal"}},
        BadInput{
            "either_may_separate", "x;conc, mg\n1;2,5\n", {"line 1: commas and semicolons are there outside quotes"}},
        BadInput{"neither_separates", "x,y;zinc\n1\n", {"line 1: commas and semicolons are there outside quotes"}},
        BadInput{"three_separators", "x,y;zinc\tw\n", {"line 1: commas, semicolons and tabs are there outside quotes"}},
        BadInput{"two_signs", "x,zinc\n1,+-2\n", {"line 2", "column 'zinc'", "'+-2' is not a number"}},
        BadInput{"hexadecimal", "x,zinc\n1,0x10\n", {"line 2", "column 'zinc'", "'0x10' is not a number"}},
        BadInput{"thousands", "x,zinc\n1,\"2,500\"\n", {"line 2", "'2,500' has a comma", "write 2.500 or 2500"}},
        BadInput{"thousands_apart", "x,zinc\n1,2 500\n", {"line 2", "'2 500' is not a number; write it without"}},
        BadInput{"stray_quote_in_header", "x,zi\"nc\n1,2\n", {"line 1", "'zi\"nc' has a quote inside"}},
        BadInput{"odd_quote_in_header", "x\";zinc;y\n1;2;3\n", {"line 1", "has a quote inside"}},
        BadInput{"another_separator", "sep=|\nx|zinc\n1|2\n", {"line 1", "'sep=|' says that '|' separates"}},
        BadInput{"missing_value", "x,zinc\n1,2\n3,NA\n", {"line 3", "column 'zinc'", "missing", "--na drop"}},
        BadInput{"too_many_fields", "x,zinc\n1,2\n3,4,five\n", {"line 3", "3 fields", "header has 2", "'five'"}},
        BadInput{"too_few_fields", "x,zinc\n1,2\n3\n", {"line 3", "1 field where the header has 2", "column 'zinc'"}},
        BadInput{"empty", "", {"is empty"}}, BadInput{"only_blank_lines", "\xef\xbb\xbf\r\n\n", {"is empty"}},
        BadInput{"nothing_but_a_packers_first_bytes", "BZh", {"no data rows"}},
        BadInput{"no_rows", "x,zinc\n\n", {"no data rows"}},
        BadInput{"open_quote", "x,zinc\n1,2\n3,\"4\n5,6\n7,8\n", {"line 3", "never ends"}},
        BadInput{"text_after_quote", "x,zinc\n1,\"2\"3\n", {"line 2", "'3' after a closing quote"}},
        BadInput{"binary", std::string("x,zinc\n1,2\n\0\x01", 13), {"line 3", "NUL"}},
        BadInput{"utf16", std::string("\xff\xfex\0,\0", 6), {"line 1", "UTF-16"}},
        BadInput{"control_characters_in_header", "\x1b[2J\n1\n", {"line 1", "'\\x1b[2J'"}}),
    [](const auto& bad) { return std::string(bad.param.what); });

TEST(Csv, SaysSoWhenNoRowIsComplete) {
    const std::string message = message_of<Error>([] {
        (void)parse("x,y\n1,NA\nNA,2\n").numbers({"x", "y"}, NaPolicy::drop);
    });
    EXPECT_NE(message.find("no row has a value in every one of the columns 'x', 'y'"), std::string::npos) << message;
}

TEST(Csv, NamesAnUnreadableFileAndTheReason) {
    const TemporaryDirectory directory;
    EXPECT_NE(message_of<Error>([&] { (void)read_csv(directory.path("none.csv")); }).find("No such file"),
              std::string::npos);
    EXPECT_NE(message_of<Error>([&] { (void)read_csv(directory.path()); }).find("Is a directory"), std::string::npos);
}

TEST(Csv, WritesShortNumbersThatReadBackTheSame) {
    const TemporaryDirectory directory;
    const Doubles values{0.1, 1.0 / 3, 100000, 5e-324, std::numeric_limits<double>::max(), -0.0, std::nan("")};
    write_csv(directory.path("out.csv"), {{"value", values}});
    EXPECT_EQ(get(directory.path("out.csv")),
              "value\n0.1\n0.3333333333333333\n100000\n5e-324\n1.7976931348623157e+308\n-0\nNA\n");
    const NumericTable back = read_csv(directory.path("out.csv")).numbers({"value"}, NaPolicy::drop);
    EXPECT_EQ(back.columns[0], Doubles(values.begin(), values.end() - 1));
    EXPECT_TRUE(std::signbit(back.columns[0][5]));
    EXPECT_EQ(back.missing, std::vector<Index>{1});
}

TEST(Csv, TextIsWrittenAsItWasReadBeforeTheNumbers) {
    const TemporaryDirectory directory;
    const CsvTable table =
        parse_csv("id;x;note\n007;1.50;plain\nb;2e3;\"a, b; \"\"c\"\"\"\n;3;\" spaces \"\n", "in.csv");
    std::vector<CsvTextColumn> texts;
    for (Index c = 0; c < 3; ++c) {
        texts.push_back({table.names()[static_cast<std::size_t>(c)], {}});
        for (Index row = 0; row < 3; ++row) texts.back().values.push_back(table.field(row, c));
    }
    const std::vector<double> mean{0.5, 1, 2};
    write_csv(directory.path("out.csv"), texts, {{"mean", mean}});
    EXPECT_EQ(get(directory.path("out.csv")),
              "id,x,note,mean\n007,1.50,plain,0.5\nb,2e3,\"a, b; \"\"c\"\"\",1\n,3,\" spaces \",2\n");
    EXPECT_EQ(table.numbers({"x"}, NaPolicy::error).rows, (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(parse_csv("x\n1\nNA\n3\n", "in.csv").numbers({"x"}, NaPolicy::drop).rows, (std::vector<Index>{0, 2}));
    texts.back().values.pop_back();
    EXPECT_THROW(write_csv(directory.path("out.csv"), texts, {{"mean", mean}}), Error);
}

TEST(Csv, RefusesColumnsOfDifferentLengthAndLeavesNoFile) {
    const TemporaryDirectory directory;
    const Doubles two{1, 2};
    const Doubles three{1, 2, 3};
    const std::string message = message_of<Error>([&] {
        write_csv(directory.path("out.csv"), {{"a", two}, {"b", three}});
    });
    EXPECT_NE(message.find("column 'b' has 3 rows where column 'a' has 2"), std::string::npos) << message;
    EXPECT_TRUE(directory.entries().empty());
}

/// The bundled data against facts of the literature: 155 samples, 3103 cells of 40 m (Burrough and McDonnell 1998).
TEST(Csv, ColumnsThatMustBePresentMayHoldText) {
    const CsvTable table = parse("x,use\n1,a\n2, NA\nNA,b\n4,5\n");
    const NumericTable numbers = table.numbers({"x"}, NaPolicy::drop, {"use"});
    EXPECT_EQ(numbers.columns, (std::vector<Doubles>{{1, 4}}));
    EXPECT_EQ(numbers.rows, (std::vector<Index>{0, 3}));
    EXPECT_EQ(numbers.missing, (std::vector<Index>{1, 1}));
    try {
        (void)table.numbers({"x"}, NaPolicy::error, {"use"});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  "'data.csv', line 3, column 'use': the value is missing; --na drop leaves such rows out");
    }
}

TEST(Csv, KnowsWhetherAColumnHoldsNumbersOrText) {
    const CsvTable table = parse("n,t,m,e\n1,a,1,NA\n -2.5,NA,b,\n,c,,NaN\n");
    EXPECT_EQ(table.content("n"), CsvContent::numbers);
    EXPECT_EQ(table.content("t"), CsvContent::text);
    EXPECT_EQ(table.content("m"), CsvContent::mixed);
    EXPECT_EQ(table.content("e"), CsvContent::numbers);
    EXPECT_THROW((void)table.content("x"), Error);
}

TEST(Csv, ReadsTheBundledData) {
    const NumericTable samples =
        read_csv(repository_file("data/meuse.csv")).numbers({"x", "y", "zinc", "log_zinc"}, NaPolicy::error);
    EXPECT_EQ(samples.rows_read, 155);
    for (std::size_t i = 0; i < 155; ++i) EXPECT_NEAR(samples.columns[3][i], std::log(samples.columns[2][i]), 1e-12);
    const NumericTable cells = read_csv(repository_file("data/meuse_grid.csv")).numbers({"x", "y"}, NaPolicy::error);
    EXPECT_EQ(cells.rows_read, 3103);
    for (const Doubles& column : cells.columns)
        for (const double value : column) EXPECT_EQ(std::fmod(value - column[0], 40.0), 0.0);
}

// --- properties ------------------------------------------------------------------------------------------------------

/// Text made of what a CSV reader trips over.
rc::Gen<std::string> nasty_text() {
    return rc::gen::container<std::string>(rc::gen::elementOf(std::string("\"\",;\t\r\n ab1.-'\\\xc3\xa9{}%")));
}

/// One way of writing a table down, chosen at random.
struct Dialect {
    char delimiter;
    std::string line_end;
    std::string mark;
    bool quote_all;
    bool final_line_end;
};

Dialect any_dialect() {
    return {*rc::gen::element(',', ';', '\t'), *rc::gen::element<std::string>("\n", "\r\n"),
            *rc::gen::element<std::string>("", "\xef\xbb\xbf"), *rc::gen::arbitrary<bool>(),
            *rc::gen::arbitrary<bool>()};
}

std::string written(const std::string& field, const Dialect& dialect) {
    const bool special = field.empty() || field.find_first_of("\",;\t\r\n") != std::string::npos ||
                         field.front() == ' ' || field.back() == ' ';
    if (!special && !dialect.quote_all) return field;
    std::string result = "\"";
    for (const char c : field) result += std::string(c == '"' ? 2 : 1, c);
    return result + '"';
}

/// Whether a field is what was written, but for decimal commas between semicolons.
bool is_as_written(std::string_view field, std::string cell, const Dialect& dialect) {
    if (field == cell) return true;
    std::replace(cell.begin(), cell.end(), ',', '.');
    return dialect.delimiter == ';' && field == cell && cell.find('1') != std::string::npos;
}

/// An independent count: the line a character is on is one more than the number of line ends before it.
Index lines_in(const std::string& text) {
    Index count = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        if (text[i] == '\r' || text[i] == '\n') ++count;
    }
    return count;
}

RC_GTEST_PROP(CsvProperty, AnyTableInAnyDialectReadsBack, ()) {
    const Dialect dialect = any_dialect();
    const auto columns = *rc::gen::inRange<std::size_t>(1, 5);
    const auto rows = *rc::gen::inRange<std::size_t>(1, 6);
    const auto cells = *rc::gen::container<std::vector<std::string>>((rows + 1) * columns, nasty_text());
    std::string text;
    std::vector<Index> lines;
    for (std::size_t r = 0; r <= rows; ++r) {
        lines.push_back(lines_in(text));
        for (std::size_t c = 0; c < columns; ++c) {
            if (c > 0) text += dialect.delimiter;
            text += written(cells[r * columns + c], dialect);
        }
        if (r < rows || dialect.final_line_end) text += dialect.line_end;
    }
    const CsvTable table = parse(dialect.mark + text);
    RC_ASSERT(table.names() ==
              std::vector<std::string>(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(columns)));
    RC_ASSERT(table.rows() == static_cast<Index>(rows));
    for (std::size_t r = 0; r < rows; ++r) {
        RC_ASSERT(table.line(static_cast<Index>(r)) == lines[r + 1]);
        for (std::size_t c = 0; c < columns; ++c)
            RC_ASSERT(is_as_written(table.field(static_cast<Index>(r), static_cast<Index>(c)),
                                    cells[(r + 1) * columns + c], dialect));
    }
}

RC_GTEST_PROP(CsvProperty, WrittenTablesReadBackBitForBit, ()) {
    const TemporaryDirectory directory;
    const auto names = *rc::gen::unique<std::vector<std::string>>(nasty_text());
    RC_PRE(!names.empty() && names.size() < 8);
    const auto rows = *rc::gen::inRange<std::size_t>(1, 10);
    const auto finite = rc::gen::suchThat(rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                                                       [](std::uint64_t bits) { return std::bit_cast<double>(bits); }),
                                          [](double value) { return std::isfinite(value); });
    std::vector<Doubles> columns;
    for (std::size_t c = 0; c < names.size(); ++c) columns.push_back(*rc::gen::container<Doubles>(rows, finite));
    std::vector<CsvColumn> out;
    for (std::size_t c = 0; c < names.size(); ++c) out.push_back({names[c], columns[c]});
    write_csv(directory.path("table.csv"), out);
    const NumericTable back = read_csv(directory.path("table.csv")).numbers(names, NaPolicy::error);
    RC_ASSERT(back.columns == columns);
}

RC_GTEST_PROP(CsvProperty, AnyBytesGiveATableOrAnErrorOfOneLine, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::elementOf(std::string("\"\"\",;\n\n\r1")), rc::gen::arbitrary<char>()));
    try {
        const CsvTable table = parse_csv(text, "bytes.csv");
        RC_ASSERT(table.rows() > 0);
        for (Index r = 0; r < table.rows(); ++r)
            for (Index c = 0; c < static_cast<Index>(table.names().size()); ++c) (void)table.field(r, c);
    } catch (const Error& error) {
        RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
}

}  // namespace
}  // namespace tesela::csv_test
