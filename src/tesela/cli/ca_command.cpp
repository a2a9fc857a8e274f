#include "tesela/base/error.hpp"
#include "tesela/cli/commands.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/ordination_options.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/correspondence.hpp"
#include "tesela/mds/ordination_plot.hpp"
#include "tesela/mds/placement.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace tesela::cli {
namespace {

struct CaCommand {
    OrdinationOptions common;
    std::string column_output;
};

/// Of the inertia, of each dimension that is known.
std::vector<double> parts_of(const mds::Correspondence& analysis) {
    std::vector<double> parts = analysis.inertias();
    for (double& part : parts) part = analysis.inertia > 0 ? part / analysis.inertia : 0;
    return parts;
}

Index degrees_of_freedom(const mds::Correspondence& analysis) {
    return (analysis.decomposition.rows - 1) * (analysis.decomposition.cols - 1);
}

Json to_json(const CaCommand& options, const mds::Correspondence& analysis, const MatrixFile& counts) {
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
    add_files(json, options.common);
    if (!options.column_output.empty()) json["column_output"] = options.column_output;
    return json;
}

void print_table(const CaCommand& options, const mds::Correspondence& analysis) {
    const mds::Decomposition& d = analysis.decomposition;
    fmt::print("correspondence analysis of {} rows and {} columns, {}, {}\n", d.rows, d.cols,
               short_name(options.common.file), algorithm_words(d));
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

void write_plot(const CaCommand& options, const mds::Correspondence& analysis, const MatrixFile& counts,
                const MatrixFile* new_rows, const std::vector<double>& placed) {
    const mds::Decomposition& d = analysis.decomposition;
    const std::vector<double> parts = parts_of(analysis);
    const auto label = [&](Index k) {
        return axis_label("dimension", k, mds::exactly(parts[static_cast<std::size_t>(k)]));
    };
    mds::OrdinationPlot plot{.title = fmt::format("Correspondence analysis of {}", short_name(options.common.file)),
                             .x_label = label(0),
                             .y_label = d.wanted > 1 ? label(1) : "",
                             .points = {plotted(fmt::format("{} rows", d.rows), analysis.rows.coordinates, d.rows,
                                                counts.header().row_labels),
                                        plotted(fmt::format("{} columns", d.cols), analysis.columns.coordinates, d.cols,
                                                counts.header().col_labels)}};
    if (new_rows != nullptr)
        plot.points.push_back(
            plotted(fmt::format("{} new", new_rows->rows()), placed, new_rows->rows(), new_rows->header().row_labels));
    write_file(options.common.plot, mds::draw_ordination(plot));
}

void write_files(const CaCommand& options, const mds::Correspondence& analysis, const MatrixFile& counts,
                 const MatrixFile* new_rows) {
    const OrdinationOptions& common = options.common;
    std::vector<double> placed;
    if (new_rows != nullptr) {
        placed = mds::place(analysis, *new_rows);
        write_table(common.new_output,
                    mds::coordinate_table("dim", placed, new_rows->header().row_labels, new_rows->rows()));
    }
    if (!common.output.empty())
        write_table(common.output, mds::profile_table(analysis.rows, counts.header().row_labels));
    if (!options.column_output.empty())
        write_table(options.column_output, mds::profile_table(analysis.columns, counts.header().col_labels));
    if (!common.plot.empty()) write_plot(options, analysis, counts, new_rows, placed);
    if (!common.scree.empty())
        write_file(common.scree,
                   mds::draw_scree({.title = fmt::format("Inertias of {}", short_name(options.common.file)),
                                    .value_label = "inertia",
                                    .values = analysis.inertias(),
                                    .parts = parts_of(analysis)}));
}

int run_ca(const CaCommand& options) {
    const OrdinationOptions& common = options.common;
    const OrdinationInput input = open_input(common);
    const auto new_rows = open_new_rows(common, *input.matrix);
    if (new_rows && new_rows->cols() != input.matrix->cols())
        throw Error("{} has {} columns and {} has {}", new_rows->name(), new_rows->cols(), input.matrix->name(),
                    input.matrix->cols());
    mds::DecompositionOptions asked = decomposition_options(common, *input.matrix, mds::Analysis::correspondence, {});
    check_outputs(common, {options.column_output});
    const auto engine = start_engine(common, *input.matrix);
    print_notes(common, *input.matrix, mds::Analysis::correspondence, asked, *engine, input.matrix->header().notes);
    ProgressLine line(wants_progress(common.run));
    asked.progress = [&](const std::string& text) { line.show([&] { return text; }); };
    const mds::Correspondence analysis = mds::correspondence(*engine, *input.matrix, asked);
    line.clear();
    if (!is_first(*engine)) return success;
    warn_of_error(analysis.decomposition, asked);
    note_explained(analysis.decomposition, mds::Analysis::correspondence, asked);
    write_files(options, analysis, *input.matrix, new_rows.get());
    if (prints_table(common, {options.column_output})) return success;
    if (common.run.json)
        fmt::print("{}\n", to_json(options, analysis, *input.matrix).dump(2));
    else
        print_table(options, analysis);
    return success;
}

void add_ca_options(CLI::App& command, CaCommand& options) {
    OrdinationOptions& common = options.common;
    const OrdinationHelp help{
        .file = "Counts, such as how often a row and a column met: CSV, NumPy, or HDF5 as N.h5:/counts",
        .output =
            "CSV, .npy or .h5 file for the rows: masses, distances, inertias, coordinates, contributions, squared "
            "cosines; - "
            "is standard output",
        .new_file = "Supplementary rows of counts, which are placed among the others and change nothing",
        .plot = "SVG file for a picture of rows and columns in the first two dimensions, or in the only one"};
    add_data_options(command, common, help);
    set_heading(command, "Data");
    add_dimension_options(command, common);
    set_heading(command, "Method");
    add_output_options(command, common, help);
    command.add_option("--column-output", options.column_output, "File for the columns, as -o has the rows");
    add_machine_options(command, common);
    add_example(command, "tesela ca data/smoke.csv -o rows.csv --column-output columns.csv --plot smoke.svg");
}

}  // namespace

Command ca_command() { return command("ca", "Correspondence analysis of a table of counts", add_ca_options, run_ca); }

}  // namespace tesela::cli
