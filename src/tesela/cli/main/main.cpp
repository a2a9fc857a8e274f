// The `tesela` command. Benchmarks live in a program of their own, `tesela-bench`, which may link what we only compare
// with; `tesela bench …` runs it.

#include "tesela/base/version.hpp"
#include "tesela/cli/calibrate_command.hpp"
#include "tesela/cli/command_line.hpp"
#include "tesela/cli/completion.hpp"
#include "tesela/cli/dist_command.hpp"
#include "tesela/cli/geo_commands.hpp"
#include "tesela/cli/info_command.hpp"
#include "tesela/cli/ordination_commands.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/plan_command.hpp"
#include "tesela/cli/sample_distances_command.hpp"
#include "tesela/cli/simulate_command.hpp"
#include "tesela/cli/trace_command.hpp"

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
    app.require_subcommand(1);
    app.footer(
        "tesela COMMAND --help explains a command. Under mpirun or srun the same commands run on several nodes.");
    int exit_code = tesela::success;
    tesela::cli::add_geo_commands(app, exit_code);
    tesela::cli::add_ordination_commands(app, exit_code);
    tesela::cli::add_sample_distances_command(app, exit_code);
    tesela::cli::add_dist_command(app, exit_code);
    tesela::cli::add_simulate_command(app, exit_code);
    tesela::cli::add_plan_command(app, exit_code);
    tesela::cli::add_trace_command(app, exit_code);
    tesela::cli::add_calibrate_command(app, exit_code);
    tesela::cli::add_info_command(app, exit_code);
    app.add_subcommand("bench",
                       "Benchmarks: Tesela beside what it is compared with, such as LAPACK (see tesela bench --help)");
    tesela::cli::add_completion_command(app, exit_code);
    return tesela::cli::parse_and_run(app, argc, argv, exit_code);
}
