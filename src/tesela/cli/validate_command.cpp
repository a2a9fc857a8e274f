#include "tesela/cli/commands.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/geo/grid.hpp"
#include "tesela/geo/model_comparison.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/prediction_map.hpp"
#include "tesela/geo/prediction_table.hpp"
#include "tesela/geo/residual_plot.hpp"
#include "tesela/geo/scores.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/jobs/predict.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

struct ValidateCommand {
    GeoOptions geo;
    std::string model;
    Index folds = 0;
    std::uint64_t seed = 1;
    std::string blocks;
    std::string holdout;
    double level = geo::TableOptions{}.level;
    std::string residuals;
    std::string plot;
    std::string map;
};

constexpr const char* program = "tesela validate";
constexpr const char* when_fitting_again = " to tesela fit, and validate the new model";

/// Which observations are predicted from which.
struct Scheme {
    std::string name;   ///< for programs
    std::string words;  ///< "leave-one-out", for people
    geo::Folds folds;   ///< none where others are held out
};

Scheme scheme_of(const ValidateCommand& options, const geo::FittedModel& fitted) {
    const Index n = fitted.observations.size();
    if (!options.holdout.empty()) return {.name = "holdout", .words = "predictions", .folds = {}};
    if (options.folds > 0)
        return {.name = "folds",
                .words = fmt::format("{} random folds", options.folds),
                .folds = geo::random_folds(n, options.folds, options.seed)};
    if (options.blocks.empty())
        return {.name = "leave_one_out", .words = "leave-one-out", .folds = geo::leave_one_out(n)};
    geo::Folds folds =
        geo::block_folds(fitted.observations, fitted.model.metric, geo::parse_cells(options.blocks, "--blocks"));
    std::string words = fmt::format("{} blocks of {}", folds.count, options.blocks);
    return {.name = "blocks", .words = std::move(words), .folds = std::move(folds)};
}

/// The observations of a file, in columns that are called as in the model unless options say otherwise.
geo::Observations observations_of(const std::string& file, const ValidateCommand& options,
                                  const geo::FittedModel& fitted, Notes& notes) {
    if (geo::is_model_file(file))
        throw Error("{} is a model too, where a CSV file of observations is expected; tesela compare compares models",
                    file);
    geo::DataFile data = options.geo.data;
    data.file = file;
    if (data.coordinates.empty()) data.coordinates = fitted.observations.coordinate_names;
    if (data.value.empty()) data.value = fitted.observations.value_name;
    geo::Observations result =
        read_observations(data, notes, {.metric = fitted.model.metric, .trend = fitted.model.trend});
    if (result.coordinates.size() != fitted.observations.coordinates.size())
        throw Error("{} has {} coordinates and the data have {}", options.model, fitted.observations.coordinates.size(),
                    result.coordinates.size());
    return result;
}

void check_outputs(const ValidateCommand& options, const geo::FittedModel& fitted) {
    validate(geo::TableOptions{.level = options.level});
    if (!options.plot.empty()) require_svg("--plot", options.plot);
    if (!options.map.empty()) {
        require_svg("--map", options.map);
        geo::require_map_coordinates(fitted.observations.coordinates.size());
    }
    for (const std::string& path : {options.residuals, options.plot, options.map})
        if (!path.empty()) require_writable(path);
}

/// All that is printed, written and drawn.
struct ValidationReport {
    const ValidateCommand& options;
    const geo::FittedModel& fitted;
    const geo::Observations& scored;
    const Scheme& scheme;
    const geo::Residuals& residuals;
    geo::Scores scores;
    double seconds = 0;

    [[nodiscard]] std::string title() const {
        return fmt::format("{} of {} observations of {}, covariance {}, trend {}", scheme.words, scored.size(),
                           scored.value_name, name(fitted.model.family), fitted.model.trend.text());
    }
};

void write_residuals(const ValidationReport& report) {
    std::vector<CsvColumn> columns;
    for (std::size_t d = 0; d < report.scored.coordinates.size(); ++d)
        columns.push_back({report.scored.coordinate_name(d), report.scored.coordinates[d]});
    columns.push_back({"observed", report.residuals.observed});
    columns.push_back({"predicted", report.residuals.predicted});
    columns.push_back({"sd", report.residuals.sd});
    columns.push_back({"error", report.residuals.error});
    columns.push_back({"standardised", report.residuals.standardised});
    std::vector<double> folds;
    for (const Index fold : report.scheme.folds.of) folds.push_back(static_cast<double>(fold + 1));
    if (!folds.empty()) columns.push_back({"fold", folds});
    write_csv(report.options.residuals, columns);
}

void write_files(const ValidationReport& report) {
    const ValidateCommand& options = report.options;
    if (!options.residuals.empty()) write_residuals(report);
    if (!options.plot.empty())
        write_file(options.plot, geo::draw_residuals(report.residuals, report.title(), report.scored.value_name));
    if (!options.map.empty())
        write_file(options.map,
                   geo::draw_residual_map(report.scored, report.fitted.model.metric, report.residuals, report.title()));
}

Json to_json(const ValidationReport& report) {
    const geo::Scores& s = report.scores;
    Json json{{"model", report.options.model},
              {"method", report.scheme.name},
              {"n", report.scored.size()},
              {"value", report.scored.value_name}};
    if (report.scheme.folds.count > 0) json["folds"] = report.scheme.folds.count;
    if (report.options.folds > 0) json["seed"] = report.options.seed;
    json["rmse"] = s.rmse;
    json["mae"] = s.mae;
    json["mean_error"] = s.mean_error;
    json["mean_standardised_square"] = s.standardised_square;
    json["crps"] = s.crps;
    json["log_score"] = s.log_score;
    json["level"] = s.level;
    json["coverage"] = s.coverage;
    json["seconds"] = report.seconds;
    return json;
}

void print_table(const ValidationReport& report) {
    const geo::Scores& s = report.scores;
    const auto row = [](const char* what, double value, const std::string& words) {
        fmt::print("  {:<13} {:<12.6g} {}\n", what, value, words);
    };
    fmt::print("{}\n", report.title());
    row("rmse", s.rmse, "root of the mean squared error");
    row("mae", s.mae, "mean absolute error");
    row("mean error", s.mean_error, "observed − predicted; 0 without bias");
    row("standardised", s.standardised_square, "mean squared error over variance; 1 if variances are right");
    row("crps", s.crps, "continuous ranked probability score; smaller is better");
    row("log score", s.log_score, "mean of −log density; smaller is better");
    row("coverage", s.coverage, fmt::format("of intervals that should hold {:.6g}", s.level));
}

/// What a model was fitted to it predicts too well.
void check_held_out(const std::string& file, Index fitted_too, const geo::Observations& scored, Notes& notes) {
    if (fitted_too == scored.size())
        throw Error(
            "{} holds what the model was fitted to, which it predicts too well: leave --holdout out, and "
            "observations are held out one by one",
            file);
    if (fitted_too > 0)
        notes.push_back(fmt::format(
            "the model was fitted to {} of the {} observations of {}, which it predicts too well: scores look better "
            "than they are",
            fitted_too, scored.size(), file));
}

int run_validate(const ValidateCommand& options) {
    const std::string& file = options.geo.data.file;
    geo::FittedModel fitted = read_model_first(program, options.model, file);
    Notes notes;
    if (!file.empty()) fitted.observations = observations_of(file, options, fitted, notes);
    const bool holds_out = !options.holdout.empty();
    const geo::Observations scored =
        holds_out ? observations_of(options.holdout, options, fitted, notes) : fitted.observations;
    if (holds_out)
        check_held_out(options.holdout, geo::common_observations(fitted.observations, scored), scored, notes);
    const Scheme scheme = scheme_of(options, fitted);
    check_outputs(options, fitted);
    const jobs::ValidateRequest request{.fitted = fitted,
                                        .evaluation = evaluation_request(options.geo),
                                        .folds = scheme.folds,
                                        .held_out = holds_out ? std::optional(scored) : std::nullopt};
    const auto engine = start_geo_engine(options.geo.run);
    print_notes(*engine, notes);
    const auto start = Clock::now();
    Stream stream(*engine, {.sums = Sums::in_order});
    const jobs::Validation validation = jobs::validate(stream, request);
    print_doubts(*engine, validation.doubts, when_fitting_again);
    if (!engine->is_first()) return success;
    const geo::Residuals residuals = geo::residuals(scored.values, validation.predictions);
    const ValidationReport report{.options = options,
                                  .fitted = fitted,
                                  .scored = scored,
                                  .scheme = scheme,
                                  .residuals = residuals,
                                  .scores = geo::score(residuals, options.level),
                                  .seconds = seconds_since(start)};
    write_files(report);
    for (const std::string& path : {options.residuals, options.plot, options.map})
        if (is_standard_output(path)) return success;
    if (options.geo.run.json)
        fmt::print("{}\n", to_json(report).dump(2));
    else
        print_table(report);
    return success;
}

void add_scheme_options(CLI::App& command, ValidateCommand& options) {
    auto* folds = at_least(command.add_option("--folds", options.folds,
                                              "Hold out so many random folds in turn (default: one observation at a "
                                              "time)"),
                           Index{2});
    at_least(command.add_option("--seed", options.seed, "Of the random folds"), std::uint64_t{0})
        ->capture_default_str()
        ->needs(folds);
    auto* blocks = command
                       .add_option("--blocks", options.blocks,
                                   "Hold out the observations in each cell of a grid over their box: predictions from "
                                   "farther away")
                       ->type_name("NXxNY")
                       ->excludes(folds);
    command
        .add_option("--holdout", options.holdout,
                    "Predict the observations of this CSV file, which the model has not seen, from all of its own")
        ->type_name("FILE")
        ->excludes(folds)
        ->excludes(blocks);
}

void add_validate_options(CLI::App& command, ValidateCommand& options) {
    command.add_option("model", options.model, "Model that tesela fit wrote")->required();
    add_data_options(command, options.geo.data, Reads::observations);
    command.get_option("file")->required(false)->description(
        "CSV file of observations in place of those in the model, whose parameters stay");
    command.get_option("--coords")
        ->required(false)
        ->description("Columns of the coordinates (default: as in the model)");
    command.get_option("--value")->required(false)->description("Column of the values (default: as in the model)");
    set_heading(command, "Data");
    add_scheme_options(command, options);
    set_heading(command, "What is held out");
    command.add_option("--level", options.level, "Probability of the intervals whose coverage is counted")
        ->capture_default_str();
    command.add_option("--residuals", options.residuals,
                       "CSV file for what was observed and predicted, sd, error, standardised error and fold; - is "
                       "standard output");
    command.add_option("--plot", options.plot,
                       "SVG file for observed against predicted values and a normal QQ plot of standardised errors");
    command.add_option("--map", options.map, "SVG file for a map of the errors");
    add_run_options(command, options.geo);
    add_example(command, "tesela validate meuse.json --blocks 4x4 --residuals residuals.csv --plot residuals.svg");
}

}  // namespace

Command validate_command() {
    return command("validate", "How well a model predicts observations that it is not shown, and how sure it is",
                   add_validate_options, run_validate);
}

}  // namespace tesela::cli
