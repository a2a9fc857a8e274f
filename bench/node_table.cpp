#include "node_table.hpp"

#include "tesela/io/csv.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

namespace tesela::bench {
namespace {

Row value_of(std::string_view text) {
    if (text.empty()) return nullptr;
    const char* end = text.data() + text.size();
    Index whole = 0;
    if (std::from_chars(text.data(), end, whole).ptr == end) return whole;
    double number = 0;
    if (std::from_chars(text.data(), end, number).ptr == end) return number;
    return std::string(text);
}

std::string text_of(const Row& value) {
    if (value.is_null()) return "";
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.5g}", value.get<double>());
    return value.dump();
}

}  // namespace

NodeTable::NodeTable(std::string path, Index nodes, const std::vector<Row>& rows) : path_(std::move(path)) {
    if (!rows.empty()) keep_others(nodes, rows.front());
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.at("nodes").get<Index>(); });
}

void NodeTable::keep_others(Index nodes, const Row& like) {
    if (!std::filesystem::exists(path_)) return;
    const CsvTable before = read_csv(path_, {.delimiter = CsvDelimiter::comma});
    std::vector<std::string> columns;
    for (const auto& [name, value] : like.items()) columns.push_back(name);
    if (before.names() != columns) return;
    for (Index r = 0; r < before.rows(); ++r) {
        Row row;
        for (Index c = 0; c < static_cast<Index>(columns.size()); ++c)
            row[columns[static_cast<std::size_t>(c)]] = value_of(before.field(r, c));
        if (row.at("nodes").get<Index>() != nodes) rows_.push_back(std::move(row));
    }
}

void NodeTable::write() const {
    std::string text;
    const auto line = [&text](const Row& row, auto cell) {
        std::string separator;
        for (const auto& [name, value] : row.items()) {
            text += std::exchange(separator, ",") + cell(name, value);
        }
        text += '\n';
    };
    if (!rows_.empty()) line(rows_.front(), [](const std::string& name, const Row&) { return name; });
    for (const Row& row : rows_) line(row, [](const std::string&, const Row& value) { return text_of(value); });
    write_file(path_, text);
}

}  // namespace tesela::bench
