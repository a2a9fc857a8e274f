#include "tesela/cli/places.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/geo/degrees.hpp"
#include "tesela/geo/grid.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace tesela::cli {
namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// --box: the lowest of every coordinate, then the highest.
geo::Box box_of(const std::vector<double>& numbers, const geo::FittedModel& fitted) {
    const std::size_t dimensions = fitted.observations.coordinates.size();
    if (numbers.size() != 2 * dimensions)
        throw Error("--box takes {} numbers, the lowest {} and then the highest; {} are given", 2 * dimensions,
                    dimensions == 1 ? "coordinate" : "of every coordinate", numbers.size());
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(dimensions);
    geo::Box box{.low = {numbers.begin(), middle}, .high = {middle, numbers.end()}};
    // From 170 to -170 degrees is across the 180th meridian.
    if (fitted.model.metric != Metric::euclidean && box.high[0] < box.low[0]) box.high[0] += 360;
    return box;
}

geo::Box default_box(const geo::Polygon& polygon, const geo::FittedModel& fitted) {
    geo::Box box = geo::bounding_box(fitted.model.metric, fitted.observations.coordinates);
    if (polygon.empty()) return box;
    const geo::Box border = geo::bounding_box(polygon);
    for (std::size_t d = 0; d < 2; ++d) {
        box.low[d] = border.low[d];
        box.high[d] = border.high[d];
    }
    return box;
}

void require_dimensions(const std::string& text, std::size_t given, const geo::Observations& observations) {
    const std::size_t wanted = observations.coordinates.size();
    if (given == wanted) return;
    throw Error("--grid {} has {} number{}, but the model has {} coordinate{} ({}): write {}", text, given,
                given == 1 ? "" : "s", wanted, wanted == 1 ? "" : "s", fmt::join(observations.coordinate_names, ", "),
                wanted == 1   ? "100"
                : wanted == 2 ? "100x100"
                              : "20x20x5");
}

/// Positions of the columns to keep, in the order of the file.
std::vector<Index> kept_columns(const CsvTable& table, const std::vector<std::string>& coordinates,
                                const KeepOptions& keep, Notes& notes) {
    const bool all = keep.columns == std::vector<std::string>{"all"};
    const bool none = keep.columns == std::vector<std::string>{"none"};
    if (!all && !none)
        for (const std::string& name : keep.columns) (void)table.column(name);  // throws where there is none
    std::vector<Index> positions;
    for (std::size_t c = 0; c < table.names().size(); ++c) {
        const std::string& name = table.names()[c];
        const bool coordinate = is_among(coordinates, name);
        if (!coordinate && !all && (none || !is_among(keep.columns, name))) continue;
        const bool taken = is_among(keep.results, name);
        if (taken && !coordinate)
            notes.push_back(fmt::format("the column {} of {} is left out: a result has that name", name, table.file()));
        if (!taken || coordinate) positions.push_back(static_cast<Index>(c));
    }
    return positions;
}

/// The first character of a file that is not a blank; none if there is no such file, or it cannot be read twice.
char first_character(const std::string& path) {
    char first = '\0';
    if (std::filesystem::is_regular_file(path)) std::ifstream(path) >> first;
    return first;
}

}  // namespace

void add_grid_options(CLI::App& command, GridOptions& options) {
    auto* grid =
        command
            .add_option("--grid", options.cells,
                        "Instead of a file: the centres of so many equal cells, over the box of the observations")
            ->type_name("NXxNY");
    comma_separated(command.add_option("--box", options.box,
                                       "The box of the grid (on the Earth, xmin > xmax goes across 180 degrees)"))
        ->type_name("XMIN,YMIN,XMAX,YMAX")
        ->needs(grid);
    command
        .add_option("--polygon", options.polygon,
                    "Only cells with their centre inside this polygon: a CSV file with a corner per row, in columns "
                    "called as the model's coordinates; a blank line begins another ring (an island, a hole)")
        ->type_name("FILE")
        ->needs(grid);
}

std::vector<CsvColumn> Places::coordinate_columns() const {
    std::vector<CsvColumn> columns;
    if (file) return columns;
    for (std::size_t d = 0; d < coordinates.size(); ++d) columns.push_back({names[d], coordinates[d]});
    return columns;
}

geo::Sites Places::sites() const {
    geo::Sites result(coordinates, covariates);
    result.file = source;
    result.lines = lines;
    return result;
}

Places grid_places(const GridOptions& options, const geo::FittedModel& fitted) {
    require_coordinates_suffice(fitted, "--grid");
    const geo::Observations& observations = fitted.observations;
    geo::GridRequest request{.cells = geo::parse_cells(options.cells), .box = {}};
    require_dimensions(options.cells, request.cells.size(), observations);
    if (!options.polygon.empty()) {
        if (observations.coordinates.size() < 2) throw Error("--polygon needs two coordinates; this model has one");
        request.polygon =
            geo::read_polygon(options.polygon, observations.coordinate_name(0), observations.coordinate_name(1));
    }
    request.box = options.box.empty() ? default_box(request.polygon, fitted) : box_of(options.box, fitted);
    return {.coordinates = geo::grid_nodes(request), .names = observations.coordinate_names};
}

Places file_places(const geo::DataFile& data, const KeepOptions& keep, const geo::FittedModel& fitted, Notes& notes) {
    if (first_character(data.file) == '{')
        throw Error("{} looks like JSON; the points are expected in a CSV file with a header", data.file);
    const auto table = std::make_shared<const CsvTable>(read_csv(data.file));
    require_different_columns(data.coordinates, data.value);
    geo::SelectedRows rows =
        geo::select_rows(*table, data, geo::columns_of_places(data.coordinates, fitted.observations.covariates), notes);
    NumericTable& numbers = rows.numbers;
    geo::require_degrees(fitted.model.metric, {numbers.columns, data.coordinates, numbers.lines, data.file});
    Places places{.coordinates = std::move(numbers.columns),
                  .names = data.coordinates,
                  .covariates = std::move(rows.covariates),
                  .source = data.file,
                  .lines = std::move(numbers.lines)};
    for (const Index column : kept_columns(*table, data.coordinates, keep, notes)) {
        CsvTextColumn& kept = places.kept.emplace_back();
        kept.name = table->names()[static_cast<std::size_t>(column)];
        for (const Index row : numbers.rows) kept.values.push_back(table->field(row, column));
    }
    places.file = table;
    return places;
}

void require_coordinates_suffice(const geo::FittedModel& fitted, std::string_view option) {
    const std::vector<std::string>& coordinates = fitted.observations.coordinate_names;
    const auto covariates = geo::covariate_names(fitted.model.trend, coordinates);
    if (covariates.empty()) return;
    throw Error("the trend {} needs {} at every place, which {} does not give; give a CSV file with the columns {}, {}",
                fitted.model.trend.text(), fmt::join(covariates, ", "), option, fmt::join(coordinates, ", "),
                fmt::join(covariates, ", "));
}

}  // namespace tesela::cli
