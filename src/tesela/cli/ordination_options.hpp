#pragma once

#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/matrix_file.hpp"
#include "tesela/mds/decomposition.hpp"
#include "tesela/mds/ordination_plot.hpp"
#include "tesela/mds/tables.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}
namespace tesela {
class StarpuEngine;
}

namespace tesela::cli {

/// What tesela mds, pca and ca take alike.
struct OrdinationOptions {
    std::string file;
    std::vector<std::string> columns;
    std::string labels;
    std::string weights;
    std::optional<Index> dimensions;
    std::optional<int> iterations;
    std::string memory = "0";
    std::string plan;
    bool symmetrise = false;
    mds::DecompositionOptions decomposition;
    std::string output;
    std::string new_file;
    std::string new_output;
    std::string plot;
    std::string scree;
    RunOptions run;
};

/// What the help of a command says of options that mean something else in another.
struct OrdinationHelp {
    const char* file;
    const char* output;
    const char* new_file;
    const char* plot;
};

/// Add the options under their headings: the file and its part, what is computed, where results go, the machine.
void add_data_options(CLI::App& command, OrdinationOptions& options, const OrdinationHelp& help);
void add_weights_option(CLI::App& command, OrdinationOptions& options);
void add_dimension_options(CLI::App& command, OrdinationOptions& options);
void add_symmetry_options(CLI::App& command, OrdinationOptions& options);
void add_output_options(CLI::App& command, OrdinationOptions& options, const OrdinationHelp& help);
void add_machine_options(CLI::App& command, OrdinationOptions& options);
/// --plan, after add_machine_options().
void add_plan_option(CLI::App& command, OrdinationOptions& options);

/// The matrix of the options and the weights of its rows, if there are any.
struct OrdinationInput {
    std::unique_ptr<MatrixFile> matrix;
    std::vector<double> weights;
};
[[nodiscard]] OrdinationInput open_input(const OrdinationOptions& options);

/// The rows of --new, with the columns of the first matrix in its order where both name them; nothing without --new.
[[nodiscard]] std::unique_ptr<MatrixFile> open_new_rows(const OrdinationOptions& options, const MatrixFile& first);

/// What is asked of the decomposition. Throws Error where it makes no sense for this matrix.
[[nodiscard]] mds::DecompositionOptions decomposition_options(const OrdinationOptions& options,
                                                              const MatrixFile& matrix, mds::Analysis analysis,
                                                              std::vector<double> weights);

/// The engine that the options ask for; where reading the matrix means waiting for a disk, with workers for that.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_engine(const OrdinationOptions& options, const MatrixFile& matrix);

/// Tile size and owners of --plan, if there is one, for this matrix on these nodes; every node calls it. Throws Error
/// where the plan is for others.
void take_plan(const OrdinationOptions& options, const MatrixFile& matrix, StarpuEngine& engine,
               mds::DecompositionOptions& asked);

/// Notes of the file, and one on tiles that are very many, on stderr of the first node unless the command is quiet.
void print_notes(const OrdinationOptions& options, const MatrixFile& matrix, mds::Analysis analysis,
                 const mds::DecompositionOptions& asked, const StarpuEngine& engine,
                 const std::vector<std::string>& notes);

/// Throws Error unless all files can be written.
void check_outputs(const OrdinationOptions& options, const std::vector<std::string>& others = {});

/// Writes a table by the ending of the name: .npy and .h5 (`coords.h5:/coords`) as a matrix, else CSV.
void write_table(const std::string& name, const mds::Table& table);

/// Whether one of the results goes to standard output, so that nothing else is printed there.
[[nodiscard]] bool prints_table(const OrdinationOptions& options, const std::vector<std::string>& others = {});

/// On stderr: where an algorithm stopped early, and where fewer dimensions explain less than was asked for.
void warn_of_error(const mds::Decomposition& d, const mds::DecompositionOptions& asked);
void note_explained(const mds::Decomposition& d, mds::Analysis analysis, const mds::DecompositionOptions& asked);

/// "by LAPACK" or "by block Krylov, error 2e-9, 7 passes"
[[nodiscard]] std::string algorithm_words(const mds::Decomposition& d);

/// How it was computed: algorithm, error_estimate, residual, passes, seconds, read_seconds.
void add_run(Json& json, const mds::Decomposition& d);

/// Files that were written.
void add_files(Json& json, const OrdinationOptions& options);

/// "dimension 1 (64.0 %)", or "(11.2 to 36.8 %)".
[[nodiscard]] std::string axis_label(const char* name, Index k, const mds::Interval& part);

/// The first two dimensions of points, or the only one; all are 0 where there is none.
[[nodiscard]] mds::PlottedPoints plotted(std::string name, const std::vector<double>& coordinates, Index rows,
                                         const std::vector<std::string>& labels);

/// "data/eurodist.csv", or "D.h5:/distance", without its folder.
[[nodiscard]] std::string short_name(const std::string& matrix);

}  // namespace tesela::cli
