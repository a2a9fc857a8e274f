#include "tesela/io/csv_matrix.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/internal/csv_text.hpp"
#include "tesela/io/internal/memory_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace tesela {
namespace {

Index columns_of(const CsvTable& table) { return static_cast<Index>(table.names().size()); }

const std::string& name_of(const CsvTable& table, Index column) {
    return table.names()[static_cast<std::size_t>(column)];
}

std::vector<std::string> labels_in(const CsvTable& table, Index column) {
    std::vector<std::string> labels;
    for (Index row = 0; row < table.rows(); ++row) labels.push_back(table.label(row, column));
    return labels;
}

/// Whether the first column has the names of all other columns, as in a table of distances between numbered points.
bool has_names_of_columns_first(const CsvTable& table) {
    if (columns_of(table) != table.rows() + 1) return false;
    const std::vector<std::string> of_rows = labels_in(table, 0);
    return are_same_names({table.names().begin() + 1, table.names().end()}, {of_rows.begin(), of_rows.end()});
}

/// Whether a column has another whole number in every row.
bool numbers_rows(const CsvTable& table, Index column) {
    std::vector<std::string> found = labels_in(table, column);
    const auto is_whole = [](const std::string& text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    };
    std::sort(found.begin(), found.end());
    return std::all_of(found.begin(), found.end(), is_whole) &&
           std::adjacent_find(found.begin(), found.end()) == found.end();
}

bool ascends(const CsvTable& table, Index column) {
    for (Index row = 1; row < table.rows(); ++row)
        if (!(table.number(row - 1, column) < table.number(row, column))) return false;
    return true;
}

/// Whether the first column alone numbers rows, from above 0 on, or does so alone in their order: it may name them, or
/// be a variable.
bool may_name_rows(const CsvTable& table) {
    constexpr Index few = 3;  // rows, in which numbers differ by chance
    if (table.rows() < few || !numbers_rows(table, 0)) return false;
    const bool in_order = ascends(table, 0);
    for (Index column = 1; column < columns_of(table); ++column)
        if (numbers_rows(table, column) && !(in_order && !ascends(table, column))) return false;
    const std::vector<std::string> labels = labels_in(table, 0);
    return std::find(labels.begin(), labels.end(), "0") == labels.end();
}

bool is_asked_for(const CsvMatrixOptions& options, const std::string& name) {
    return std::find(options.columns.begin(), options.columns.end(), name) != options.columns.end();
}

/// The column with the names of the rows, if there is one.
std::optional<Index> label_column(const CsvTable& table, const CsvMatrixOptions& options) {
    if (options.labels) return table.column(*options.labels);
    const std::string& first = table.names().front();
    if (is_asked_for(options, first) || columns_of(table) == 1) return {};
    const CsvContent content = table.content(Index{0});
    const bool called = table.has_header() && is_called_as_labels(first);
    const bool labels = first.empty() || content == CsvContent::text || has_names_of_columns_first(table) ||
                        (called && (content == CsvContent::mixed || numbers_rows(table, 0)));
    return labels ? std::optional<Index>(0) : std::nullopt;
}

std::vector<Index> wanted_columns(const CsvTable& table, const CsvMatrixOptions& options,
                                  const std::optional<Index>& labels) {
    std::vector<Index> positions;
    for (const std::string& name : options.columns) positions.push_back(table.column(name));
    if (!options.columns.empty()) return positions;
    if (columns_of(table) == 1 && table.field(0, 0).find(' ') != std::string_view::npos)
        throw Error("{}, line {}: {}", in_quotes(table.file()), table.line(0), separated_by_spaces);
    for (Index c = 0; c < columns_of(table); ++c)
        if (c != labels && table.content(c) != CsvContent::text) positions.push_back(c);
    if (positions.empty()) throw Error("{} has no column of numbers", in_quotes(table.file()));
    return positions;
}

std::string quoted_names(const CsvTable& table, const std::vector<Index>& columns) {
    constexpr std::size_t most = 10;
    std::string list;
    for (std::size_t k = 0; k < std::min(most, columns.size()); ++k)
        list += (k == 0 ? "" : ", ") + excerpt(name_of(table, columns[k]));
    if (columns.size() > most) list += fmt::format(" and {} more", columns.size() - most);
    return list;
}

/// What a user should know of the first column who did not choose it; empty if there is nothing.
std::string note_on_first(const CsvTable& table, const CsvMatrixOptions& options, const std::optional<Index>& labels) {
    const std::string& first = table.names().front();
    if (options.labels || is_asked_for(options, first) || columns_of(table) == 1) return {};
    const CsvContent content = table.content(Index{0});
    if (labels && !table.has_header())
        return "the first line, a name and numbers, is taken for a row; if it is the header, leave its first field "
               "empty";
    if (has_names_of_columns_first(table) || content == CsvContent::text) return {};
    if (labels && content == CsvContent::mixed)
        return fmt::format("column {} has numbers and text, and is taken for labels", excerpt(first));
    if (labels) return fmt::format("column {} is taken for labels; --columns takes it for numbers", excerpt(first));
    if (!options.columns.empty() || !(is_called_as_labels(first) || may_name_rows(table))) return {};
    return fmt::format("column {} is taken for a variable; if it names the rows, give --labels {}", excerpt(first),
                       excerpt(first));
}

/// What a user should know who did not choose the columns.
std::vector<std::string> notes_on(const CsvTable& table, const CsvMatrixOptions& options,
                                  const std::vector<Index>& kept, const std::optional<Index>& labels) {
    std::vector<std::string> notes;
    if (const std::string note = note_on_first(table, options, labels); !note.empty())
        notes.push_back(fmt::format("{}: {}", in_quotes(table.file()), note));
    std::vector<Index> others;
    for (Index c = 0; c < columns_of(table); ++c)
        if (c != labels && std::find(kept.begin(), kept.end(), c) == kept.end()) others.push_back(c);
    if (others.empty() || !options.columns.empty()) return notes;
    notes.push_back(fmt::format("{}: column{} {} left out, which {} not of numbers", in_quotes(table.file()),
                                plural(others.size()), quoted_names(table, others), others.size() == 1 ? "is" : "are"));
    return notes;
}

/// What else can be done about a column that holds text, which was not asked for.
std::string what_to_do(const CsvTable& table, const CsvMatrixOptions& options, Index column) {
    if (!options.columns.empty() || table.content(column) == CsvContent::numbers) return {};
    if (column > 0 || options.labels) return "; --columns names the columns to take";
    return fmt::format("; if the column names the rows, give --labels {}", excerpt(name_of(table, column)));
}

double number_at(const CsvTable& table, Index row, Index column) {
    const double value = table.number(row, column);
    if (std::isnan(value))
        throw Error("{}, line {}, column {}: the value is missing, and a matrix needs all of them",
                    in_quotes(table.file()), table.line(row), excerpt(name_of(table, column)));
    return value;
}

/// The values of columns, one after the other. Throws Error that names file, line, column and row where there is none.
std::vector<double> values_of(const CsvTable& table, const CsvMatrixOptions& options, const std::vector<Index>& columns,
                              const std::vector<std::string>& labels) {
    std::vector<double> values;
    values.reserve(columns.size() * static_cast<std::size_t>(table.rows()));
    for (const Index column : columns)
        for (Index row = 0; row < table.rows(); ++row) try {
                values.push_back(number_at(table, row, column));
            } catch (const Error& error) {
                const std::string of = labels.empty() ? "" : excerpt(labels[static_cast<std::size_t>(row)]);
                throw Error("{}{}{}{}", error.what(), of.empty() ? "" : ", in the row of ", of,
                            what_to_do(table, options, column));
            }
    return values;
}

std::unique_ptr<MatrixFile> matrix_of(const CsvTable& table, const CsvMatrixOptions& options) {
    const std::optional<Index> labels = label_column(table, options);
    const std::vector<Index> positions = wanted_columns(table, options, labels);
    MatrixHeader header{.name = table.file(),
                        .rows = table.rows(),
                        .cols = static_cast<Index>(positions.size()),
                        .layout = "CSV, in memory",
                        .notes = notes_on(table, options, positions, labels)};
    if (table.has_header())
        for (const Index column : positions) header.col_labels.push_back(name_of(table, column));
    if (labels) header.row_labels = labels_in(table, *labels);
    std::vector<double> values = values_of(table, options, positions, header.row_labels);
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
