#include "tesela/cli/commands.hpp"

#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/geo/model_file.hpp"
#include "tesela/geo/variogram.hpp"
#include "tesela/geo/variogram_plot.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace tesela::cli {
namespace {

struct VariogramCommand {
    geo::DataFile data;
    geo::VariogramOptions variogram;
    std::optional<geo::TrendFormula> trend;
    std::optional<Metric> metric;
    bool robust = false;
    std::string model;
    std::string output;
    std::string plot;
    bool json = false;
    bool quiet = false;
};

/// All that is printed, written and drawn.
struct VariogramReport {
    geo::Observations observations;
    geo::TrendFormula trend{};
    Metric metric = Metric::euclidean;
    geo::Variogram variogram;
    std::optional<Covariance> model{};
    std::string model_label{};

    [[nodiscard]] std::string unit() const {
        if (metric != Metric::euclidean) return "km";
        return fmt::format("unit of {}", fmt::join(observations.coordinate_names, ", "));
    }
    [[nodiscard]] double model_gamma(const geo::VariogramPoint& point) const {
        return geo::model_variogram(*model, point.distance);
    }
};

/// What is not said is as in the model.
void complete(VariogramCommand& options, const std::optional<geo::FittedModel>& fitted) {
    if (fitted && options.metric && *options.metric != fitted->model.metric)
        throw Error("--metric {} is not that of {}, which is {}", name(*options.metric), options.model,
                    name(fitted->model.metric));
    if (fitted && !options.metric) options.metric = fitted->model.metric;
    if (fitted && !options.trend && fitted->model.trend.kind() != geo::Trend::none) options.trend = fitted->model.trend;
    if (fitted && options.data.coordinates.empty()) options.data.coordinates = fitted->observations.coordinate_names;
    if (fitted && options.data.value.empty()) options.data.value = fitted->observations.value_name;
    if (options.data.coordinates.empty()) throw Error("say which columns the coordinates are: --coords x,y");
    if (options.data.value.empty()) throw Error("say which column the values are: --value NAME");
}

/// One direction with gstat's tolerance, 90 degrees, would be all of them.
void require_tolerance(const geo::VariogramOptions& options) {
    if (options.directions.size() == 1 && options.tolerance == 0)
        throw Error("one direction needs a --tolerance, as 22.5");
}

VariogramReport make_report(VariogramCommand options, Notes& notes) {
    require_tolerance(options.variogram);
    std::optional<geo::FittedModel> fitted;
    if (!options.model.empty()) fitted = geo::read_model(options.model);
    complete(options, fitted);
    options.variogram.estimator = options.robust ? geo::VariogramEstimator::robust : geo::VariogramEstimator::classical;
    const Metric metric = options.metric.value_or(Metric::euclidean);
    const ModelOptions model{.metric = metric, .trend = options.trend.value_or(geo::Trend::constant)};
    VariogramReport report{.observations = read_observations(options.data, notes, model),
                           .trend = model.trend,
                           .metric = metric,
                           .variogram = {}};
    if (fitted && fitted->observations.coordinates.size() != report.observations.coordinates.size())
        throw Error("{} has {} coordinates and the data have {}", options.model,
                    fitted->observations.coordinates.size(), report.observations.coordinates.size());
    report.variogram =
        geo::sample_variogram(geo::without_trend(report.observations, report.trend), report.metric, options.variogram);
    if (!fitted) return report;
    report.model.emplace(fitted->model.family, fitted->result.theta, report.metric, report.variogram.cutoff);
    report.model_label =
        fmt::format("{} ({})", name(fitted->model.family), std::filesystem::path(options.model).filename().string());
    return report;
}

std::string estimator(const VariogramCommand& options) { return options.robust ? "robust" : "classical"; }

Json to_json(const VariogramCommand& options, const VariogramReport& report) {
    Json points = Json::array();
    for (const geo::VariogramPoint& point : report.variogram.points) {
        Json row{{"np", point.pairs}, {"dist", point.distance}, {"gamma", point.gamma}, {"dir", point.direction}};
        if (report.model) row["model"] = report.model_gamma(point);
        points.push_back(std::move(row));
    }
    return {{"n", report.observations.size()}, {"value", report.observations.value_name},
            {"estimator", estimator(options)}, {"trend", report.trend.text()},
            {"metric", name(report.metric)},   {"cutoff", report.variogram.cutoff},
            {"width", report.variogram.width}, {"tolerance", report.variogram.tolerance},
            {"variogram", std::move(points)}};
}

void write_table(const std::string& path, const VariogramReport& report) {
    std::vector<std::vector<double>> columns(report.model ? 5 : 4);
    for (const geo::VariogramPoint& point : report.variogram.points) {
        columns[0].push_back(static_cast<double>(point.pairs));
        columns[1].push_back(point.distance);
        columns[2].push_back(point.gamma);
        columns[3].push_back(point.direction);
        if (report.model) columns[4].push_back(report.model_gamma(point));
    }
    const std::vector<std::string> names{"np", "dist", "gamma", "dir", "model"};
    std::vector<CsvColumn> named;
    for (std::size_t c = 0; c < columns.size(); ++c) named.push_back({names[c], columns[c]});
    write_csv(path, named);
}

void write_plot(const std::string& path, const VariogramReport& report) {
    write_file(path, geo::draw_variogram({.title = fmt::format("Variogram of {}", report.observations.value_name),
                                          .x_label = fmt::format("distance ({})", report.unit()),
                                          .y_label = "gamma",
                                          .sample = report.variogram,
                                          .model = report.model,
                                          .model_label = report.model_label}));
}

void print_table(const VariogramCommand& options, const VariogramReport& report) {
    const geo::Variogram& variogram = report.variogram;
    const bool directed = !options.variogram.directions.empty();
    fmt::print("variogram of {} observations of {}, {}, trend {}, cutoff {:.6g}, width {:.6g} ({})\n",
               report.observations.size(), report.observations.value_name, estimator(options), report.trend.text(),
               variogram.cutoff, variogram.width, report.unit());
    fmt::print("{:>9} {:>12} {:>12}{}{}\n", "np", "dist", "gamma", directed ? fmt::format(" {:>6}", "dir") : "",
               report.model ? fmt::format(" {:>12}", "model") : "");
    for (const geo::VariogramPoint& point : variogram.points)
        fmt::print("{:>9} {:>12.7g} {:>12.7g}{}{}\n", point.pairs, point.distance, point.gamma,
                   directed ? fmt::format(" {:>6g}", point.direction) : "",
                   report.model ? fmt::format(" {:>12.7g}", report.model_gamma(point)) : "");
}

int run_variogram(const VariogramCommand& options) {
    // Every node of mpirun would do the same: one does it.
    if (const auto rank = rank_by_launcher(); rank && *rank != "0") return success;
    Notes notes;
    if (!options.plot.empty()) require_svg("--plot", options.plot);
    for (const std::string& path : {options.output, options.plot})
        if (!path.empty()) require_writable(path);
    const VariogramReport report = make_report(options, notes);
    if (!options.quiet)
        for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
    if (!options.plot.empty()) write_plot(options.plot, report);
    if (!options.output.empty()) write_table(options.output, report);
    if (is_standard_output(options.output) || is_standard_output(options.plot)) return success;
    if (options.json)
        fmt::print("{}\n", to_json(options, report).dump(2));
    else
        print_table(options, report);
    return success;
}

void add_sample_options(CLI::App& command, VariogramCommand& options) {
    add_trend_option(command, options.trend,
                     "What is taken away first, by ordinary least squares; a formula is one of columns, as '~ "
                     "sqrt(dist) + soil' (default: constant, or as in the model)");
    add_choice(command, "--metric", options.metric, metric_names,
               "Distances: euclidean, or for lon,lat in degrees chordal or great_circle, in km (default: euclidean, or "
               "as in the model)");
    above_zero(command.add_option(
        "--cutoff", options.variogram.cutoff,
        "Leave out pairs farther apart (default: a third of the diagonal of the observations' box)"));
    above_zero(command.add_option("--width", options.variogram.width,
                                  "Width of an interval of distances (default: a fifteenth of the cutoff)"));
    command.add_flag("--robust", options.robust, "Cressie and Hawkins' estimator in place of Matheron's");
    auto* directions = comma_separated(command.add_option(
        "--directions", options.variogram.directions,
        "A variogram for each of these azimuths, in degrees clockwise from north (the second coordinate)"));
    above_zero(
        command.add_option("--tolerance", options.variogram.tolerance,
                           "How many degrees a pair may be off its direction (default: 90 / number of directions)"))
        ->needs(directions);
}

void add_variogram_options(CLI::App& command, VariogramCommand& options) {
    add_data_options(command, options.data, Reads::observations);
    command.get_option("--coords")->required(false);
    command.get_option("--value")->required(false);
    set_heading(command, "Data");
    add_sample_options(command, options);
    set_heading(command, "Variogram");
    command.add_option("--model", options.model,
                       "Model that tesela fit wrote: its variogram is a column of the table and a curve of the plot");
    command.add_option("-o,--output,--out", options.output, "Write the table into this CSV file; - is standard output");
    command.add_option("--plot", options.plot, "Draw it into this SVG file");
    set_heading(command, "Output");
    at_least(command.add_option("--workers", options.variogram.threads, "Threads (0: one per usable core)"), 0)
        ->capture_default_str();
    set_heading(command, "Machine");
    add_quiet_option(command, options.quiet);
    add_json_option(command, options.json);
    command.footer(
        "Intervals and estimators are those of R's gstat: half the mean squared difference of pairs, or (--robust)\n"
        "1/2 (mean |difference|^(1/2))^4 / (0.457 + 0.494/np). A model's is nugget + sigma2 - C(distance).");
    add_example(command, "tesela variogram data/meuse.csv --model meuse.json --plot variogram.svg");
}

}  // namespace

Command variogram_command() {
    return command("variogram", "Sample variogram of observations, beside that of a model", add_variogram_options,
                   run_variogram);
}

}  // namespace tesela::cli
