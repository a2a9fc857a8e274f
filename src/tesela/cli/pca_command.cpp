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

struct PcaCommand {
    OrdinationOptions common;
    bool scaled = false;

    [[nodiscard]] mds::Analysis analysis() const {
        return scaled ? mds::Analysis::scaled_components : mds::Analysis::components;
    }
};

Json to_json(const PcaCommand& options, const mds::Components& components, const MatrixFile& matrix) {
    const mds::Decomposition& d = components.decomposition;
    Json json{{"file", matrix.name()}, {"rows", d.rows}, {"columns", d.cols}, {"dimensions", d.wanted}};
    json["singular_values"] = d.values;
    json["standard_deviations"] = components.deviations;
    json["proportions"] = components.proportions;
    double sum = 0;
    Json cumulative = Json::array();
    for (const double part : components.proportions) cumulative.push_back(sum += part);
    json["cumulative"] = std::move(cumulative);
    json["goodness_of_fit"] = json["cumulative"][static_cast<std::size_t>(d.wanted - 1)];
    json["center"] = components.centres;
    if (!components.scales.empty()) json["scale"] = components.scales;
    add_run(json, d);
    add_files(json, options.common);
    if (!options.common.other_output.empty()) json["loadings"] = options.common.other_output;
    return json;
}

void print_table(const PcaCommand& options, const mds::Components& components) {
    const mds::Decomposition& d = components.decomposition;
    fmt::print("principal components of {} columns and {} rows, {}{}, {}\n", d.cols, d.rows,
               short_name(options.common.file), options.scaled ? ", scaled" : "", algorithm_words(d));
    fmt::print("{:>9} {:>18} {:>10} {:>10}\n", "component", "standard_deviation", "proportion", "cumulative");
    double sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(d.wanted); ++k) {
        sum += components.proportions[k];
        fmt::print("{:>9} {:>18.8g} {:>10.5f} {:>10.5f}\n", k + 1, components.deviations[k], components.proportions[k],
                   sum);
    }
}

/// What the columns are called: by their labels, or V1, V2, …, as R does.
std::vector<std::string> column_names(const MatrixFile& matrix) {
    if (!matrix.header().col_labels.empty()) return matrix.header().col_labels;
    std::vector<std::string> names;
    for (Index j = 0; j < matrix.cols(); ++j) names.push_back(fmt::format("V{}", j + 1));
    return names;
}

void write_plot(const PcaCommand& options, const mds::Components& components, const OrdinationRun& run) {
    const MatrixFile& matrix = *run.request.matrix;
    const mds::Decomposition& d = components.decomposition;
    const auto label = [&](Index k) {
        return axis_label("PC", k, mds::exactly(components.proportions[static_cast<std::size_t>(k)]));
    };
    mds::OrdinationPlot plot{
        .title = fmt::format("Principal components of {}", short_name(options.common.file)),
        .x_label = label(0),
        .y_label = d.wanted > 1 ? label(1) : "",
        .points = {plotted(fmt::format("{} rows", d.rows), components.scores, d.rows, matrix.header().row_labels)},
        .arrows = plotted("loadings", d.right, d.cols, column_names(matrix))};
    if (const auto& new_rows = run.request.new_rows)
        plot.points.push_back(plotted(fmt::format("{} new", new_rows->rows()), run.result.placed, new_rows->rows(),
                                      new_rows->header().row_labels));
    write_file(options.common.plot, mds::draw_ordination(plot));
}

void write_files(const PcaCommand& options, const mds::Components& components, const OrdinationRun& run) {
    const OrdinationOptions& common = options.common;
    const MatrixFile& matrix = *run.request.matrix;
    if (const auto& new_rows = run.request.new_rows)
        write_table(common.new_output,
                    mds::coordinate_table("PC", run.result.placed, new_rows->header().row_labels, new_rows->rows()));
    if (!common.output.empty())
        write_table(common.output, mds::coordinate_table("PC", components.scores, matrix.header().row_labels,
                                                         components.decomposition.rows));
    if (!options.common.other_output.empty())
        write_table(options.common.other_output, mds::loading_table(components, column_names(matrix)));
    if (!common.plot.empty()) write_plot(options, components, run);
    if (common.scree.empty()) return;
    std::vector<double> variances = components.deviations;
    for (double& value : variances) value *= value;
    write_file(common.scree, mds::draw_scree({.title = fmt::format("Components of {}", short_name(options.common.file)),
                                              .value_label = "variance",
                                              .values = std::move(variances),
                                              .parts = components.proportions}));
}

int run_pca(const PcaCommand& options) {
    const OrdinationRun run = run_ordination(options.common, request_of(options.common, options.analysis()));
    if (!run.prints) return success;
    const auto& components = std::get<mds::Components>(run.result.found);
    write_files(options, components, run);
    print_results(
        options.common, [&] { return to_json(options, components, *run.request.matrix); },
        [&] { print_table(options, components); });
    return success;
}

void add_pca_options(CLI::App& command, PcaCommand& options) {
    OrdinationOptions& common = options.common;
    const OrdinationHelp help{
        .file = "Observations, a row each: CSV, NumPy, or HDF5 as X.h5:/x",
        .output = "CSV, .npy or .h5 file for the scores, a row per observation; - is standard output",
        .new_file = "Project these rows too, which have the same columns",
        .plot = "SVG file for a biplot of the first two components, or of the only one"};
    add_data_options(command, common, help);
    add_weights_option(command, common);
    set_heading(command, "Data");
    command.add_flag("--scale", options.scaled, "Divide each column by its standard deviation first");
    add_dimension_options(command, common);
    set_heading(command, "Method");
    add_output_options(command, common, help);
    command.add_option("--loadings", options.common.other_output,
                       "CSV, .npy or .h5 file for the loadings, a row per column");
    add_machine_options(command, common);
    add_example(command,
                "tesela pca data/usarrests.csv --scale -o scores.csv --loadings loadings.csv --plot biplot.svg");
}

}  // namespace

Command pca_command() {
    return command("pca", "Principal components of the columns of a matrix", add_pca_options, run_pca);
}

}  // namespace tesela::cli
