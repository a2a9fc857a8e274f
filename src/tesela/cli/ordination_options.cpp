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

/// As many dimensions as --explained may take of a matrix that is not decomposed as a whole.
constexpr Index most_explaining = 50;

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
    at_least(command.add_option("--dim", options.dimensions, "Dimensions that are wanted (default: 2)"), Index{1});
    above_zero(command.add_option("--explained", asked.explained,
                                  "In place of --dim: as many as explain this part of the variance, such as 0.9; with "
                                  "--dim at most so many (randomized: 50)"));
    add_choice(command, "--algorithm", asked.algorithm, mds::algorithm_names,
               "exact (LAPACK, on one node), or randomized by power iterations or block Krylov, reading the file in "
               "parts on all nodes; auto: exact up to 2000 rows or columns, else krylov");
    at_least(command.add_option("--oversampling", asked.oversampling,
                                "Dimensions that a randomized algorithm carries beyond those wanted"),
             Index{0})
        ->capture_default_str();
    auto* tolerance = above_zero(command.add_option("--tolerance", asked.tolerance,
                                                    "Relative error of the values below which it has ended"))
                          ->default_str("1e-8");
    at_least(command.add_option("--iterations", options.iterations, "In place of --tolerance: end after so many"), 1)
        ->excludes(tolerance);
    at_least(command.add_option("--seed", asked.seed, "Of the random numbers"), std::uint64_t{0})
        ->capture_default_str();
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
    at_least(command.add_option("--readers", options.decomposition.readers, "Reads of the file at a time on a node"), 1)
        ->capture_default_str();
    command
        .add_option("--memory", options.memory,
                    "Memory of a node for tiles of the matrix, such as 2GB; what is beyond is read again in every pass "
                    "(0: all stays)")
        ->capture_default_str()
        ->type_name("BYTES");
    add_choice(command, "--overlap", options.decomposition.overlap, streaming_step_names,
               "What may overlap, each with all before it (paper 000, figure 9)");
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

mds::DecompositionOptions decomposition_options(const OrdinationOptions& options, const MatrixFile& matrix,
                                                mds::Analysis analysis, std::vector<double> weights) {
    mds::DecompositionOptions asked = options.decomposition;
    asked.row_weights = std::move(weights);
    if (options.iterations) {
        asked.tolerance.reset();
        asked.iterations = *options.iterations;
    }
    if (options.symmetrise) asked.symmetry = mds::Symmetry::averaged;
    asked.memory = parse_bytes(options.memory);
    asked.tile = is_automatic_tile(options.run.tile) ? 0 : parse_tile(options.run.tile);
    const Index most = mds::most_dimensions(analysis, matrix.rows(), matrix.cols());
    const bool exact = mds::chosen_algorithm(asked.algorithm, matrix.rows(), matrix.cols()) == mds::Algorithm::exact;
    if (options.dimensions)
        asked.dimensions = *options.dimensions;
    else if (asked.explained)
        asked.dimensions = exact ? most : std::min(most, most_explaining);
    else
        asked.dimensions = std::min<Index>(most, asked.dimensions);
    if (asked.memory > 0 && asked.overlap < StreamingStep::split_gram && !exact)
        throw Error("--memory needs --overlap split_gram or a later step: those before it centre the matrix itself");
    mds::validate(matrix, analysis, asked);
    return asked;
}

std::unique_ptr<StarpuEngine> start_engine(const OrdinationOptions& options, const MatrixFile& matrix) {
    RunOptions run = options.run;
    if (matrix.header().read_time == ReadTime::waiting) run.resource_workers = options.decomposition.readers;
    return start_engine(run);
}

void take_plan(const OrdinationOptions& options, const MatrixFile& matrix, StarpuEngine& engine,
               mds::DecompositionOptions& asked) {
    if (options.plan.empty()) return;
    const plan::Plan plan = read_plan_for(engine, options.plan, "mds", matrix.rows());
    asked.tile = plan.tile;
    asked.owners = {.read = plan.distributions.first, .compute = plan.distributions.second};
    if (asked.overlap < StreamingStep::read_order && is_first(engine) && !options.run.quiet)
        fmt::print(stderr, "note: {} says who reads, which --overlap {} does not follow\n", options.plan,
                   name_in(streaming_step_names, asked.overlap));
}

namespace {

/// What a size of tiles costs that makes very many; nothing where it does not, or where less would be chosen.
std::optional<std::string> note_on_tiles(const MatrixFile& matrix, mds::Analysis analysis,
                                         const mds::DecompositionOptions& asked, Index workers) {
    constexpr Index many = 200'000;  // 1 GB, and more than ten seconds
    const GridSize size{matrix.rows(), matrix.cols()};
    if (asked.tile < 1 || mds::chosen_algorithm(asked.algorithm, size.rows, size.cols) == mds::Algorithm::exact)
        return {};
    const Index count = mds::tile_count(analysis, size, asked.tile);
    const Index chosen = mds::automatic_tile(std::max(size.rows, size.cols), workers);
    if (count <= many || asked.tile >= chosen) return {};
    return fmt::format(
        "{} tiles of size {} take about {} besides their numbers; --tile auto would be {} tiles of size {}", count,
        asked.tile, format_bytes(static_cast<double>(count) * mds::bytes_per_tile),
        mds::tile_count(analysis, size, chosen), chosen);
}

}  // namespace

void print_notes(const OrdinationOptions& options, const MatrixFile& matrix, mds::Analysis analysis,
                 const mds::DecompositionOptions& asked, const StarpuEngine& engine,
                 const std::vector<std::string>& notes) {
    if (options.run.quiet) return;
    Notes all = notes;
    if (auto note = note_on_tiles(matrix, analysis, asked, engine.total_workers())) all.push_back(std::move(*note));
    print_notes(engine, all);
}

void check_outputs(const OrdinationOptions& options, const std::vector<std::string>& others) {
    if (!options.plot.empty()) require_svg("--plot", options.plot);
    if (!options.scree.empty()) require_svg("--scree", options.scree);
    std::vector<std::string> names{options.output, options.new_output, options.plot, options.scree};
    names.insert(names.end(), others.begin(), others.end());
    if (options.run.json && prints_table(options, others))
        throw Error("--json and a result that goes to - both want the standard output: give one of them a file");
    for (const std::string& name : names) {
        if (name.empty()) continue;
        require_writable(is_matrix_name(name) ? parse_matrix_name(name).file : name);
    }
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

bool prints_table(const OrdinationOptions& options, const std::vector<std::string>& others) {
    return is_standard_output(options.output) || is_standard_output(options.new_output) ||
           is_standard_output(options.plot) || is_standard_output(options.scree) ||
           std::ranges::any_of(others, is_standard_output);
}

void warn_of_error(const mds::Decomposition& d, const mds::DecompositionOptions& asked) {
    if (d.algorithm == mds::Algorithm::exact || !asked.tolerance || d.error_estimate <= *asked.tolerance) return;
    fmt::print(stderr, "warning: after {} passes the values are known to {:.1e} only, not to {:.1e}\n", d.passes,
               d.error_estimate, *asked.tolerance);
}

void note_explained(const mds::Decomposition& d, mds::Analysis analysis, const mds::DecompositionOptions& asked) {
    if (!asked.explained) return;
    double sum = 0;
    for (Index k = 0; k < d.wanted; ++k) sum += mds::explained_part(d, analysis, k).high;
    if (sum < *asked.explained * (1 - 1e-9))
        fmt::print(stderr, "note: {} dimension{} explain {:.4f} of the variance, not {}; --dim allows more\n", d.wanted,
                   plural(d.wanted), sum, *asked.explained);
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
