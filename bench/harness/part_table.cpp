#include "harness/part_table.hpp"

#include "harness/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace tesela::bench {

PartTable::PartTable(std::string path, std::string column, const std::vector<Row>& rows)
    : path_(std::move(path)),
      column_(std::move(column)) {
    if (rows.empty()) return;
    const Row replaced = rows.front().at(column_);
    Table before;
    if (std::filesystem::is_regular_file(path_)) before = read_table(path_);  // what is none can be written at best
    for (Row& row : before.rows)
        if (columns_of(row) == columns_of(rows.front()) && row.at(column_) != replaced)
            table_.rows.push_back(std::move(row));
    table_.rows.insert(table_.rows.end(), rows.begin(), rows.end());
    std::ranges::stable_sort(table_.rows, [&](const Row& a, const Row& b) { return a.at(column_) < b.at(column_); });
    say_origins(replaced, before.origins);
}

std::string PartTable::prefix_of(const Row& part) const {
    return fmt::format("{} {}: ", column_, part.is_string() ? part.get<std::string>() : part.dump());
}

void PartTable::say_origins(const Row& replaced, const std::vector<std::string>& before) {
    std::set<Row> parts;
    for (const Row& row : table_.rows) parts.insert(row.at(column_));
    for (const Row& part : parts) {
        const std::string prefix = prefix_of(part);
        const auto known =
            std::ranges::find_if(before, [&](const std::string& line) { return line.starts_with(prefix); });
        if (part == replaced) {
            table_.origins.push_back(prefix + origin());
        } else {
            table_.origins.push_back(known != before.end() ? *known
                                                           : prefix + "commit, machine and date were not recorded");
        }
    }
}

}  // namespace tesela::bench
