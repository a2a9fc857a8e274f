#include "tesela/io/csv_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/memory_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

Index columns_of(const CsvTable& table) { return static_cast<Index>(table.names().size()); }

/// Whether the first column has the names of all other columns, as in a table of distances between numbered points.
bool has_names_of_columns_first(const CsvTable& table) {
    if (columns_of(table) != table.rows() + 1) return false;
    std::vector<std::string_view> of_rows;
    for (Index row = 0; row < table.rows(); ++row) of_rows.push_back(table.field(row, 0));
    return are_same_names({table.names().begin() + 1, table.names().end()}, std::move(of_rows));
}

/// Whether the first column is called as labels are and has another integer in every row.
bool is_identifier(const CsvTable& table) {
    constexpr std::array names{"id", "index", "label", "name"};
    std::string called = table.names().front();
    for (char& c : called) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!table.has_header() || std::find(names.begin(), names.end(), called) == names.end()) return false;
    std::vector<std::string_view> found;
    for (Index row = 0; row < table.rows(); ++row) found.push_back(table.field(row, 0));
    const auto is_integer = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    std::sort(found.begin(), found.end());
    return std::all_of(found.begin(), found.end(), is_integer) &&
           std::adjacent_find(found.begin(), found.end()) == found.end();
}

/// The column with the names of the rows, if there is one.
std::optional<Index> label_column(const CsvTable& table, const CsvMatrixOptions& options) {
    if (options.labels) return table.column(*options.labels);
    const std::string& first = table.names().front();
    if (std::find(options.columns.begin(), options.columns.end(), first) != options.columns.end()) return {};
    if (columns_of(table) == 1) return {};
    const bool labels = first.empty() || table.content(Index{0}) != CsvContent::numbers ||
                        has_names_of_columns_first(table) || is_identifier(table);
    return labels ? std::optional<Index>(0) : std::nullopt;
}

std::vector<Index> wanted_columns(const CsvTable& table, const CsvMatrixOptions& options,
                                  const std::optional<Index>& labels) {
    std::vector<Index> positions;
    for (const std::string& name : options.columns) positions.push_back(table.column(name));
    if (!options.columns.empty()) return positions;
    for (Index c = 0; c < columns_of(table); ++c)
        if (c != labels && table.content(c) == CsvContent::numbers) positions.push_back(c);
    if (positions.empty()) throw Error("{} has no column of numbers", in_quotes(table.file()));
    return positions;
}

std::string quoted_names(const CsvTable& table, const std::vector<Index>& columns) {
    constexpr std::size_t most = 10;
    std::string list;
    for (std::size_t k = 0; k < std::min(most, columns.size()); ++k)
        list += (k == 0 ? "" : ", ") + excerpt(table.names()[static_cast<std::size_t>(columns[k])]);
    if (columns.size() > most) list += fmt::format(" and {} more", columns.size() - most);
    return list;
}

/// What a user should know who did not choose the columns.
std::vector<std::string> left_out(const CsvTable& table, const CsvMatrixOptions& options,
                                  const std::vector<Index>& kept, const std::optional<Index>& labels) {
    std::vector<Index> others;
    for (Index c = 0; c < columns_of(table); ++c)
        if (c != labels && std::find(kept.begin(), kept.end(), c) == kept.end()) others.push_back(c);
    std::vector<std::string> notes;
    if (labels && !options.labels && is_identifier(table) && !has_names_of_columns_first(table))
        notes.push_back(fmt::format("{}: column {} is taken for labels; --columns takes it for numbers",
                                    in_quotes(table.file()), excerpt(table.names().front())));
    if (labels && !options.labels && table.content(*labels) == CsvContent::mixed)
        notes.push_back(fmt::format("{}: column {} has numbers and text, and is taken for labels",
                                    in_quotes(table.file()), excerpt(table.names().front())));
    if (others.empty() || !options.columns.empty()) return notes;
    notes.push_back(fmt::format("{}: column{} {} left out, which {} not of numbers", in_quotes(table.file()),
                                plural(others.size()), quoted_names(table, others), others.size() == 1 ? "is" : "are"));
    return notes;
}

double number_at(const CsvTable& table, Index row, Index column) {
    const double value = table.number(row, column);
    if (std::isnan(value))
        throw Error("{}, line {}, column {}: the value is missing, and a matrix needs all of them",
                    in_quotes(table.file()), table.line(row), excerpt(table.names()[static_cast<std::size_t>(column)]));
    return value;
}

std::unique_ptr<MatrixFile> matrix_of(const CsvTable& table, const CsvMatrixOptions& options) {
    const std::optional<Index> labels = label_column(table, options);
    const std::vector<Index> positions = wanted_columns(table, options, labels);
    MatrixHeader header{.name = table.file(),
                        .rows = table.rows(),
                        .cols = static_cast<Index>(positions.size()),
                        .layout = "CSV, in memory",
                        .notes = left_out(table, options, positions, labels)};
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(header.rows * header.cols));
    for (const Index column : positions)
        for (Index row = 0; row < header.rows; ++row) values.push_back(number_at(table, row, column));
    if (table.has_header())
        for (const Index column : positions)
            header.col_labels.push_back(table.names()[static_cast<std::size_t>(column)]);
    if (labels)
        for (Index row = 0; row < header.rows; ++row) header.row_labels.emplace_back(table.field(row, *labels));
    return memory_matrix(std::move(header), std::move(values));
}

}  // namespace

std::unique_ptr<MatrixFile> read_csv_matrix(const std::string& path, const CsvMatrixOptions& options) {
    return matrix_of(read_csv(path, options.csv), options);
}

std::unique_ptr<MatrixFile> parse_csv_matrix(std::string text, std::string file, const CsvMatrixOptions& options) {
    return matrix_of(parse_csv(std::move(text), std::move(file), options.csv), options);
}

}  // namespace tesela
