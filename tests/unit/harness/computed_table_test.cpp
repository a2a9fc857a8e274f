#include "harness/computed_table.hpp"

#include "support/temporary_directory.hpp"

#include "tesela/base/index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tesela::bench::computed_table_test {
namespace {

using ::testing::HasSubstr;

/// A row whose value is its seed divided by 3, and whose time is never the same.
Row drawn(const std::string& family, Index seed) {
    static double time = 0;
    return {{"family", family}, {"seed", seed}, {"value", static_cast<double>(seed) / 3}, {"seconds", time += 1}};
}

class ComputedTables : public ::testing::Test {
protected:
    /// Writes what the table should hold, changed by `change`, and checks it.
    Check check(const std::function<void(std::vector<Row>&)>& change) {
        std::vector<Row> rows{drawn("a", 3), drawn("a", 4), drawn("b", 3), drawn("slow", 3)};
        change(rows);
        write_table(directory_.path("table.csv"), rows, Digits::computed);
        write_table(directory_.path("table_means.csv"), means_over_seeds(rows, {"family"}), Digits::computed);
        return check_again();
    }
    Check check_again() { return check_table(table_, directory_.path()); }
    TemporaryDirectory directory_;
    int remade_ = 0;

private:
    ComputedTable table_{.file = "table.csv",
                         .remake =
                             [this](const Row& row) {
                                 ++remade_;
                                 return drawn(row.at("family").get<std::string>(), row.at("seed").get<Index>());
                             },
                         .quick = [](const Row& row) { return row.at("family") != "slow"; },
                         .cases = {"family"},
                         .times = {"seconds"}};
};

TEST_F(ComputedTables, ThatAreWhatTheCodeComputesPass) {
    const Check same = check([](auto&) {});
    EXPECT_TRUE(same.met) << same.bar;
    EXPECT_EQ(remade_, 2) << "the quick rows of the first seed";
}

TEST_F(ComputedTables, WithANumberThatIsOffByMoreThanTheLimitFailAndSayWhich) {
    EXPECT_TRUE(check([](auto& rows) { rows[0]["value"] = 1 + 1e-10; }).met);
    const Check failed = check([](auto& rows) { rows[0]["value"] = 1 + 2e-9; });
    EXPECT_FALSE(failed.met);
    EXPECT_NEAR(failed.value, 2e-9, 1e-11);
    EXPECT_THAT(failed.bar, HasSubstr("column value of {\"family\":\"a\""));
}

TEST_F(ComputedTables, WithANumberThatIsMissingOrAnotherColumnMeetNoLimit) {
    const auto value_if_all = [this](void (*change)(Row&)) {
        const Check failed = check([change](auto& rows) { std::ranges::for_each(rows, change); });
        EXPECT_FALSE(failed.met);
        return failed.value;
    };
    constexpr double infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(value_if_all([](Row& row) { row["value"] = nullptr; }), infinite);
    EXPECT_EQ(value_if_all([](Row& row) { row["more"] = 1; }), infinite);
}

TEST_F(ComputedTables, WithNothingToMakeAgainFail) {
    EXPECT_FALSE(check([](auto& rows) { rows = {drawn("slow", 3)}; }).met);
}

TEST_F(ComputedTables, WhoseMeansAreThoseOfOtherRowsFail) {
    EXPECT_TRUE(check([](auto&) {}).met);
    auto means = read_table(directory_.path("table_means.csv"));
    means.rows[0]["value"] = 1.25;
    write_table(directory_.path("table_means.csv"), means, Digits::computed);
    EXPECT_FALSE(check_again().met);
}

}  // namespace
}  // namespace tesela::bench::computed_table_test
