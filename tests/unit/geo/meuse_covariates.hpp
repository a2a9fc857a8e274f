#pragma once

// The meuse data with what may explain it: data/meuse_covariates.csv and, for its grid, meuse_grid_covariates.csv.

#include "tesela/geo/model.hpp"
#include "tesela/io/csv.hpp"
#include "unit/geo/meuse.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tesela::testing {

struct CovariateChoice {
    bool landuse = false;  ///< with it there are 154 rows, without it 155
};

inline geo::Observations meuse_covariates(CovariateChoice choice = {}) {
    const CsvTable table = read_csv(data_file("meuse_covariates.csv"));
    const std::vector<std::string> names{"elev", "dist", "ffreq", "soil"};
    std::vector<std::string> columns{"x", "y", "log_zinc"};
    columns.insert(columns.end(), names.begin(), names.end());
    const std::vector<std::string> present =
        choice.landuse ? std::vector<std::string>{"landuse"} : std::vector<std::string>{};
    NumericTable numbers = table.numbers(columns, NaPolicy::drop, present);
    geo::Observations result{.coordinates = {numbers.columns[0], numbers.columns[1]},
                             .values = numbers.columns[2],
                             .coordinate_names = {"x", "y"},
                             .value_name = "log_zinc",
                             .file = "meuse_covariates.csv",
                             .lines = numbers.lines};
    for (std::size_t k = 0; k < names.size(); ++k) result.covariates.push_back({names[k], numbers.columns[3 + k]});
    if (!choice.landuse) return result;
    std::vector<std::string> landuse;
    for (const Index row : numbers.rows) landuse.emplace_back(table.field(row, table.column("landuse")));
    result.covariates.push_back({"landuse", std::move(landuse)});
    return result;
}

/// The places of the grid in these rows.
inline geo::Sites meuse_grid_covariates(const std::vector<std::size_t>& rows) {
    const std::vector<std::string> names{"x", "y", "dist", "ffreq", "soil"};
    const NumericTable numbers = read_csv(data_file("meuse_grid_covariates.csv")).numbers(names, NaPolicy::error);
    std::vector<std::vector<double>> columns(names.size());
    for (std::size_t c = 0; c < names.size(); ++c)
        for (const std::size_t row : rows) columns[c].push_back(numbers.columns[c][row]);
    geo::Sites sites(std::vector<std::vector<double>>{columns[0], columns[1]});
    for (std::size_t c = 2; c < names.size(); ++c) sites.covariates.push_back({names[c], columns[c]});
    return sites;
}

}  // namespace tesela::testing
