#include "node_table.hpp"

#include "origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace tesela::bench {
namespace {

Index nodes_of(const Row& row) { return row.at("nodes").get<Index>(); }

}  // namespace

NodeTable::NodeTable(std::string path, Index nodes, const std::vector<Row>& rows) : path_(std::move(path)) {
    Table before;
    if (!rows.empty() && std::filesystem::exists(path_)) before = read_table(path_);
    for (Row& row : before.rows)
        if (columns_of(row) == columns_of(rows.front()) && nodes_of(row) != nodes)
            table_.rows.push_back(std::move(row));
    table_.rows.insert(table_.rows.end(), rows.begin(), rows.end());
    std::ranges::stable_sort(table_.rows, {}, nodes_of);
    say_origins(nodes, before.origins);
}

void NodeTable::say_origins(Index nodes, const std::vector<std::string>& before) {
    std::set<Index> numbers;
    for (const Row& row : table_.rows) numbers.insert(nodes_of(row));
    for (const Index number : numbers) {
        const std::string prefix = fmt::format("nodes {}: ", number);
        const auto known =
            std::ranges::find_if(before, [&](const std::string& line) { return line.starts_with(prefix); });
        if (number == nodes) {
            table_.origins.push_back(prefix + origin());
        } else {
            table_.origins.push_back(known != before.end() ? *known
                                                           : prefix + "commit, machine and date were not recorded");
        }
    }
}

}  // namespace tesela::bench
