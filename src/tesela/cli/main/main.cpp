// The `tesela` command. Benchmarks live in a program of their own, `tesela-bench`, which may link what we only compare
// with; `tesela bench …` runs it.

#include "tesela/base/version.hpp"
#include "tesela/cli/command_line.hpp"
#include "tesela/cli/commands.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

/// Runs tesela-bench from the folder of this program with the remaining arguments.
int run_bench(char** arguments) {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::string bench =
        (error ? std::filesystem::path("tesela-bench") : self.parent_path() / "tesela-bench").string();
    std::vector<char*> list(arguments, arguments + 1);
    for (char** a = arguments + 2; *a != nullptr; ++a) list.push_back(*a);
    list.push_back(nullptr);
    execvp(bench.c_str(), list.data());
    fmt::print(stderr, "tesela: cannot run {}: {}\n", bench, std::strerror(errno));
    return tesela::bad_input;
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): options that do not fit are our mistake
    if (argc >= 2 && std::string_view(argv[1]) == "bench") return run_bench(argv);

    CLI::App app{
        "Tesela: Gaussian processes for spatial data, and tiled linear algebra on machines that are not all alike",
        "tesela"};
    app.set_version_flag("--version", std::string("tesela ") + tesela::version);
    tesela::cli::add_help_all(app);
    app.require_subcommand(1);
    int exit_code = tesela::success;
    using namespace tesela::cli;
    add_commands(
        app,
        {variogram_command(), fit_command(), loglik_command(), predict_command(), validate_command(), compare_command(),
         sample_command(), mds_command(), pca_command(), ca_command(), sample_distances_command(), dist_command(),
         simulate_command(), plan_command(), trace_command(), calibrate_command(), info_command()},
        exit_code);
    app.add_subcommand("bench",
                       "Benchmarks: Tesela beside what it is compared with, such as LAPACK (see tesela bench --help)");
    add_commands(app, {completion_command()}, exit_code);
    // Last, or commands would take it over.
    app.footer(
        "tesela COMMAND --help explains a command. Under mpirun or srun the same commands run on several nodes.");
    return parse_and_run(app, argc, argv, exit_code);
}
