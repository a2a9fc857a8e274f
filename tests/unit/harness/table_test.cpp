#include "harness/table.hpp"

#include "harness/origin.hpp"
#include "harness/part_table.hpp"
#include "support/temporary_directory.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tesela::bench::table_test {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

Row row(Index nodes, double seconds) { return {{"nodes", nodes}, {"seconds", seconds}}; }

TEST(Tables, BeginWithCommitMachineAndDateOfTheirMaking) {
    const TemporaryDirectory directory;
    write_table(directory.path("a.csv"), std::vector{row(1, 0.5)}, Digits::measured);
    EXPECT_THAT(get(directory.path("a.csv")),
                MatchesRegex("# commit: [0-9a-z ]+; machine: [^;\n]+, [0-9]+ cores, [^;\n]+; "
                             "date: [0-9]+-[0-9]+-[0-9]+ [0-9]+:[0-9]+ UTC\nnodes,seconds\n1,0.5\n"));
}

TEST(Tables, AreReadBackWithTheirOrigins) {
    const TemporaryDirectory directory;
    const Table table{.origins = {"one", "two"},
                      .rows = {{{"name", "a, \"b\""}, {"none", nullptr}, {"whole", 3}, {"part", 0.123456789012}}}};
    write_table(directory.path("a.csv"), table, Digits::computed);
    const Table back = read_table(directory.path("a.csv"));
    EXPECT_EQ(back.origins, table.origins);
    EXPECT_EQ(back.rows, table.rows);
}

TEST(Tables, OfFilesWithoutOriginsAreRead) {
    const TemporaryDirectory directory;
    put(directory.path("a.csv"), "nodes,seconds\n1,0.5\n");
    const Table table = read_table(directory.path("a.csv"));
    EXPECT_TRUE(table.origins.empty());
    EXPECT_EQ(table.rows, (std::vector{row(1, 0.5)}));
}

TEST(Tables, OfMeasurementsHaveFiveDigitsAndComputedOnesTwelve) {
    const TemporaryDirectory directory;
    const Table table{.origins = {}, .rows = {{{"value", 1.0 / 3}}}};
    write_table(directory.path("a.csv"), table, Digits::measured);
    EXPECT_EQ(get(directory.path("a.csv")), "value\n0.33333\n");
    write_table(directory.path("a.csv"), table, Digits::computed);
    EXPECT_EQ(get(directory.path("a.csv")), "value\n0.333333333333\n");
}

TEST(Tables, OfRowsWithDifferentColumnsAreRefused) {
    const TemporaryDirectory directory;
    const std::vector<Row> rows{row(1, 0.5), {{"nodes", 2}}};
    EXPECT_THROW(write_table(directory.path("a.csv"), rows, Digits::measured), Error);
}

TEST(Tables, OfSeedsHaveMeansPerCase) {
    const auto drawn = [](const char* family, Index seed, double load, const Row& optional) {
        return Row{{"family", family}, {"seed", seed}, {"load", load}, {"optional", optional}};
    };
    const auto means =
        means_over_seeds({drawn("a", 0, 1, 2.0), drawn("a", 1, 2, 4.0), drawn("b", 0, 5, nullptr)}, {"family"});
    EXPECT_EQ(means, (std::vector<Row>{{{"family", "a"}, {"seeds", 2}, {"load", 1.5}, {"optional", 3.0}},
                                       {{"family", "b"}, {"seeds", 1}, {"load", 5.0}, {"optional", nullptr}}}));
}

TEST(PartTables, KeepRowsOfOtherPartsWithTheirOrigin) {
    const TemporaryDirectory directory;
    put(directory.path("a.csv"), "# nodes 1: long ago\n# nodes 2: before\nnodes,seconds\n1,0.5\n2,0.25\n4,0.125\n");
    const PartTable table(directory.path("a.csv"), "nodes", std::vector{row(2, 0.75)});
    table.write();
    const Table back = read_table(directory.path("a.csv"));
    EXPECT_EQ(back.rows, (std::vector{row(1, 0.5), row(2, 0.75), row(4, 0.125)}));
    ASSERT_EQ(back.origins.size(), 3U);
    EXPECT_EQ(back.origins[0], "nodes 1: long ago");
    EXPECT_THAT(back.origins[1], StartsWith("nodes 2: commit: "));
    EXPECT_EQ(back.origins[2], "nodes 4: commit, machine and date were not recorded");
}

TEST(PartTables, WithOtherColumnsAreReplaced) {
    const TemporaryDirectory directory;
    put(directory.path("a.csv"), "# nodes 1: long ago\nnodes,bytes\n1,8\n");
    const PartTable table(directory.path("a.csv"), "nodes", std::vector{row(2, 0.75)});
    EXPECT_EQ(table.rows(), (std::vector{row(2, 0.75)}));
    table.write();
    EXPECT_EQ(read_table(directory.path("a.csv")).origins.size(), 1U);
}

TEST(Origins, NameTheProcessorAndTheNumbersOfItsModel) {
    EXPECT_EQ(
        processor_model("processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) Processor\n"),
        "Intel(R) Xeon(R) Processor (family 6, model 143)");
    EXPECT_EQ(processor_model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
              "processor of implementer 0x41, part 0xd0c");
    EXPECT_EQ(processor_model(""), "unknown processor");
}

}  // namespace
}  // namespace tesela::bench::table_test
