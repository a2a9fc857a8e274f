#include "harness/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tesela::bench::report_test {
namespace {

using ::testing::MatchesRegex;

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(Reports, AreMetIfAllTheirChecksAre) {
    Report report;
    EXPECT_TRUE(report.met());
    report.checks = {at_most("a", 1, 1), at_least("b", 1, 1), above("c", 2, 1)};
    EXPECT_TRUE(report.met());
    report.checks.push_back(above("d", 1, 1));
    EXPECT_FALSE(report.met());
}

TEST(Reports, HaveNoCheckThatIsMetByWhatIsNoNumber) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(at_most("a", none, 1).met);
    EXPECT_FALSE(at_least("b", none, 1).met);
    EXPECT_FALSE(above("c", none, 1).met);
}

TEST(Reports, AsJsonHaveFiguresAtTheTopAndThenRowsNotesAndChecks) {
    const Report report{.figures = {{"seconds", 0.5}, {"name", "lu"}},
                        .rows = {Row{{"n", 1}, {"ratio", nullptr}}, Row{{"n", 2}, {"ratio", 0.25}}},
                        .checks = {at_most("a bar", 2, 1.5)},
                        .notes = {"a note"}};
    EXPECT_EQ(as_json(report).dump(), R"({"seconds":0.5,"name":"lu",)"
                                      R"("rows":[{"n":1,"ratio":null},{"n":2,"ratio":0.25}],"notes":["a note"],)"
                                      R"("checks":[{"bar":"a bar","value":2.0,"limit":1.5,"met":false}]})");
}

TEST(Reports, AsJsonHaveChecksEvenIfThereIsNothingElse) { EXPECT_EQ(as_json({}).dump(), R"({"checks":[]})"); }

TEST(Reports, AsJsonSayThatAnInfiniteValueIsNone) {
    const Report report{.checks = {at_most("a bar", infinite, 1)}};
    EXPECT_EQ(as_json(report).dump(), R"({"checks":[{"bar":"a bar","value":"none","limit":1.0,"met":false}]})");
}

TEST(Reports, AsTextAlignNumbersToTheRightAndWordsToTheLeft) {
    const Report report{.rows = {Row{{"name", "cholesky"}, {"n", 100}, {"gflops", 12.345678}, {"ratio", 0.5}},
                                 Row{{"name", "lu"}, {"n", 4000}, {"gflops", 1234567.0}, {"ratio", nullptr}}}};
    EXPECT_EQ(as_text(report),
              "name         n      gflops  ratio\n"
              "cholesky   100      12.346    0.5\n"
              "lu        4000  1.2346e+06      -\n");
}

TEST(Reports, AsTextHaveALineForEachFigureNoteAndCheck) {
    const Report report{.figures = {{"n", 123456}, {"seconds", 1.0 / 3}, {"correct", true}, {"grid", "2x2"}},
                        .checks = {at_most("one bar", 1.0 / 3, 1), at_most("another", infinite, 1)},
                        .notes = {"it is slow"}};
    EXPECT_THAT(as_text(report), MatchesRegex("n        123456\n"
                                              "seconds  0.33333\n"
                                              "correct  true\n"
                                              "grid     2x2\n"
                                              "note: it is slow\n"
                                              "met +0.33333 \\(limit 1\\): one bar\n"
                                              "NOT MET +none \\(limit 1\\): another\n"));
}

}  // namespace
}  // namespace tesela::bench::report_test
