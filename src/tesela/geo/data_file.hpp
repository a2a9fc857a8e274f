#pragma once

#include "tesela/geo/model.hpp"
#include "tesela/io/csv.hpp"

#include <string>
#include <vector>

namespace tesela::geo {

/// A CSV file of observations or places, and which of its columns are what.
struct DataFile {
    std::string file;
    std::vector<std::string> coordinates;
    std::string value;
    NaPolicy na = NaPolicy::error;
};

/// What is read of a file: columns of numbers, and those that a trend uses beside coordinates, as numbers or as text.
struct WantedColumns {
    std::vector<std::string> numbers;
    std::vector<std::string> numeric_covariates{};
    std::vector<std::string> text_covariates{};
};
/// Coordinates, and covariates as a model has them.
[[nodiscard]] WantedColumns columns_of_places(const std::vector<std::string>& coordinates,
                                              const std::vector<Covariate>& covariates);
/// Coordinates, the value, and what the trend uses: as numbers, or as text if a column has no numbers or the formula
/// says that it is a factor. Throws Error about a column with both.
[[nodiscard]] WantedColumns columns_of_trend(const CsvTable& table, const DataFile& data, const TrendFormula& trend);

/// The rows that have all of it.
struct SelectedRows {
    NumericTable numbers;  ///< without the covariates
    std::vector<Covariate> covariates;
};
/// Missing values as `na` says; notes say how many rows were dropped.
[[nodiscard]] SelectedRows select_rows(const CsvTable& table, const DataFile& data, const WantedColumns& wanted,
                                       std::vector<std::string>& notes);

/// The observations, with the columns that the trend uses; notes say too whether degrees are taken for lengths. Throws
/// Error about coordinates that the metric does not have.
[[nodiscard]] Observations read_observations(const DataFile& data, Metric metric, const TrendFormula& trend,
                                             std::vector<std::string>& notes);
/// The places, with covariates such as these.
[[nodiscard]] Sites read_sites(const DataFile& data, Metric metric, const std::vector<Covariate>& covariates,
                               std::vector<std::string>& notes);

}  // namespace tesela::geo
