#include "tesela/io/csv_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/memory_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {
namespace {

Index columns_of(const CsvTable& table) { return static_cast<Index>(table.names().size()); }

/// The column with the names of the rows, if there is one.
std::optional<Index> label_column(const CsvTable& table, const CsvMatrixOptions& options) {
    if (options.labels) return table.column(*options.labels);
    const std::string& first = table.names().front();
    if (std::find(options.columns.begin(), options.columns.end(), first) != options.columns.end()) return {};
    const bool alone = columns_of(table) == 1;
    if (!alone && (first.empty() || table.content(Index{0}) != CsvContent::numbers)) return 0;
    return {};
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
    if (others.empty() || !options.columns.empty()) return {};
    return {fmt::format("{}: column{} {} left out, which {} not of numbers", in_quotes(table.file()),
                        plural(others.size()), quoted_names(table, others), others.size() == 1 ? "is" : "are")};
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
