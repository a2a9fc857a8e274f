#pragma once

#include "tesela/cli/geo_run.hpp"
#include "tesela/geo/model_file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tesela::cli {

/// A grid that the user asks for instead of a file of points.
struct GridOptions {
    std::string cells;
    std::vector<double> box;
    std::string polygon;
};
/// Adds --grid, --box and --polygon.
void add_grid_options(CLI::App& command, GridOptions& options);

/// Where something is computed: coordinates, and what the file of the points says of each of them.
struct Places {
    std::vector<std::vector<double>> coordinates;
    std::vector<std::string> names;  ///< of the coordinates
    std::vector<geo::Covariate> covariates{};
    std::string source{};        ///< the name of the file
    std::vector<Index> lines{};  ///< of it, per place
    std::vector<CsvTextColumn> kept{};
    std::shared_ptr<const CsvTable> file{};  ///< whose text the kept columns are

    /// With what the trend needs.
    [[nodiscard]] geo::Sites sites() const;
    /// The columns to write before the results: those of the file, or the coordinates of a grid.
    [[nodiscard]] std::vector<CsvColumn> coordinate_columns() const;
};

/// The centres of a grid's cells over the box of --box, of the polygon or of the model's observations. Throws Error if
/// the model's trend needs more than coordinates.
[[nodiscard]] Places grid_places(const GridOptions& options, const geo::FittedModel& fitted);

/// The points of a file, with the covariates of the model, and the columns that --keep names ("all", "none", or names):
/// coordinates always, and none that is called as one of `results`. Notes say what was left out.
struct KeepOptions {
    std::vector<std::string> columns{"all"};
    std::vector<std::string> results{};
};
[[nodiscard]] Places file_places(const geo::DataFile& data, const KeepOptions& keep, const geo::FittedModel& fitted,
                                 Notes& notes);

/// Throws Error if the model's trend needs more than coordinates, which places that `option` makes do not have.
void require_coordinates_suffice(const geo::FittedModel& fitted, std::string_view option);

}  // namespace tesela::cli
