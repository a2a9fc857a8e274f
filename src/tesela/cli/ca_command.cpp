#include "tesela/cli/commands.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/ordination_options.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/ordination_plot.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace tesela::cli {
namespace {

/// Of the inertia, of each dimension that is known.
std::vector<double> parts_of(const mds::Correspondence& analysis) {
    std::vector<double> parts = analysis.inertias();
    for (double& part : parts) part = analysis.inertia > 0 ? part / analysis.inertia : 0;
    return parts;
}

Index degrees_of_freedom(const mds::Correspondence& analysis) {
    return (analysis.decomposition.rows - 1) * (analysis.decomposition.cols - 1);
}

Json to_json(const OrdinationOptions& options, const mds::Correspondence& analysis, const MatrixFile& counts) {
    const mds::Decomposition& d = analysis.decomposition;
    Json json{{"file", counts.name()}, {"rows", d.rows}, {"columns", d.cols}, {"dimensions", d.wanted}};
    const std::vector<double> inertias = analysis.inertias();
    json["singular_values"] =
        std::vector<double>(d.values.begin(), d.values.begin() + static_cast<Index>(inertias.size()));
    json["inertias"] = inertias;
    const std::vector<double> parts = parts_of(analysis);
    json["proportions"] = parts;
    double sum = 0;
    for (Index k = 0; k < d.wanted; ++k) sum += parts[static_cast<std::size_t>(k)];
    json["goodness_of_fit"] = sum;
    json["inertia"] = analysis.inertia;
    json["total"] = d.total;
    json["chi_square"] = analysis.chi_square;
    json["degrees_of_freedom"] = degrees_of_freedom(analysis);
    add_run(json, d);
    add_files(json, options);
    if (!options.other_output.empty()) json["column_output"] = options.other_output;
    return json;
}

void print_table(const OrdinationOptions& options, const mds::Correspondence& analysis) {
    const mds::Decomposition& d = analysis.decomposition;
    fmt::print("correspondence analysis of {} rows and {} columns, {}, {}\n", d.rows, d.cols, short_name(options.file),
               algorithm_words(d));
    fmt::print("{:>9} {:>14} {:>12} {:>10} {:>10}\n", "dimension", "singular_value", "inertia", "proportion",
               "cumulative");
    const std::vector<double> inertias = analysis.inertias();
    const std::vector<double> parts = parts_of(analysis);
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(d.wanted); ++k) {
        sum += parts[k];
        fmt::print("{:>9} {:>14.10f} {:>12.6g} {:>10.5f} {:>10.5f}\n", k + 1, d.values[k], inertias[k], parts[k], sum);
    }
    fmt::print("inertia {:.6g}, chi-square {:.7g} with {} degrees of freedom\n", analysis.inertia, analysis.chi_square,
               degrees_of_freedom(analysis));
}

void write_plot(const OrdinationOptions& options, const mds::Correspondence& analysis, const OrdinationRun& run) {
    const MatrixHeader& counts = run.request.matrix->header();
    const mds::Decomposition& d = analysis.decomposition;
    const std::vector<double> parts = parts_of(analysis);
    const auto label = [&](Index k) {
        return axis_label("dimension", k, mds::exactly(parts[static_cast<std::size_t>(k)]));
    };
    mds::OrdinationPlot plot{
        .title = fmt::format("Correspondence analysis of {}", short_name(options.file)),
        .x_label = label(0),
        .y_label = d.wanted > 1 ? label(1) : "",
        .points = {
            plotted(fmt::format("{} rows", d.rows), analysis.rows.coordinates, d.rows, counts.row_labels),
            plotted(fmt::format("{} columns", d.cols), analysis.columns.coordinates, d.cols, counts.col_labels)}};
    if (const auto& new_rows = run.request.new_rows)
        plot.points.push_back(plotted(fmt::format("{} new", new_rows->rows()), run.result.placed, new_rows->rows(),
                                      new_rows->header().row_labels));
    write_file(options.plot, mds::draw_ordination(plot));
}

void write_files(const OrdinationOptions& options, const mds::Correspondence& analysis, const OrdinationRun& run) {
    const MatrixHeader& counts = run.request.matrix->header();
    if (const auto& new_rows = run.request.new_rows)
        write_table(options.new_output,
                    mds::coordinate_table("dim", run.result.placed, new_rows->header().row_labels, new_rows->rows()));
    if (!options.output.empty()) write_table(options.output, mds::profile_table(analysis.rows, counts.row_labels));
    if (!options.other_output.empty())
        write_table(options.other_output, mds::profile_table(analysis.columns, counts.col_labels));
    if (!options.plot.empty()) write_plot(options, analysis, run);
    if (!options.scree.empty())
        write_file(options.scree, mds::draw_scree({.title = fmt::format("Inertias of {}", short_name(options.file)),
                                                   .value_label = "inertia",
                                                   .values = analysis.inertias(),
                                                   .parts = parts_of(analysis)}));
}

int run_ca(const OrdinationOptions& options) {
    const OrdinationRun run = run_ordination(options, request_of(options, mds::Analysis::correspondence));
    if (!run.prints) return success;
    const auto& analysis = std::get<mds::Correspondence>(run.result.found);
    write_files(options, analysis, run);
    print_results(
        options, [&] { return to_json(options, analysis, *run.request.matrix); },
        [&] { print_table(options, analysis); });
    return success;
}

void add_ca_options(CLI::App& command, OrdinationOptions& options) {
    const OrdinationHelp help{
        .file = "Counts, such as how often a row and a column met: CSV, NumPy, or HDF5 as N.h5:/counts",
        .output =
            "CSV, .npy or .h5 file for the rows: masses, distances, inertias, coordinates, contributions, squared "
            "cosines; - "
            "is standard output",
        .new_file = "Supplementary rows of counts, which are placed among the others and change nothing",
        .plot = "SVG file for a picture of rows and columns in the first two dimensions, or in the only one"};
    add_data_options(command, options, help);
    set_heading(command, "Data");
    add_dimension_options(command, options);
    set_heading(command, "Method");
    add_output_options(command, options, help);
    command.add_option("--column-output", options.other_output, "File for the columns, as -o has the rows");
    add_machine_options(command, options);
    add_example(command, "tesela ca data/smoke.csv -o rows.csv --column-output columns.csv --plot smoke.svg");
}

}  // namespace

Command ca_command() { return command("ca", "Correspondence analysis of a table of counts", add_ca_options, run_ca); }

}  // namespace tesela::cli
