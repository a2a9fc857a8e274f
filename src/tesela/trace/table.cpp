#include "tesela/trace/table.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tesela::trace {
namespace {

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
    return out;
}

void append_cell(std::string& out, const Column& column, std::size_t row) {
    if (const auto* integers = std::get_if<Integers>(&column.values)) {
        fmt::format_to(std::back_inserter(out), "{}", (*integers)[row]);
    } else if (const auto* reals = std::get_if<Reals>(&column.values)) {
        if (std::isnan((*reals)[row]))
            out += "NA";
        else
            fmt::format_to(std::back_inserter(out), "{}", (*reals)[row]);
    } else {
        out += quoted(std::get<Names>(column.values).at(row));
    }
}

template <class T>
const T& of_type(const Table& table, std::string_view name) {
    const auto* values = std::get_if<T>(&table.column(name).values);
    if (values == nullptr) throw Error("column {} of table {} has another type", name, table.name);
    return *values;
}

}  // namespace

void Names::add(const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    codes.push_back(static_cast<std::int32_t>(found - names.begin()));
    if (found == names.end()) names.push_back(name);
}

const std::string& Names::at(std::size_t row) const {
    static const std::string none;
    const std::int32_t code = codes[row];
    return code < 0 || static_cast<std::size_t>(code) >= names.size() ? none : names[static_cast<std::size_t>(code)];
}

std::size_t Table::rows() const {
    if (columns.empty()) return 0;
    struct Size {
        std::size_t operator()(const Integers& v) const { return v.size(); }
        std::size_t operator()(const Reals& v) const { return v.size(); }
        std::size_t operator()(const Names& v) const { return v.codes.size(); }
    };
    return std::visit(Size{}, columns.front().values);
}

const Column& Table::column(std::string_view column_name) const {
    std::string known;
    for (const Column& c : columns) {
        if (c.name == column_name) return c;
        if (!known.empty()) known += ", ";
        known += c.name;
    }
    throw Error("table {} has no column {}; it has {}", name, column_name, known);
}

const Integers& Table::integers(std::string_view column_name) const { return of_type<Integers>(*this, column_name); }
const Reals& Table::reals(std::string_view column_name) const { return of_type<Reals>(*this, column_name); }
const Names& Table::names(std::string_view column_name) const { return of_type<Names>(*this, column_name); }

void write_csv(const Table& table, const std::function<void(std::string_view)>& write) {
    constexpr std::size_t piece = 1U << 16U;
    std::string out;
    for (const Column& column : table.columns) {
        if (!out.empty()) out += ',';
        out += quoted(column.name);
    }
    out += '\n';
    for (std::size_t row = 0; row < table.rows(); ++row) {
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            if (c > 0) out += ',';
            append_cell(out, table.columns[c], row);
        }
        out += '\n';
        if (out.size() >= piece) {
            write(out);
            out.clear();
        }
    }
    write(out);
}

std::string to_csv(const Table& table) {
    std::string text;
    write_csv(table, [&text](std::string_view more) { text += more; });
    return text;
}

}  // namespace tesela::trace
