#pragma once

#include "tesela/cli/output.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/jobs/ordination.hpp"
#include "tesela/mds/ordination_plot.hpp"
#include "tesela/mds/tables.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

/// What tesela mds, pca and ca take alike.
struct OrdinationOptions {
    std::string file;
    std::vector<std::string> columns;
    std::string labels;
    std::string weights;
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
    std::string other_output;  ///< of `pca` the loadings, of `ca` the columns
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

/// The request of a command. Throws Error where it makes no sense for its matrix, or files cannot be written.
[[nodiscard]] jobs::OrdinationRequest request_of(const OrdinationOptions& options, mds::Analysis analysis);

/// What was asked for and what was found; printed by who knows which analysis it is.
struct OrdinationRun {
    jobs::OrdinationRequest request;
    jobs::Ordination result;
    bool prints = false;  ///< on the first node
};
/// Starts an engine, with workers for reading where that means waiting for a disk, takes --plan, runs the request in a
/// stream, and says on stderr what there is to note.
[[nodiscard]] OrdinationRun run_ordination(const OrdinationOptions& options, jobs::OrdinationRequest request);

/// What an Error of mds is followed by: which options help.
[[nodiscard]] std::string in_words(const mds::Refusal& refusal);

/// Whether one of the results goes to standard output, so that nothing else is printed there.
[[nodiscard]] bool prints_table(const OrdinationOptions& options);

/// Writes a table by the ending of the name: .npy and .h5 (`coords.h5:/coords`) as a matrix, else CSV.
void write_table(const std::string& name, const mds::Table& table);

/// Prints JSON or a table, unless one of the results goes to standard output.
template <class ToJson, class PrintTable>
void print_results(const OrdinationOptions& options, ToJson to_json, PrintTable print_table) {
    if (prints_table(options)) return;
    if (options.run.json)
        fmt::print("{}\n", to_json().dump(2));
    else
        print_table();
}

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
