#include "computed_table.hpp"

#include "support/temporary_directory.hpp"

#include "tesela/base/index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace tesela::bench {
namespace {

using ::testing::HasSubstr;

bool met(const Row& check) { return check.at("met").get<bool>(); }

/// A row whose value is its seed divided by 3, and whose time is never the same.
Row drawn(const std::string& family, Index seed) {
    static double time = 0;
    return {{"family", family}, {"seed", seed}, {"value", static_cast<double>(seed) / 3}, {"seconds", time += 1}};
}

class ComputedTables : public ::testing::Test {
protected:
    /// Writes what the table should hold, changed by `change`, and checks it.
    Row check(const std::function<void(std::vector<Row>&)>& change) {
        std::vector<Row> rows{drawn("a", 3), drawn("a", 4), drawn("b", 3), drawn("slow", 3)};
        change(rows);
        write_table(directory_.path("table.csv"), rows, Digits::computed);
        write_table(directory_.path("table_means.csv"), means_over_seeds(rows, {"family"}), Digits::computed);
        return check_again();
    }
    Row check_again() { return check_table(table_, directory_.path()); }
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
    const Row check = this->check([](auto&) {});
    EXPECT_TRUE(met(check)) << check.dump();
    EXPECT_EQ(remade_, 2) << "the quick rows of the first seed";
}

TEST_F(ComputedTables, WithANumberThatIsOffByMoreThanTheLimitFailAndSayWhich) {
    EXPECT_TRUE(met(check([](auto& rows) { rows[0]["value"] = 1 + 1e-10; })));
    const Row failed = check([](auto& rows) { rows[0]["value"] = 1 + 2e-9; });
    EXPECT_FALSE(met(failed));
    EXPECT_NEAR(failed.at("value").get<double>(), 2e-9, 1e-11);
    EXPECT_THAT(failed.at("bar").get<std::string>(), HasSubstr("column value of {\"family\":\"a\""));
}

TEST_F(ComputedTables, WithANumberThatIsMissingOrAnotherColumnFail) {
    EXPECT_FALSE(met(check([](auto& rows) {
        for (Row& row : rows) row["value"] = nullptr;
    })));
    EXPECT_FALSE(met(check([](auto& rows) {
        for (Row& row : rows) row["more"] = 1;
    })));
}

TEST_F(ComputedTables, WithNothingToMakeAgainFail) {
    EXPECT_FALSE(met(check([](auto& rows) { rows = {drawn("slow", 3)}; })));
}

TEST_F(ComputedTables, WhoseMeansAreThoseOfOtherRowsFail) {
    EXPECT_TRUE(met(check([](auto&) {})));
    auto means = read_table(directory_.path("table_means.csv"));
    means.rows[0]["value"] = 1.25;
    write_table(directory_.path("table_means.csv"), means, Digits::computed);
    EXPECT_FALSE(met(check_again()));
}

}  // namespace
}  // namespace tesela::bench
