#include "harness/table.hpp"

#include "harness/origin.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/index.hpp"
#include "tesela/io/csv.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <utility>

namespace tesela::bench {
namespace {

constexpr std::string_view comment = "# ";

Row value_of(std::string_view text) {
    if (text.empty()) return nullptr;
    const char* end = text.data() + text.size();
    Index whole = 0;
    if (std::from_chars(text.data(), end, whole).ptr == end) return whole;
    double number = 0;
    if (std::from_chars(text.data(), end, number).ptr == end) return number;
    return std::string(text);
}

std::string quoted_if_needed(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string(2, c) : std::string(1, c);
    return quoted + '"';
}

std::string text_of(const Row& value, Digits digits) {
    if (value.is_null()) return "";
    if (value.is_string()) return quoted_if_needed(value.get<std::string>());
    if (value.is_number_float()) return fmt::format("{:.{}g}", value.get<double>(), static_cast<int>(digits));
    return value.dump();
}

Row mean_of(std::span<const Row> rows, const std::string& column) {
    double sum = 0;
    for (const Row& row : rows) {
        if (row.at(column).is_null()) return nullptr;
        sum += row.at(column).get<double>();
    }
    return sum / static_cast<double>(rows.size());
}

/// The mean of rows of one case.
Row case_of(std::span<const Row> rows, const std::vector<std::string>& keys) {
    Row mean;
    for (const auto& [name, value] : rows.front().items()) {
        if (name == "seed") {
            mean["seeds"] = rows.size();
        } else if (std::ranges::find(keys, name) != keys.end()) {
            mean[name] = value;
        } else {
            mean[name] = mean_of(rows, name);
        }
    }
    return mean;
}

/// Cells with commas between, and a line's end.
template <class Cells, class Text>
std::string line_of(const Cells& cells, Text text) {
    std::string line, separator;
    for (const auto& cell : cells) line += std::exchange(separator, ",") + text(cell);
    return line + '\n';
}

}  // namespace

std::vector<std::string> columns_of(const Row& row) {
    std::vector<std::string> names;
    for (const auto& [name, value] : row.items()) names.push_back(name);
    return names;
}

void write_table(const std::string& path, const std::vector<Row>& rows, Digits digits) {
    write_table(path, Table{.origins = {origin()}, .rows = rows}, digits);
}

void write_table(const std::string& path, const Table& table, Digits digits) {
    std::string text;
    for (const std::string& origin : table.origins) text += fmt::format("{}{}\n", comment, origin);
    if (!table.rows.empty()) text += line_of(columns_of(table.rows.front()), quoted_if_needed);
    for (const Row& row : table.rows) {
        if (columns_of(row) != columns_of(table.rows.front()))
            throw Error("rows of {} do not have the same columns: {}", path, row.dump());
        text += line_of(row, [digits](const Row& value) { return text_of(value, digits); });
    }
    write_file(path, text);
}

Table read_table(const std::string& path) {
    Table table;
    std::string text = read_file(path);
    while (text.starts_with(comment)) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        table.origins.push_back(text.substr(comment.size(), end - comment.size()));
        text.erase(0, end + 1);
    }
    if (text.empty()) return table;
    const CsvTable csv = parse_csv(std::move(text), path, {.delimiter = CsvDelimiter::comma});
    for (Index r = 0; r < csv.rows(); ++r) {
        Row& row = table.rows.emplace_back();
        for (Index c = 0; const std::string& name : csv.names()) row[name] = value_of(csv.field(r, c++));
    }
    return table;
}

std::vector<Row> means_over_seeds(const std::vector<Row>& rows, const std::vector<std::string>& keys) {
    const auto alike = [&keys](const Row& a, const Row& b) {
        return std::ranges::all_of(keys, [&](const std::string& key) { return a.at(key) == b.at(key); });
    };
    std::vector<Row> means;
    for (auto begin = rows.begin(); begin != rows.end();) {
        const auto end = std::find_if(begin, rows.end(), [&](const Row& row) { return !alike(*begin, row); });
        means.push_back(case_of({begin, end}, keys));
        begin = end;
    }
    return means;
}

}  // namespace tesela::bench
