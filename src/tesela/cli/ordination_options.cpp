#include "tesela/cli/ordination_options.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/column_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/geo_run.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/map_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/plan_use.hpp"
#include "tesela/flow/machine.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/io/hdf5/open_matrix.hpp"
#include "tesela/io/hdf5/write_matrix.hpp"
#include "tesela/io/input_file.hpp"
#include "tesela/io/memory_matrix.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>

namespace tesela::cli {
namespace {

/// What --symmetry takes; averaged is --symmetrise.
constexpr Names<mds::Symmetry, 3> compared_names{{{mds::Symmetry::unchecked, "unchecked"},
                                                  {mds::Symmetry::sampled, "sampled"},
                                                  {mds::Symmetry::checked, "checked"}}};

std::unique_ptr<MatrixFile> open(const std::string& name, const CsvMatrixOptions& csv) {
    return open_matrix(name, {.csv = csv});
}

CsvMatrixOptions csv_options(const OrdinationOptions& options) {
    CsvMatrixOptions csv{.columns = options.columns};
    if (!options.labels.empty()) csv.labels = options.labels;
    return csv;
}

bool names_column(const MatrixFile& matrix, const std::string& name) {
    return std::ranges::find(matrix.header().col_labels, name) != matrix.header().col_labels.end();
}

bool is_file(const std::string& name) { return std::filesystem::exists(parse_matrix_name(name).file); }

/// The numbers of a file with one row or one column.
std::vector<double> read_weights(const std::string& name, const MatrixFile& matrix) {
    if (!is_file(name)) throw Error("--weights {} is neither a column of {} nor a file", name, matrix.name());
    const std::unique_ptr<MatrixFile> file = open(name, {});
    if (file->rows() != 1 && file->cols() != 1)
        throw Error("--weights {} is {} x {}: one column or one row is needed", name, file->rows(), file->cols());
    return read_all(*file).values;
}

/// The matrix of the options and the weights of its rows, if there are any.
struct OrdinationInput {
    std::unique_ptr<MatrixFile> matrix;
    std::vector<double> weights;
};

/// Takes a column of a matrix out of it and makes weights of it.
OrdinationInput split_off_weights(const OrdinationOptions& options, const MatrixFile& matrix) {
    CsvMatrixOptions csv = csv_options(options);
    csv.columns = matrix.header().col_labels;
    std::erase(csv.columns, options.weights);
    if (csv.columns.empty()) throw Error("{} has no columns but the weights", matrix.name());
    const auto place = std::ranges::find(matrix.header().col_labels, options.weights);
    const Index column = place - matrix.header().col_labels.begin();
    std::vector<double> weights(static_cast<std::size_t>(matrix.rows()));
    const ReadOutcome outcome = matrix.read({.col = column, .rows = matrix.rows(), .cols = 1},
                                            ColumnMajor<double>{weights.data(), matrix.rows()});
    if (!outcome) throw Error(outcome.reason());
    return {.matrix = open(options.file, csv), .weights = std::move(weights)};
}

bool is_matrix_name(const std::string& name) {
    const std::string file = parse_matrix_name(name).file;
    return file.ends_with(".npy") || file.ends_with(".h5") || file.ends_with(".hdf5");
}

void require_csv_for_columns(const OrdinationOptions& options, const MatrixFile& matrix) {
    if (!options.columns.empty() && matrix.header().col_labels != options.columns)
        throw Error("--columns chooses columns of a CSV file, and {} is none", matrix.name());
}

}  // namespace

void add_data_options(CLI::App& command, OrdinationOptions& options, const OrdinationHelp& help) {
    command.add_option("file", options.file, help.file)->required();
    add_columns_option(command, "--columns", options.columns,
                       "Columns of a CSV file that are taken (default: all but labels and text)");
    command.add_option(
        "--labels", options.labels,
        "Column of a CSV file that names the rows (default: the first if it has no name, is text or holds the names of "
        "the other columns, or numbers the rows and is called as labels are: id, site, plot_nr, …)");
}

void add_weights_option(CLI::App& command, OrdinationOptions& options) {
    command
        .add_option("--weights", options.weights,
                    "Masses of the rows: a column of the CSV file, which is then no other's, or a file with one row or "
                    "one column (default: all alike)")
        ->type_name("COLUMN|FILE");
}

void add_dimension_options(CLI::App& command, OrdinationOptions& options) {
    mds::DecompositionOptions& asked = options.decomposition;
    at_least(command.add_option("--dim", asked.dimensions, "Dimensions that are wanted (default: 2)"), Index{1});
    above_zero(command.add_option("--explained", asked.explained,
                                  "In place of --dim: as many as explain this part of the variance, such as 0.9; with "
                                  "--dim at most so many (randomized: 50)"));
    add_choice(command, "--algorithm", asked.algorithm, mds::algorithm_names,
               "exact (LAPACK, on one node), or randomized by power iterations or block Krylov, reading the file in "
               "parts on all nodes; auto: exact up to 2000 rows or columns, else krylov");
    rarely_used(at_least(command.add_option("--oversampling", asked.oversampling,
                                            "Dimensions that a randomized algorithm carries beyond those wanted"),
                         Index{0})
                    ->capture_default_str());
    auto* tolerance = above_zero(command.add_option("--tolerance", asked.tolerance,
                                                    "Relative error of the values below which it has ended"))
                          ->default_str("1e-8");
    rarely_used(
        at_least(command.add_option("--iterations", options.iterations, "In place of --tolerance: end after so many"),
                 1)
            ->excludes(tolerance));
    rarely_used(at_least(command.add_option("--seed", asked.seed, "Of the random numbers"), std::uint64_t{0})
                    ->capture_default_str());
}

void add_symmetry_options(CLI::App& command, OrdinationOptions& options) {
    auto* compared = add_choice(command, "--symmetry", options.decomposition.symmetry, compared_names,
                                "How much of the matrix is compared with its transposed: nothing, some blocks, or all "
                                "(an exact decomposition compares all but with unchecked)");
    command.add_flag("--symmetrise", options.symmetrise, "Take the mean of the two distances between two points")
        ->excludes(compared);
}

void add_output_options(CLI::App& command, OrdinationOptions& options, const OrdinationHelp& help) {
    command.add_option("-o,--output", options.output, help.output);
    auto* output =
        command.add_option("--new-output", options.new_output, "CSV, .npy or .h5 file for where the new points are");
    command.add_option("--new", options.new_file, help.new_file)->needs(output)->type_name("FILE");
    output->needs("--new");
    command.add_option("--plot", options.plot, help.plot);
    command.add_option("--scree", options.scree, "SVG file for a picture of the values");
}

void add_machine_options(CLI::App& command, OrdinationOptions& options) {
    add_json_option(command, options.run);
    set_heading(command, "Output");
    add_tile_option(command, options.run);
    rarely_used(
        at_least(
            command.add_option("--readers", options.decomposition.readers, "Reads of the file at a time on a node"), 1)
            ->capture_default_str());
    command
        .add_option("--memory", options.memory,
                    "Memory of a node for tiles of the matrix, such as 2GB; what is beyond is read again in every pass "
                    "(0: all stays)")
        ->capture_default_str()
        ->type_name("BYTES");
    add_engine_options(command, options.run);
    command.get_option("--quiet")->group("Output");
    set_heading(command, "Machine");
}

void add_plan_option(CLI::App& command, OrdinationOptions& options) {
    command
        .add_option("--plan", options.plan,
                    "Tile size and who reads and who keeps which tile, as tesela plan mds wrote it")
        ->type_name("FILE")
        ->excludes("--tile")
        ->excludes("--memory")
        ->group("Machine");
}

namespace {

OrdinationInput open_input(const OrdinationOptions& options) {
    OrdinationInput input{.matrix = open(options.file, csv_options(options)), .weights = {}};
    require_csv_for_columns(options, *input.matrix);
    if (options.weights.empty()) return input;
    if (names_column(*input.matrix, options.weights)) return split_off_weights(options, *input.matrix);
    // A column of weights beside --columns is not among them.
    if (!options.columns.empty() && !is_file(options.weights)) {
        OrdinationOptions with_weights = options;
        with_weights.columns.push_back(options.weights);
        return split_off_weights(with_weights, *open(options.file, csv_options(with_weights)));
    }
    input.weights = read_weights(options.weights, *input.matrix);
    return input;
}

/// The rows of --new, with the columns of the first matrix in its order where both name them; nothing without --new.
std::unique_ptr<MatrixFile> open_new_rows(const OrdinationOptions& options, const MatrixFile& first) {
    if (options.new_file.empty()) return nullptr;
    CsvMatrixOptions csv;
    if (!options.columns.empty()) csv.columns = first.header().col_labels;
    auto rows = open(options.new_file, csv);
    const std::vector<std::string>& wanted = first.header().col_labels;
    if (rows->header().col_labels.empty() || wanted.empty() || rows->header().col_labels == wanted) return rows;
    csv.columns = wanted;
    return open(options.new_file, csv);
}

/// Without what depends on nodes.
mds::DecompositionOptions decomposition_of(const OrdinationOptions& options) {
    mds::DecompositionOptions asked = options.decomposition;
    if (options.iterations) {
        asked.tolerance.reset();
        asked.iterations = *options.iterations;
    }
    if (options.symmetrise) asked.symmetry = mds::Symmetry::averaged;
    asked.memory = parse_bytes(options.memory);
    asked.tile = is_automatic_tile(options.run.tile) ? 0 : parse_tile(options.run.tile);
    return asked;
}

/// Throws Error unless all files can be written.
void check_outputs(const OrdinationOptions& options) {
    if (!options.plot.empty()) require_svg("--plot", options.plot);
    if (!options.scree.empty()) require_svg("--scree", options.scree);
    if (options.run.json && prints_table(options))
        throw Error("--json and a result that goes to - both want the standard output: give one of them a file");
    for (const std::string& name :
         {options.output, options.new_output, options.plot, options.scree, options.other_output})
        if (!name.empty()) require_writable(is_matrix_name(name) ? parse_matrix_name(name).file : name);
}

std::unique_ptr<StarpuEngine> start_engine(const OrdinationOptions& options, const MatrixFile& matrix) {
    RunOptions run = options.run;
    if (matrix.header().read_time == ReadTime::waiting) run.resource_workers = options.decomposition.readers;
    return start_engine(run);
}

/// Tile size and owners of --plan, if there is one.
void take_plan(const OrdinationOptions& options, StarpuEngine& engine, jobs::OrdinationRequest& request) {
    if (options.plan.empty()) return;
    const plan::Plan plan = read_plan_for(engine, options.plan, "mds", request.matrix->rows());
    request.decomposition.tile = plan.tile;
    request.decomposition.owners = {.read = plan.distributions.first, .compute = plan.distributions.second};
}

/// Notes of the file, and one on tiles that are very many.
void print_all_notes(const jobs::OrdinationRequest& request, const mds::Decision& decision,
                     const StarpuEngine& engine) {
    Notes all = request.notes;
    if (const auto& many = decision.many_tiles)
        all.push_back(fmt::format(
            "{} tiles of size {} take about {} besides their numbers; --tile auto would be {} tiles of size {}",
            many->tiles, decision.asked.tile, format_bytes(many->bytes), many->chosen_tiles, many->chosen_size));
    print_notes(engine, all);
}

void print_doubts(const jobs::OrdinationDoubts& doubts, const mds::Decomposition& d, const mds::Decision& decision) {
    if (doubts.stopped_early)
        fmt::print(stderr, "warning: after {} passes the values are known to {:.1e} only, not to {:.1e}\n", d.passes,
                   d.error_estimate, *decision.asked.tolerance);
    if (doubts.explained)
        fmt::print(stderr, "note: {} dimension{} explain {:.4f} of the variance, not {}; --dim allows more\n", d.wanted,
                   plural(d.wanted), *doubts.explained, *decision.asked.explained);
}

}  // namespace

jobs::OrdinationRequest request_of(const OrdinationOptions& options, mds::Analysis analysis) {
    OrdinationInput input = open_input(options);
    jobs::OrdinationRequest request{
        .matrix = std::move(input.matrix), .analysis = analysis, .decomposition = decomposition_of(options)};
    request.notes = request.matrix->header().notes;
    request.decomposition.row_weights = std::move(input.weights);
    request.new_rows = open_new_rows(options, *request.matrix);
    return request;
}

OrdinationRun run_ordination(const OrdinationOptions& options, jobs::OrdinationRequest request) {
    jobs::check(request);
    check_outputs(options);
    const auto engine = start_engine(options, *request.matrix);
    take_plan(options, *engine, request);
    ProgressLine line(wants_progress(options.run));
    request.decomposition.progress = [&](const std::string& text) { line.show([&] { return text; }); };
    const mds::Decision decision = jobs::resolve(request, machine_of(*engine));
    if (!options.run.quiet) print_all_notes(request, decision, *engine);
    Stream stream(*engine, {.name = "mds", .sums = Sums::in_order});
    jobs::Ordination result = jobs::run(stream, request, decision);
    line.clear();
    request.decomposition.progress = {};
    if (engine->is_first()) print_doubts(result.doubts, result.decomposition(), decision);
    return {.request = std::move(request), .result = std::move(result), .prints = engine->is_first()};
}

std::string in_words(const mds::Refusal& refusal) {
    using Remedy = mds::Refusal::Remedy;
    if (refusal.remedy() == Remedy::larger_tiles)
        return fmt::format("{}: give --tile {} or more, or --tile auto", refusal.what(), refusal.least_tile());
    return refusal.remedy() == Remedy::averaging ? fmt::format("{}; --symmetrise averages the two", refusal.what())
                                                 : refusal.what();
}

void write_table(const std::string& name, const mds::Table& table) {
    if (!is_matrix_name(name)) return mds::write(name, table);
    const auto rows = static_cast<Index>(table.columns.front().size());
    const auto writer = write_matrix(name, {.rows = rows,
                                            .cols = static_cast<Index>(table.columns.size()),
                                            .row_labels = table.labels,
                                            .col_labels = table.names});
    std::vector<double> row;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
        row.clear();
        for (const std::vector<double>& column : table.columns) row.push_back(column[i]);
        writer->append(std::span<const double>(row));
    }
    writer->commit();
}

bool prints_table(const OrdinationOptions& options) {
    for (const std::string& name :
         {options.output, options.new_output, options.plot, options.scree, options.other_output})
        if (is_standard_output(name)) return true;
    return false;
}

std::string algorithm_words(const mds::Decomposition& d) {
    if (d.algorithm == mds::Algorithm::exact) return "by LAPACK";
    return fmt::format("by {}, {} passes, error {:.1e}",
                       d.algorithm == mds::Algorithm::power ? "power iterations" : "block Krylov", d.passes,
                       d.error_estimate);
}

void add_run(Json& json, const mds::Decomposition& d) {
    json["algorithm"] = name_in(mds::algorithm_names, d.algorithm);
    json["error_estimate"] = d.error_estimate;
    json["residual"] = d.residual;
    json["passes"] = d.passes;
    json["products"] = d.products;
    json["seconds"] = d.seconds;
    json["read_seconds"] = d.read_seconds;
}

void add_files(Json& json, const OrdinationOptions& options) {
    if (!options.output.empty()) json["output"] = options.output;
    if (!options.new_output.empty()) json["new_output"] = options.new_output;
    if (!options.plot.empty()) json["plot"] = options.plot;
    if (!options.scree.empty()) json["scree"] = options.scree;
}

std::string axis_label(const char* name, Index k, const mds::Interval& part) {
    if (part.is_exact()) return fmt::format("{} {} ({:.1f} %)", name, k + 1, 100 * part.low);
    return fmt::format("{} {} ({:.1f} to {:.1f} %)", name, k + 1, 100 * part.low, 100 * part.high);
}

mds::PlottedPoints plotted(std::string name, const std::vector<double>& coordinates, Index rows,
                           const std::vector<std::string>& labels) {
    const auto column = [&](Index k) -> std::vector<double> {
        return {coordinates.begin() + k * rows, coordinates.begin() + (k + 1) * rows};
    };
    const Index dimensions = static_cast<Index>(coordinates.size()) / rows;
    return {.name = std::move(name),
            .x = dimensions > 0 ? column(0) : std::vector<double>(static_cast<std::size_t>(rows)),
            .y = dimensions > 1 ? column(1) : std::vector<double>(),
            .labels = labels};
}

std::string short_name(const std::string& matrix) {
    const MatrixName name = parse_matrix_name(matrix);
    const std::string file = std::filesystem::path(name.file).filename().string();
    return name.dataset.empty() ? file : fmt::format("{}:{}", file, name.dataset);
}

}  // namespace tesela::cli
