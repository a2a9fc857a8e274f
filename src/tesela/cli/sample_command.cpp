#include "tesela/cli/commands.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/places.hpp"
#include "tesela/geo/model_field.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/jobs/predict.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

struct SampleCommand {
    GeoOptions geo;
    GridOptions grid;
    std::string model;
    Index n = 0;
    Index draws = 1;
    std::uint64_t seed = 1;
    double mean = 0;
    std::string name = "z";
};

/// n points of the unit square or, with a model, of the box of its observations.
Places random_places(const SampleCommand& options, const geo::FittedModel* fitted) {
    const Metric metric = fitted != nullptr ? fitted->model.metric : options.geo.model.metric;
    if (metric != Metric::euclidean)
        throw Error("--n draws points of {}; give --points{} for {} distances",
                    fitted != nullptr ? "a box in a plane" : "the unit square", fitted != nullptr ? " or --grid" : "",
                    name(metric));
    if (fitted == nullptr) return {.coordinates = geo::random_points(options.n, options.seed), .names = {"x", "y"}};
    require_coordinates_suffice(*fitted, "--n");
    const geo::Observations& observed = fitted->observations;
    const geo::Box box = geo::bounding_box(metric, observed.coordinates);
    return {.coordinates = geo::random_points(options.n, options.seed, box), .names = observed.coordinate_names};
}

/// Columns that the trend uses are written too, so that what was drawn can be fitted with it.
void add_covariates(const Places& places, std::vector<CsvTextColumn>& factors, std::vector<CsvColumn>& numbers) {
    for (const geo::Covariate& covariate : places.covariates)
        if (const auto* values = std::get_if<std::vector<double>>(&covariate.values))
            numbers.push_back({covariate.name, *values});
        else {
            CsvTextColumn& column = factors.emplace_back();
            column.name = covariate.name;
            for (const std::string& label : std::get<std::vector<std::string>>(covariate.values))
                column.values.emplace_back(label);
        }
}

Places sampled_places(const SampleCommand& options, const geo::FittedModel* fitted, Notes& notes) {
    geo::DataFile data = options.geo.data;
    const int ways = (data.file.empty() ? 0 : 1) + (options.n == 0 ? 0 : 1) + (options.grid.cells.empty() ? 0 : 1);
    if (fitted == nullptr && !options.grid.cells.empty()) throw Error("--grid needs --model, whose box it is over");
    if (ways > 1 || (ways == 0 && fitted == nullptr))
        throw Error("say where to sample: --n N or --points FILE, one of them{}",
                    fitted != nullptr ? " or --grid, or none for the places of the observations" : "");
    if (!options.grid.cells.empty()) return grid_places(options.grid, *fitted);
    if (options.n != 0) return random_places(options, fitted);
    if (data.file.empty())
        return {.coordinates = fitted->observations.coordinates,
                .names = fitted->observations.coordinate_names,
                .covariates = fitted->observations.covariates};
    if (data.coordinates.empty() && fitted != nullptr) data.coordinates = fitted->observations.coordinate_names;
    if (data.coordinates.empty()) data.coordinates = {"x", "y"};
    const Metric metric = fitted != nullptr ? fitted->model.metric : options.geo.model.metric;
    require_different_columns(data.coordinates, "");
    geo::Sites read = geo::read_sites(
        data, metric, fitted != nullptr ? fitted->observations.covariates : std::vector<geo::Covariate>{}, notes);
    return {.coordinates = std::move(read.coordinates),
            .names = data.coordinates,
            .covariates = std::move(read.covariates),
            .source = std::move(read.file),
            .lines = std::move(read.lines)};
}

/// z, or z1, z2, … where several are drawn.
std::string drawn_name(const SampleCommand& options, Index draw) {
    return options.draws == 1 ? options.name : fmt::format("{}{}", options.name, draw + 1);
}

void require_own_names(const SampleCommand& options, const Places& places) {
    for (Index draw = 0; draw < options.draws; ++draw) {
        const std::string name = drawn_name(options, draw);
        if (std::ranges::find(places.names, name) != places.names.end() ||
            std::ranges::find(places.covariates, name, &geo::Covariate::name) != places.covariates.end())
            throw Error("the values would be in a second column {}; give another --name", name);
    }
}

geo::Field field_of(const SampleCommand& options) {
    if (options.geo.model.theta.empty()) throw Error("say of which field: --theta or --model");
    return {.family = options.geo.model.family,
            .theta = theta_of(options.geo.model),
            .metric = options.geo.model.metric,
            .mean = options.mean,
            .jitter = options.geo.model.jitter};
}

void write_draws(const SampleCommand& options, const Places& places, const std::vector<std::vector<double>>& draws) {
    std::vector<CsvColumn> columns = places.coordinate_columns();
    std::vector<CsvTextColumn> factors;
    add_covariates(places, factors, columns);
    for (std::size_t k = 0; k < draws.size(); ++k)
        columns.push_back({drawn_name(options, static_cast<Index>(k)), draws[k]});
    write_csv(options.geo.output, factors, columns);
}

int run_sample(const SampleCommand& options) {
    std::optional<geo::FittedModel> fitted;
    if (!options.model.empty()) fitted = geo::read_model(options.model);
    Notes notes;
    jobs::SampleRequest request{.field = fitted ? geo::field_of(*fitted) : field_of(options),
                                .points = {},
                                .seed = options.seed,
                                .draws = options.draws,
                                .evaluation = evaluation_request(options.geo)};
    const Places places = sampled_places(options, fitted ? &*fitted : nullptr, notes);
    require_own_names(options, places);
    request.points = places.coordinates;
    if (fitted) request.mean = geo::mean_at(*fitted, places.sites());
    require_writable(options.geo.output);
    const auto engine = start_geo_engine(options.geo.run);
    print_notes(*engine, notes);
    const auto start = Clock::now();
    Stream stream(*engine, {.sums = Sums::in_order});
    const auto draws = jobs::sample(stream, request);
    if (!engine->is_first()) return success;
    write_draws(options, places, draws);
    if (is_standard_output(options.geo.output)) return success;
    print_results(*engine,
                  {{"points", places.coordinates.front().size()},
                   {"draws", draws.size()},
                   {"theta", geo::theta_json(request.field.family, request.field.theta)},
                   {"seed", options.seed},
                   {"seconds", seconds_since(start)},
                   {"output", options.geo.output}},
                  options.geo.run.json);
    return success;
}

void add_sample_options(CLI::App& command, SampleCommand& options) {
    options.geo.output = "-";
    auto* model = command.add_option("--model", options.model,
                                     "Model that tesela fit wrote: parameters, family, metric and trend are its own");
    at_least(command.add_option(
                 "--n", options.n,
                 "Draw so many points uniformly from the unit square (with --model: from the box of its observations)"),
             Index{1});
    command.add_option("--points", options.geo.data.file,
                       "Or take the points of a CSV file (with --model and neither: the observations' places)");
    add_columns_option(command, "--coords", options.geo.data.coordinates,
                       "Columns of its coordinates (default: x,y, or as in the model)");
    add_grid_options(command, options.grid);
    set_heading(command, "Data");
    add_theta_option(command, options.geo.model);
    command.get_option("--theta")->required(false);
    add_covariance_options(command, options.geo.model);
    command.add_option("--mean", options.mean, "Mean of the field")->capture_default_str();
    for (const char* name : {"--theta", "--family", "--metric", "--jitter", "--mean"})
        command.get_option(name)->excludes(model);
    at_least(command.add_option("--draws", options.draws, "Draw so many fields, which costs little more than one"),
             Index{1})
        ->capture_default_str();
    at_least(command.add_option("--seed", options.seed, "Of the points and of the field"), std::uint64_t{0})
        ->capture_default_str();
    set_heading(command, "Model");
    command.add_option("--name", options.name, "Column of the values; of several draws z1, z2, …")
        ->capture_default_str();
    command.add_option("-o,--output", options.geo.output, "CSV file to write; - is standard output")
        ->capture_default_str();
    add_run_options(command, options.geo);
    add_example(command,
                "tesela sample --n 1600 --theta sigma2=1,range=0.1,smoothness=1,nugget=0.1 --seed 7 -o field.csv");
}

}  // namespace

Command sample_command() {
    return command("sample", "Draw a Gaussian field with known parameters", add_sample_options, run_sample);
}

}  // namespace tesela::cli
