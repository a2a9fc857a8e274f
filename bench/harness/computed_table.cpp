#include "harness/computed_table.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace tesela::bench {
namespace {

constexpr double limit = 1e-9;
constexpr double different = std::numeric_limits<double>::infinity();

double difference(const Row& a, const Row& b) {
    if (!a.is_number() || !b.is_number()) return a == b ? 0 : different;
    const auto x = a.get<double>(), y = b.get<double>();
    constexpr double nothing = 1e-12;
    const double apart = std::abs(x - y) / std::max({nothing, std::abs(x), std::abs(y)});
    return std::isnan(apart) ? different : apart;
}

/// The largest difference found so far, and where.
struct Differences {
    double largest = 0;
    std::string where;

    void add(double value, const std::string& place) {
        if (value <= largest) return;
        largest = value;
        where = place;
    }
    void compare(const Row& written, const Row& made, const std::vector<std::string>& times) {
        if (columns_of(written) != columns_of(made)) return add(different, "its columns");
        for (const auto& [name, value] : written.items())
            if (std::ranges::find(times, name) == times.end())
                add(difference(value, made.at(name)), fmt::format("column {} of {}", name, written.dump()));
    }
};

std::vector<Row> quick_rows(const ComputedTable& table, const std::vector<Row>& all) {
    std::vector<Row> rows;
    std::ranges::copy_if(all, std::back_inserter(rows), table.quick);
    if (rows.empty() || !rows.front().contains("seed")) return rows;
    const auto seed = [](const Row& row) { return row.at("seed").get<Index>(); };
    const Index first = seed(*std::ranges::min_element(rows, {}, seed));
    std::erase_if(rows, [&](const Row& row) { return seed(row) != first; });
    return rows;
}

void compare_means(const ComputedTable& table, const std::string& path, const std::vector<Row>& rows,
                   Differences& differences) {
    if (table.cases.empty()) return;
    const std::string means_path = path.substr(0, path.rfind(".csv")) + "_means.csv";
    const auto written = read_table(means_path).rows;
    const auto made = means_over_seeds(rows, table.cases);
    if (written.size() != made.size()) return differences.add(different, means_path + ", its number of rows");
    for (std::size_t k = 0; k < written.size(); ++k) differences.compare(written[k], made[k], table.times);
}

}  // namespace

Check check_table(const ComputedTable& table, const std::string& folder) {
    const std::string path = folder + "/" + table.file;
    const auto all = read_table(path).rows;
    const auto rows = quick_rows(table, all);
    Differences differences;
    for (const Row& row : rows) differences.compare(row, table.remake(row), table.times);
    compare_means(table, path, all, differences);
    if (rows.empty()) differences.add(different, "that there is none to make");
    Check check =
        at_most(fmt::format("{}: difference of {} of {} rows made again", table.file, rows.size(), all.size()),
                differences.largest, limit);
    if (!check.met) check.bar += "; the largest is " + differences.where;
    return check;
}

}  // namespace tesela::bench
