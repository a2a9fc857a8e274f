#include "tesela/geo/data_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/degrees.hpp"
#include "tesela/geo/trend_design.hpp"

#include <utility>

namespace tesela::geo {
namespace {

void note_dropped(const NumericTable& table, const std::vector<std::string>& columns, const std::string& file,
                  std::vector<std::string>& notes) {
    if (table.rows_dropped == 0) return;
    std::string by_column;
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (table.missing[c] > 0)
            by_column += fmt::format("{}{} in {}", by_column.empty() ? "" : ", ", table.missing[c], columns[c]);
    notes.push_back(fmt::format("{}: {} of {} rows dropped for missing values ({})", file, table.rows_dropped,
                                table.rows_read, by_column));
}

}  // namespace

WantedColumns columns_of_places(const std::vector<std::string>& coordinates, const std::vector<Covariate>& covariates) {
    WantedColumns wanted{.numbers = coordinates};
    for (const Covariate& covariate : covariates)
        (covariate.is_text() ? wanted.text_covariates : wanted.numeric_covariates).push_back(covariate.name);
    return wanted;
}

WantedColumns columns_of_trend(const CsvTable& table, const DataFile& data, const TrendFormula& trend) {
    WantedColumns wanted{.numbers = data.coordinates};
    wanted.numbers.push_back(data.value);
    for (const std::string& column : covariate_names(trend, data.coordinates)) {
        const CsvContent content = table.content(column);
        const bool is_text =
            content == CsvContent::text || (content == CsvContent::mixed && trend.is_declared_factor(column));
        (is_text ? wanted.text_covariates : wanted.numeric_covariates).push_back(column);
        if (is_text || content == CsvContent::numbers) continue;
        try {
            (void)table.numbers({column}, NaPolicy::drop);
        } catch (const Error& error) {
            throw Error("{}; if {} is a factor, write factor({}) in the trend", error.what(), column, column);
        }
    }
    return wanted;
}

SelectedRows select_rows(const CsvTable& table, const DataFile& data, const WantedColumns& wanted,
                         std::vector<std::string>& notes) {
    std::vector<std::string> columns = wanted.numbers;
    columns.insert(columns.end(), wanted.numeric_covariates.begin(), wanted.numeric_covariates.end());
    SelectedRows rows{.numbers = table.numbers(columns, data.na, wanted.text_covariates), .covariates = {}};
    const std::size_t plain = wanted.numbers.size();
    for (std::size_t c = plain; c < columns.size(); ++c)
        rows.covariates.push_back({.name = columns[c], .values = std::move(rows.numbers.columns[c])});
    rows.numbers.columns.resize(plain);
    for (const std::string& name : wanted.text_covariates) {
        std::vector<std::string> texts;
        const Index column = table.column(name);
        for (const Index row : rows.numbers.rows) texts.emplace_back(table.field(row, column));
        rows.covariates.push_back({.name = name, .values = std::move(texts)});
    }
    columns.insert(columns.end(), wanted.text_covariates.begin(), wanted.text_covariates.end());
    note_dropped(rows.numbers, columns, data.file, notes);
    return rows;
}

Observations read_observations(const DataFile& data, Metric metric, const TrendFormula& trend,
                               std::vector<std::string>& notes) {
    require_response(trend, data.value);
    const CsvTable table = read_csv(data.file);
    SelectedRows rows = select_rows(table, data, columns_of_trend(table, data, trend), notes);
    NumericTable& numbers = rows.numbers;
    Observations observations{.coordinates = {},
                              .values = std::move(numbers.columns.back()),
                              .coordinate_names = data.coordinates,
                              .value_name = data.value,
                              .file = data.file,
                              .lines = std::move(numbers.lines),
                              .covariates = std::move(rows.covariates)};
    numbers.columns.pop_back();
    observations.coordinates = std::move(numbers.columns);
    const CoordinateColumns coordinates{observations.coordinates, data.coordinates, observations.lines, data.file};
    require_degrees(metric, coordinates);
    if (std::string text = explain_euclidean_degrees(metric, coordinates); !text.empty())
        notes.push_back(std::move(text));
    validate(observations);
    return observations;
}

Sites read_sites(const DataFile& data, Metric metric, const std::vector<Covariate>& covariates,
                 std::vector<std::string>& notes) {
    SelectedRows rows = select_rows(read_csv(data.file), data, columns_of_places(data.coordinates, covariates), notes);
    require_degrees(metric, {rows.numbers.columns, data.coordinates, rows.numbers.lines, data.file});
    Sites sites(std::move(rows.numbers.columns), std::move(rows.covariates));
    sites.file = data.file;
    sites.lines = std::move(rows.numbers.lines);
    return sites;
}

}  // namespace tesela::geo
