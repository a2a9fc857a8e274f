#include "tesela/base/error.hpp"
#include "tesela/cli/commands.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/ordination_options.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/ordination_plot.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <utility>

namespace tesela::cli {
namespace {

struct MdsCommand {
    OrdinationOptions common;
    std::string points;

    [[nodiscard]] std::string input() const { return short_name(points.empty() ? common.file : points); }
};

/// "0.7537543", or from where to where it is.
std::string words(const mds::Interval& interval) {
    if (interval.is_exact()) return fmt::format("{:.7g}", interval.low);
    return fmt::format("between {:.7g} and {:.7g}", interval.low, interval.high);
}

Json number_or_ends(const mds::Interval& interval) {
    if (interval.is_exact()) return interval.low;
    return Json::array({interval.low, interval.high});
}

Json to_json(const MdsCommand& options, const mds::Scaling& scaling, const MatrixFile& distances) {
    const mds::Decomposition& d = scaling.decomposition;
    Json json{{"file", distances.name()}, {"n", d.rows}, {"dimensions", scaling.dimensions}};
    json["eigenvalues"] = d.values;
    Json parts = Json::array();
    for (Index k = 0; k < scaling.dimensions; ++k)
        parts.push_back(number_or_ends(mds::explained_part(d, mds::Analysis::scaling, k)));
    json["explained"] = std::move(parts);
    json["goodness_of_fit"] = {number_or_ends(scaling.fit.of_magnitudes), number_or_ends(scaling.fit.of_positive)};
    json["goodness_of_fit_is"] = scaling.fit.is_exact() ? "exact" : "interval";
    const mds::NegativeEigenvalues negative = mds::negative_eigenvalues(d);
    json["negative_eigenvalues"] = {{"count", scaling.fit.is_exact() ? Json(negative.known) : Json(nullptr)},
                                    {"known", negative.known},
                                    {"smallest", negative.smallest},
                                    {"part", number_or_ends(negative.part)}};
    add_run(json, d);
    add_files(json, options.common);
    return json;
}

void print_table(const MdsCommand& options, const mds::Scaling& scaling) {
    const mds::Decomposition& d = scaling.decomposition;
    fmt::print("multidimensional scaling of {} points, {}, {}\n", d.rows, options.input(), algorithm_words(d));
    const bool exact = scaling.fit.is_exact();
    fmt::print("{:>9} {:>14} {:>10} {:>10}\n", "dimension", "eigenvalue", exact ? "explained" : "at most",
               exact ? "cumulative" : "in all");
    double sum = 0;
    for (Index k = 0; k < d.wanted; ++k) {
        const double part = mds::explained_part(d, mds::Analysis::scaling, k).high;
        sum += part;
        fmt::print("{:>9} {:>14.10g} {:>10.4f} {:>10.4f}\n", k + 1, d.values[static_cast<std::size_t>(k)], part, sum);
    }
    fmt::print("goodness of fit: {} of the sum of |eigenvalues|, {} of the positive ones\n",
               words(scaling.fit.of_magnitudes), words(scaling.fit.of_positive));
    const mds::NegativeEigenvalues negative = mds::negative_eigenvalues(d);
    if (exact && negative.known > 0)
        fmt::print("negative eigenvalues: {} of {}, the smallest {:.10g}; {:.2f} % of the sum of |eigenvalues|\n",
                   negative.known, d.values.size(), negative.smallest, 100 * negative.part.low);
    else if (!exact && negative.part.low > 1e-6)
        fmt::print("negative eigenvalues: between {:.2f} and {:.2f} % of the sum of |eigenvalues|\n",
                   100 * negative.part.low, 100 * negative.part.high);
}

/// What each value explains at most.
std::vector<double> parts_of(const mds::Decomposition& d) {
    std::vector<double> parts;
    for (Index k = 0; k < static_cast<Index>(d.values.size()); ++k)
        parts.push_back(mds::explained_part(d, mds::Analysis::scaling, k).high);
    return parts;
}

/// Row k and column k are the same point: names of columns alone are those of points.
const std::vector<std::string>& point_names(const MatrixFile& distances) {
    const MatrixHeader& header = distances.header();
    return header.row_labels.empty() ? header.col_labels : header.row_labels;
}

void write_plot(const MdsCommand& options, const mds::Scaling& scaling, const OrdinationRun& run) {
    const Index n = scaling.decomposition.rows;
    const auto label = [&](Index k) {
        return axis_label("dimension", k, mds::explained_part(scaling.decomposition, mds::Analysis::scaling, k));
    };
    mds::OrdinationPlot plot{
        .title = fmt::format("Multidimensional scaling of {}", options.input()),
        .x_label = label(0),
        .y_label = scaling.dimensions > 1 ? label(1) : "",
        .points = {plotted(fmt::format("{} points", n), scaling.coordinates, n, point_names(*run.request.matrix))}};
    if (const auto& of_new = run.request.new_rows)
        plot.points.push_back(plotted(fmt::format("{} new", of_new->rows()), run.result.placed, of_new->rows(),
                                      of_new->header().row_labels));
    write_file(options.common.plot, mds::draw_ordination(plot));
}

void write_files(const MdsCommand& options, const mds::Scaling& scaling, const OrdinationRun& run) {
    const OrdinationOptions& common = options.common;
    if (const auto& of_new = run.request.new_rows)
        write_table(common.new_output,
                    mds::coordinate_table("dim", run.result.placed, of_new->header().row_labels, of_new->rows()));
    if (!common.output.empty())
        write_table(common.output, mds::coordinate_table("dim", scaling.coordinates, point_names(*run.request.matrix),
                                                         scaling.decomposition.rows));
    if (!common.plot.empty()) write_plot(options, scaling, run);
    if (!common.scree.empty())
        write_file(common.scree, mds::draw_scree({.title = fmt::format("Eigenvalues of {}", options.input()),
                                                  .value_label = "eigenvalue",
                                                  .values = scaling.decomposition.values,
                                                  .parts = parts_of(scaling.decomposition)}));
}

void note_dimensions(const mds::Scaling& scaling) {
    fmt::print(stderr, "note: of the first {} eigenvalues only {} {} above 0, and points have so many dimensions\n",
               scaling.decomposition.wanted, scaling.dimensions, scaling.dimensions == 1 ? "is" : "are");
}

int run_mds(const MdsCommand& options) {
    if (options.common.file.empty() == options.points.empty())
        throw Error("give a file of distances, or --from-points with one of points: one of the two");
    OrdinationOptions common = options.common;
    if (!options.points.empty()) common.file = options.points;
    jobs::OrdinationRequest request = request_of(common, mds::Analysis::scaling);
    if (!options.points.empty()) request = jobs::scaling_of_points(std::move(request));
    const OrdinationRun run = run_ordination(common, std::move(request));
    if (!run.prints) return success;
    const auto& scaling = std::get<mds::Scaling>(run.result.found);
    if (run.result.doubts.fewer_dimensions) note_dimensions(scaling);
    write_files(options, scaling, run);
    print_results(
        common, [&] { return to_json(options, scaling, *run.request.matrix); }, [&] { print_table(options, scaling); });
    return success;
}

void add_mds_options(CLI::App& command, MdsCommand& options) {
    OrdinationOptions& common = options.common;
    const OrdinationHelp help{
        .file = "Distances between all points: CSV, NumPy, or HDF5 as D.h5:/distance",
        .output = "CSV, .npy or .h5 file for the coordinates, a row per point; - is standard output",
        .new_file =
            "Place new points among the old ones by their distances from these, a row per new point; with "
            "--from-points rows of coordinates",
        .plot = "SVG file for a picture of the first two dimensions, or of the only one"};
    add_data_options(command, common, help);
    command.get_option("file")->required(false);
    command.add_option("--from-points", options.points,
                       "Instead: points, a row each, whose Euclidean distances are computed where they are needed");
    add_weights_option(command, common);
    add_symmetry_options(command, common);
    set_heading(command, "Data");
    add_dimension_options(command, common);
    set_heading(command, "Method");
    add_output_options(command, common, help);
    add_machine_options(command, common);
    add_plan_option(command, common);
    add_example(command, "tesela mds data/eurodist.csv --dim 2 -o coords.csv --plot map.svg");
}

}  // namespace

Command mds_command() {
    return command("mds", "Multidimensional scaling: points whose distances are those of a matrix, as nearly as can be",
                   add_mds_options, run_mds);
}

}  // namespace tesela::cli
