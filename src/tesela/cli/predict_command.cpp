#include "tesela/cli/commands.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/places.hpp"
#include "tesela/geo/prediction_table.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/jobs/predict.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

using geo::Parameter;

struct PredictCommand {
    GeoOptions geo;
    GridOptions grid;
    std::vector<std::string> keep{"all"};
    geo::TableOptions table;
    std::string model;
    geo::PredictionOf variance = geo::PredictionOf::observation;
    MapOptions map;
    Index block = 0;
};

// --- what is asked for -----------------------------------------------------------------------------------------------

Places predicted_places(const PredictCommand& options, const geo::FittedModel& fitted, Notes& notes) {
    geo::DataFile data = options.geo.data;
    if (!options.grid.cells.empty()) return grid_places(options.grid, fitted);
    if (data.coordinates.empty()) data.coordinates = fitted.observations.coordinate_names;
    const KeepOptions keep{.columns = options.keep, .results = geo::result_names(options.table.back_transform)};
    return file_places(data, keep, fitted, notes);
}

/// The model of the first file or, with --theta, one with these parameters of the observations in it.
geo::FittedModel predicting_model(const PredictCommand& options, Notes& notes) {
    if (options.geo.model.theta.empty())
        return read_model_first("tesela predict", options.model, options.geo.data.file);
    if (geo::is_model_file(options.model))
        throw Error(
            "{} is a model, which has its parameters; with --theta the first file is a CSV file of observations",
            options.model);
    geo::DataFile data = options.geo.data;
    data.file = options.model;
    if (data.coordinates.empty() || data.value.empty())
        throw Error(
            "with --theta the first file is a CSV file of observations: name its columns by --coords and --value");
    geo::FittedModel known;
    known.observations = read_observations(data, notes, options.geo.model);
    known.model = model_of(options.geo.model, known.observations);
    known.result.theta = theta_of(options.geo.model);
    for (const Parameter p : geo::all_parameters)
        if (geo::uses(known.model.family, p)) known.model.choice(p).fixed = geo::value_of(known.result.theta, p);
    return known;
}

/// What cannot be drawn or written is refused before anything is computed.
void check_outputs(const PredictCommand& options, const geo::FittedModel& fitted) {
    (void)prediction_map(options.map, fitted);
    validate(options.table);
    require_writable(options.geo.output);
    if (!options.map.file.empty()) require_writable(options.map.file);
}

// --- while it runs ---------------------------------------------------------------------------------------------------

/// How many points are done; the first take the factor's time too, so that what is left is judged by those after.
class Progress {
public:
    Progress(const RunOptions& run, std::size_t points)
        : line_(run.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::in_files_too),
          points_(static_cast<Index>(points)) {}

    void operator()(Index done) {
        const double now = seconds();
        line_.show([&] {
            const double left = factored_ ? (now - *factored_) * static_cast<double>(points_ - done) /
                                                static_cast<double>(done - before_)
                                          : 0;
            return fmt::format("{} of {} points, {}{}", done, points_, format_seconds(now),
                               factored_ ? fmt::format(", about {} left", format_seconds(left)) : "");
        });
        if (factored_) return;
        factored_ = now;
        before_ = done;
    }
    [[nodiscard]] double seconds() const { return seconds_since(start_); }

private:
    ProgressLine line_;
    Index points_;
    Clock::time_point start_ = Clock::now();
    std::optional<double> factored_;
    Index before_ = 0;
};

/// Said before the work where that takes more than a moment; every node calls it.
void tell_expected_time(const jobs::PredictRequest& request, const geo::ResolvedEvaluation& resolved, Engine& engine) {
    const auto time = jobs::expected_time(engine, request, resolved);
    if (time && engine.is_first())
        fmt::print(stderr, "expected: about {} for the factor, then {} for {} points\n", format_seconds(time->factor),
                   format_seconds(time->places), request.places.size());
}

jobs::Predicted predict_or_advise(Stream& stream, const jobs::PredictRequest& request,
                                  const geo::ResolvedEvaluation& resolved) {
    try {
        return jobs::predict(stream, request, resolved);
    } catch (const geo::NotPositiveDefinite& error) {
        throw geo::NotPositiveDefinite(std::string(error.what()) + when_fitting);
    }
}

// --- what is printed -------------------------------------------------------------------------------------------------

void note_other_coefficient(const jobs::Predicted& predicted, const std::string& file, const Engine& engine) {
    const auto& other = predicted.other_coefficient;
    if (other && engine.is_first())
        fmt::print(stderr,
                   "note: the coefficient {} of the trend is {:.6g} with the observations and parameters of {}, and "
                   "{:.6g} in it, which is not used\n",
                   other->name, other->estimated, file, other->in_model);
}

void report_predictions(const PredictCommand& options, const geo::FittedModel& fitted, const Places& places,
                        const geo::Predictions& predictions) {
    const geo::PredictionTable table = geo::tabulate(predictions, options.table);
    std::vector<CsvColumn> columns = places.coordinate_columns();
    for (CsvColumn& column : table.columns()) columns.push_back(std::move(column));
    write_csv(options.geo.output, places.kept, columns);
    if (options.map.file.empty()) return;
    geo::PredictionMapOptions map = prediction_map(options.map, fitted);
    map.of = options.variance;
    const geo::Observations shown = geo::transformed_back(fitted.observations, options.table.back_transform);
    write_file(options.map.file,
               geo::draw_predictions(shown, places.coordinates, {.mean = table.mean, .variance = table.variance}, map));
}

void print_summary(const PredictCommand& options, const jobs::Predicted& predicted, const Json& times,
                   const Engine& engine) {
    const RunOptions& run = options.geo.run;
    const std::string compressed = predicted.compressed ? in_words(*predicted.compressed) : "";
    if (is_standard_output(options.geo.output)) {  // which is where predictions went
        if (!compressed.empty() && !run.quiet) fmt::print(stderr, "{}\n", compressed);
        return;
    }
    Json results{{"points", predicted.predictions.mean.size()},
                 {"seconds", times.at("seconds")},
                 {"output", options.geo.output}};
    if (!options.map.file.empty()) results["map"] = options.map.file;
    if (run.json)
        results.update(Json{{"method", method_name(predicted.options)},
                            {"tile", predicted.options.tile},
                            {"sample_seconds", times.at("sample_seconds")},
                            {"compression", compression_json(predicted.compressed)}});
    print_results(engine, results, run.json);
    if (!compressed.empty() && !run.json) fmt::print("{}\n", compressed);
}

int run_predict(const PredictCommand& options) {
    if (options.geo.data.file.empty() == options.grid.cells.empty())
        throw Error("say where to predict: a CSV file of points or --grid, one of them");
    Notes notes;
    const geo::FittedModel fitted = predicting_model(options, notes);
    check_outputs(options, fitted);
    const Places places = predicted_places(options, fitted, notes);
    if (places.coordinates.front().empty()) throw Error("{} has no points", options.geo.data.file);
    jobs::RankSampler sampler(fitted.observations, fitted.model, fitted.result.theta, options.geo.run.workers);
    const geo::EvaluationFacts facts = jobs::facts_of(sampler, fitted);
    (void)geo::choose_method(evaluation_request(options.geo), facts);  // may be refused before the engine starts
    const auto engine = start_geo_engine(options.geo.run);
    print_notes(*engine, notes);
    const geo::ResolvedEvaluation resolved = resolve_together(options.geo, facts, *engine);
    print_reasons(*engine, resolved.reasons, options.model);
    Stream stream(*engine, {.sums = Sums::in_order});
    Progress progress(options.geo.run, places.coordinates.front().size());
    const geo::Sites sites = places.sites();
    const jobs::PredictRequest request{fitted,
                                       sites,
                                       {.of = options.variance, .block = options.block, .progress = std::ref(progress)},
                                       look_of(options.geo.run)};
    if (!options.geo.run.quiet) tell_expected_time(request, resolved, *engine);
    const jobs::Predicted predicted = predict_or_advise(stream, request, resolved);
    print_doubts(*engine, predicted.doubts, options.geo.model.theta.empty() ? when_fitting : "");
    note_other_coefficient(predicted, options.model, *engine);
    if (!engine->is_first()) return success;
    report_predictions(options, fitted, places, predicted.predictions);
    print_summary(options, predicted, {{"seconds", progress.seconds()}, {"sample_seconds", sampler.seconds()}},
                  *engine);
    return success;
}

void add_predict_options(CLI::App& command, PredictCommand& options) {
    options.geo.output = "-";
    command.add_option("model", options.model, "Model that tesela fit wrote; with --theta, CSV file of observations")
        ->required();
    add_data_options(command, options.geo.data, Reads::points);
    command.get_option("file")->required(false)->description("CSV file of points with a header; - is standard input");
    command.get_option("--coords")
        ->required(false)
        ->description("Columns of the coordinates (default: as in the model)");
    auto* value = command.add_option("--value", options.geo.data.value, "With --theta: column of the observed values");
    add_grid_options(command, options.grid);
    add_columns_option(command, "--keep", options.keep,
                       "Columns of the points that are written too, as they are: all, none, or names "
                       "(coordinates always)")
        ->default_str("all");
    for (const char* of_a_file : {"--na", "--keep"}) command.get_option(of_a_file)->excludes("--grid");
    set_heading(command, "Data");
    add_theta_option(command, options.geo.model);
    auto* theta = command.get_option("--theta")->required(false)->description(
        "In place of a model: its parameters; sigma2, range, smoothness where the family has one, nugget (0 unless "
        "given)");
    add_covariance_options(command, options.geo.model);
    add_mean_options(command, options.geo.model, geo::Trend::constant);
    value->needs(theta);
    for (const char* of_theta : {"--jitter", "--center"}) command.get_option(of_theta)->needs(theta);
    for (const char* of_theta : {"--family", "--metric", "--trend", "--estimation"})
        rarely_used(command.get_option(of_theta)->needs(theta));
    add_choice(
        command, "--variance", options.variance, geo::prediction_of_names,
        "Variance of what: observation (a new one, nugget included, also at an observed place, where gstat's is 0) "
        "or signal (the field without the nugget)");
    set_heading(command, "Model");
    add_method_options(command, options.geo.method);
    command.get_option("--method")->default_str("as in the model");
    set_heading(command, "Method");
    command.add_option("-o,--output", options.geo.output, "CSV file to write; - is standard output")
        ->capture_default_str();
    command.add_option("--level", options.table.level, "Probability of the intervals from lower to upper")
        ->capture_default_str();
    add_choice(
        command, "--back-transform", options.table.back_transform, geo::back_transform_names,
        "log: the observed values are natural logarithms, and results are wanted of what they are logarithms of");
    add_map_options(command, options.map);
    set_heading(command, "Output");
    rarely_used(at_least(command.add_option("--block", options.block,
                                            "Points computed together (0: as many as keep memory small)"),
                         Index{0})
                    ->capture_default_str());
    set_heading(command, "Machine");
    add_run_options(command, options.geo);
    add_example(command, "tesela predict meuse.json data/meuse_grid.csv -o kriged.csv --map meuse.svg");
}

}  // namespace

Command predict_command() {
    return command("predict", "Kriging mean and variance at new points, from a fitted model", add_predict_options,
                   run_predict);
}

}  // namespace tesela::cli
