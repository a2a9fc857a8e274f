#include "harness/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

/// Numbers with five digits.
std::string short_text(const Row& value) {
    if (value.is_null()) return "-";
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? fmt::format("{:.5g}", value.get<double>()) : value.dump();
}

/// JSON has no infinity.
Row json_of(double value) { return std::isfinite(value) ? Row(value) : Row("none"); }

/// A line of names and one of cells for each row, numbers to the right.
std::string table_text(const std::vector<Row>& rows) {
    std::vector<std::vector<std::string>> lines{columns_of(rows.front())};
    std::vector<bool> numbers(lines.front().size(), false);
    for (const Row& row : rows) {
        auto& line = lines.emplace_back();
        for (const auto& cell : row) {
            if (cell.is_number()) numbers[line.size()] = true;
            line.push_back(short_text(cell));
        }
    }
    std::vector<std::size_t> widths(lines.front().size(), 0);
    for (const auto& line : lines)
        for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
    std::string text;
    for (const auto& line : lines) {
        std::string written;
        for (std::size_t c = 0; c < line.size(); ++c) {
            const bool number = numbers[c];
            written +=
                number ? fmt::format("{:>{}}  ", line[c], widths[c]) : fmt::format("{:<{}}  ", line[c], widths[c]);
        }
        text += written.substr(0, written.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

bool is_table(const Row& value) { return value.is_array() && !value.empty() && value.front().is_object(); }

}  // namespace

Check at_most(const std::string& bar, double value, double limit) { return {bar, value, limit, value <= limit}; }
Check at_least(const std::string& bar, double value, double limit) { return {bar, value, limit, value >= limit}; }
Check above(const std::string& bar, double value, double limit) { return {bar, value, limit, value > limit}; }

bool Report::met() const { return std::ranges::all_of(checks, &Check::met); }

nlohmann::ordered_json as_json(const Report& report) {
    Row json = report.figures;
    if (!report.rows.empty()) json["rows"] = report.rows;
    if (!report.notes.empty()) json["notes"] = report.notes;
    json["checks"] = Row::array();
    for (const auto& [bar, value, limit, met] : report.checks)
        json["checks"].push_back({{"bar", bar}, {"value", json_of(value)}, {"limit", json_of(limit)}, {"met", met}});
    return json;
}

std::string as_text(const Report& report) {
    std::string text;
    if (!report.rows.empty()) text += table_text(report.rows);
    std::size_t width = 0;
    for (const auto& [name, value] : report.figures.items())
        if (!is_table(value)) width = std::max(width, name.size());
    for (const auto& [name, value] : report.figures.items())
        text += is_table(value) ? fmt::format("{}:\n{}", name, table_text({value.begin(), value.end()}))
                                : fmt::format("{:<{}}  {}\n", name, width, short_text(value));
    for (const std::string& note : report.notes) text += fmt::format("note: {}\n", note);
    for (const auto& [bar, value, limit, met] : report.checks)
        text += fmt::format("{}  {} (limit {}): {}\n", met ? "met    " : "NOT MET", short_text(json_of(value)),
                            short_text(json_of(limit)), bar);
    return text;
}

}  // namespace tesela::bench
