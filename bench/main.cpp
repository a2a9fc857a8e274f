// `tesela-bench`, run by `tesela bench …`: measures Tesela beside what it is compared with, in one interleaved run.

#include "distributions/distributions_bench.hpp"
#include "distributions/ranking_bench.hpp"
#include "factorisation_bench.hpp"
#include "fits/fits_bench.hpp"
#include "geo_bench.hpp"
#include "geo_recovery.hpp"
#include "gradient_bench.hpp"
#include "matern_bench.hpp"
#include "mds/mds_bench.hpp"
#include "mds/steps_bench.hpp"
#include "overhead_bench.hpp"
#include "paper000/paper000_bench.hpp"
#include "paper000/phases_bench.hpp"
#include "paper000/strategies_bench.hpp"
#include "paper001/paper001_bench.hpp"
#include "paper002/paper002_bench.hpp"
#include "paper004/paper004_bench.hpp"
#include "prediction_bench.hpp"
#include "readers_bench.hpp"
#include "redistribution/redistribute_bench.hpp"
#include "share_bench.hpp"
#include "simulate_bench.hpp"
#include "soak/fault_program.hpp"
#include "soak_bench.hpp"
#include "tables_bench.hpp"
#include "tlr_bench.hpp"
#include "tlr_distributions_bench.hpp"
#include "tlr_fit_bench.hpp"
#include "tlr_ranks_bench.hpp"
#include "tlr_switches_bench.hpp"
#include "tlr_tile_bench.hpp"
#include "trace_bench.hpp"
#include "unequal_bench.hpp"

#include "tesela/base/units.hpp"
#include "tesela/base/version.hpp"
#include "tesela/cli/blas_restart.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/command_line.hpp"
#include "tesela/cli/factor_options.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/io/hdf5/trace_hdf5.hpp"
#include "tesela/net/nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace {

using namespace tesela;  // NOLINT(google-build-using-namespace): a program, not a header

bool all_met(const nlohmann::ordered_json& result) {
    const auto& checks = result.at("checks");
    return std::all_of(checks.begin(), checks.end(),
                       [](const auto& check) { return check.at("met").template get<bool>(); });
}

/// Numbers with five digits.
std::string short_text(const nlohmann::ordered_json& value) {
    return value.is_number_float() ? fmt::format("{:.5g}", value.get<double>()) : value.dump();
}

/// Prints checks of the form {"bar", "value", "limit", "met"}; says whether all are met.
bool print_checks(const nlohmann::ordered_json& result, bool as_json) {
    const bool met = all_met(result);
    if (as_json) {
        fmt::print("{}\n", result.dump(2));
        return met;
    }
    for (const auto& check : result.at("checks"))
        fmt::print("{}  {} (limit {}): {}\n", check.at("met").get<bool>() ? "met   " : "NOT MET",
                   short_text(check.at("value")), short_text(check.at("limit")), check.at("bar").get<std::string>());
    return met;
}

/// A line per value, but not the checks.
void print_figures(const nlohmann::ordered_json& result) {
    for (const auto& [name, value] : result.items())
        if (name != "checks") fmt::print("{:<36}{}\n", name, value.dump());
}

/// Prints results on node 0, the checks last; the exit code says on every node whether all are met.
int print_checked(const Engine& engine, const nlohmann::ordered_json& result, bool as_json) {
    if (engine.this_node() == NodeId{0}) {
        auto figures = result;
        figures.erase("checks");
        if (!as_json) cli::print_results(engine, figures, false);
        print_checks(result, as_json);
    }
    return all_met(result) ? cli::success : cli::failed;
}

/// The name of a factorisation's benchmark and what it says of itself.
std::pair<const char*, const char*> title_of(bench::Factorisation which) {
    switch (which) {
        case bench::Factorisation::cholesky:
            return {
                "cholesky",
                "Cholesky beside LAPACK's with all threads and a large product; on several nodes beside ScaLAPACK's "
                "pdpotrf, best of two grids of processes and blocks of 64 and 128"};
        case bench::Factorisation::lu:
            return {"lu",
                    "LU without pivoting (for diagonally dominant matrices) beside LAPACK's pivoted LU and a large "
                    "product"};
        case bench::Factorisation::qr:
            return {"qr", "QR of any shape beside LAPACK's with all threads and a large product"};
    }
    return {"", ""};
}

void add_factorisation(CLI::App& app, bench::Factorisation which, int& exit_code) {
    const bool is_cholesky = which == bench::Factorisation::cholesky;
    auto options = std::make_shared<bench::FactorisationOptions>();
    const auto [name, description] = title_of(which);
    CLI::App* command = app.add_subcommand(name, description);
    if (which == bench::Factorisation::qr) {
        command->add_option("--n", options->n, "Columns of the matrix")->capture_default_str();
        cli::at_least(command->add_option("--rows", options->rows, "Rows of the matrix; without it as many as columns"),
                      1);
    } else {
        command->add_option("--n", options->n, "Order of the matrix")->capture_default_str();
    }
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    cli::add_choice(*command, "--precision", options->precision, cli::precision_names, "double or single");
    command->add_flag("--check", options->check, "Compare the factor with LAPACK's (up to order 4000)");
    command->add_flag(
        "!--no-compare", options->compare,
        is_cholesky ? "Do not measure LAPACK, the product and ScaLAPACK" : "Do not measure LAPACK and the product");
    cli::at_least(
        command->add_option("--product-seconds", options->product_seconds,
                            "Products are tried until larger ones are no faster, or one would take longer than this"),
        0.0)
        ->capture_default_str();
    cli::add_tiling_options(*command, options->run);
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::factorisation_benchmark(*engine, which, *options);
            cli::print_results(*engine, result, options->run.json);
            return result.at("correct").get<bool>() ? cli::success : cli::failed;
        });
    });
}

void add_overhead(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::OverheadOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command =
        app.add_subcommand("overhead",
                           "What a task costs beyond its work; exit code 1 if 100000 tasks or more take "
                           "longer than 8 microseconds each on 2 workers");
    command->add_option("--tasks", options->tasks, "Tasks per repetition")->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    cli::add_engine_options(*command, *run);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = cli::start_engine(*run);
            return print_checked(*engine, bench::overhead_benchmark(*engine, *options), run->json);
        });
    });
}

void add_share(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::ShareOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("share",
                                           "How long it takes to send a tile from one node to all others, along a "
                                           "tree and one after the other, beside one send. Needs mpirun; "
                                           "exit code 1 if it takes longer than --most-sends");
    command->add_option("--tile", options->tile, "Tile size")->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    command->add_option("--most-sends", options->most_sends, "What all may take at most, in times of one send")
        ->capture_default_str();
    cli::add_engine_options(*command, *run);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = cli::start_engine(*run);
            const auto result = bench::share_benchmark(*engine, *options);
            if (engine->this_node() != NodeId{0}) return cli::success;
            if (!run->json) print_figures(result);
            return print_checks(result, run->json) ? cli::success : cli::failed;
        });
    });
}

void add_soak(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::SoakOptions>();
    CLI::App* command = app.add_subcommand(
        "soak",
        "Long runs. Under mpirun: many messages and streams, in which memory may grow by 5 MB, and likelihoods of a "
        "compressed matrix, likewise. Without mpirun: these, and runs in which a node fails, which must end within 10 "
        "s. "
        "Exit code 1 otherwise");
    command
        ->add_option("--messages", options->messages,
                     "Messages between nodes in one stream, all nodes together; 0: none. Needs mpirun -n 2 or more")
        ->capture_default_str();
    command
        ->add_option("--streams", options->streams,
                     "Streams opened and closed one after another; 0: none. Needs mpirun -n 2 or more")
        ->capture_default_str();
    command
        ->add_option("--likelihoods", options->likelihoods,
                     "Log-likelihoods of a compressed covariance matrix one after another; 0: none")
        ->capture_default_str();
    command->add_option("--points", options->points, "Observations of each of them")->capture_default_str();
    command
        ->add_option("--faults", options->faults,
                     "Runs on 4 nodes of this machine in which one throws, exits, returns too early or is killed, at a "
                     "random step; starts mpirun itself, so only without mpirun")
        ->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            bench::check_options(*options);
            const auto print = [&](const nlohmann::ordered_json& result) {
                if (!options->run.json) print_figures(result);
                return print_checks(result, options->run.json) ? cli::success : cli::failed;
            };
            // Before an engine starts, which what fails is started beside.
            const bool fails = !started_in_parallel() && options->faults > 0;
            const auto faults = fails ? bench::fault_benchmark(options->faults) : nlohmann::ordered_json{};
            if (fails && options->likelihoods == 0) return print(faults);
            const auto engine = cli::start_engine(options->run);
            auto result = bench::soak_benchmark(*engine, *options);
            if (fails) {
                for (const auto& one : faults.at("checks")) result["checks"].push_back(one);
                result["with_faults"] = faults;
                result["with_faults"].erase("checks");
            }
            if (engine->this_node() == NodeId{0}) return print(result);
            return all_met(result) ? cli::success : cli::failed;
        });
    });
}

/// What `soak` starts under mpirun.
void add_fault(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::FaultOptions>();
    CLI::App* command = app.add_subcommand("fault", "A workload on several nodes, one of which fails");
    command->group("");  // not in the help
    cli::fit_blas_before(*command);
    bench::add_fault_options(*command, *options);
    command->callback([=, &exit_code] { exit_code = bench::run_fault_program(*options); });
}

void add_distributions(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::DistributionsBenchOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("distributions",
                                           "Tables and pictures of docs/tables about distributions; exit code 1 if a "
                                           "bar of docs/distributions.md is missed");
    command->add_option("--seeds", options->seeds, "Matrices drawn for each case")->capture_default_str();
    command->add_option("--folder", options->folder, "Where the files go")->capture_default_str();
    cli::comma_separated(command->add_option(
        "--only", options->only, fmt::format("Some of {}", fmt::join(bench::distribution_bench_parts(), ","))));
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            return print_checks(bench::distributions_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void print_ranking(const nlohmann::ordered_json& result) {
    fmt::print("{:<9} {:<15} {:<18} {:>9} {:>9} {:>9} {:>14} {:>11}\n", "kernel", "nodes", "family", "max_load",
               "steps", "interface", "without comm.", "with comm.");
    for (const auto& row : result.at("rows"))
        fmt::print("{:<9} {:<15} {:<18} {:>9.4f} {:>9.4f} {:>7.2f} s {:>12.3f} s {:>9.3f} s\n",
                   row.at("kernel").get<std::string>(), row.at("nodes").get<std::string>(),
                   row.at("family").get<std::string>(), row.at("max_load").get<double>(), row.at("steps").get<double>(),
                   row.at("interface_seconds").get<double>(), row.at("without_communication").get<double>(),
                   row.at("with_communication").get<double>());
    fmt::print(
        "\nKendall's tau             without communication             with communication\n{:<9} {:<15} {:>9} {:>15} "
        "{:>6} {:>12} {:>16}\n",
        "kernel", "nodes", "max_load", "step_imbalance", "steps", "steps", "steps+interface");
    for (const auto& one : result.at("cases"))
        fmt::print("{:<9} {:<15} {:>9.2f} {:>15.2f} {:>6.2f} {:>12.2f} {:>16.2f}\n",
                   one.at("kernel").get<std::string>(), one.at("nodes").get<std::string>(),
                   one.at("tau_of_max_load").get<double>(), one.at("tau_of_step_imbalance").get<double>(),
                   one.at("tau_of_steps").get<double>(), one.at("tau_of_steps_with_communication").get<double>(),
                   one.at("tau_of_steps_and_interface_with_communication").get<double>());
}

void add_ranking(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::RankingOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    auto platform = std::make_shared<std::string>(bench::ranked_platform);
    auto kernels = std::make_shared<std::vector<std::string>>();
    for (const Operation operation : options->operations) kernels->emplace_back(name_in(operation_names, operation));
    CLI::App* command = app.add_subcommand("ranking",
                                           "Whether the figures of tesela dist compare order the families of "
                                           "distributions as simulated runs do; exit code "
                                           "1 if steps does not on the first of --nodes");
    cli::allow_only(
        cli::comma_separated(command->add_option("--kernel", *kernels, "Operations"))->capture_default_str(),
        cli::words_of(operation_names));
    command->add_option("--platform", *platform, "A platform file, or the name of a ready-made platform")
        ->capture_default_str();
    cli::comma_separated(command->add_option("--nodes", options->nodes,
                                             "Nodes of the platform to use, by number and type: one choice or more"))
        ->capture_default_str();
    command->add_option("--tiles", options->tiles, "Tile rows (and columns) of the matrix")->capture_default_str();
    command->add_option("--tile", options->tile, "Tile size")->capture_default_str();
    command->add_option("--table", options->table, "CSV file to write the rows to");
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            options->operations.clear();
            for (const std::string& name : *kernels)
                options->operations.push_back(parse_name(operation_names, name, "--kernel"));
            const auto result = bench::ranking_benchmark(cli::read_platform(*platform, ""), *options);
            if (!run->json) print_ranking(result);
            return print_checks(result, run->json) ? cli::success : cli::failed;
        });
    });
}

void add_tables(CLI::App& app, int& exit_code) {
    auto folder = std::make_shared<std::string>("docs/tables");
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("tables",
                                           "Makes rows of the tables that are computed, not measured, once more and "
                                           "compares; exit code 1 if one differs by "
                                           "more than 1e-9, or a table does not say where it comes from");
    command->add_option("--folder", *folder, "Where the tables are")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            return print_checks(bench::tables_benchmark(*folder), run->json) ? cli::success : cli::failed;
        });
    });
}

/// A rate in millions, or a dash for none.
std::string megahertz(const nlohmann::json& rate) {
    return rate.is_null() ? "-" : fmt::format("{:.2f}", 1e-6 * rate.get<double>());
}

void add_matern(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<MaternBenchOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command =
        app.add_subcommand("matern",
                           "Speed and error of the tabulated Matérn covariance beside GSL's; exit code 1 "
                           "below 100 million a second or above a relative error of 1e-13");
    cli::comma_separated(command->add_option("--smoothness", options->smoothness, "Values to measure"))
        ->capture_default_str();
    command->add_option("--tile", options->tile, "Rows of the tile")->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto result = matern_benchmark(*options);
            if (run->json) return print_checks(result, true) ? cli::success : cli::failed;
            fmt::print("smoothness  Mcovariances/s  GSL Mcov/s  largest relative error\n");
            for (const auto& row : result.at("results"))
                fmt::print("{:>10}  {:>14.1f}  {:>10}  {:>22.2g}\n", row.at("smoothness").get<double>(),
                           1e-6 * row.at("covariances_per_second").get<double>(),
                           megahertz(row.at("gsl_covariances_per_second")), row.at("max_relative_error").get<double>());
            fmt::print("\n{:<22}{:<12}{:>15}{:>12}{:>15}{:>15}\n", "family", "loops for", "Mcovariances/s", "Mslopes/s",
                       "largest error", "of libm's");
            for (const auto& row : result.at("families"))
                for (const auto& level : row.at("levels"))
                    fmt::print("{:<22}{:<12}{:>15}{:>12}{:>15.2g}{:>15.2g}\n", row.at("family").get<std::string>(),
                               level.at("level").get<std::string>(), megahertz(level.at("covariances_per_second")),
                               megahertz(level.at("slopes_per_second")), row.at("max_error").get<double>(),
                               row.at("max_error_of_formula").get<double>());
            return print_checks(result, false) ? cli::success : cli::failed;
        });
    });
}

void print_reader_rows(const nlohmann::ordered_json& result) {
    fmt::print("{:<26}{:>6}{:>9}{:>13}{:>13}{:>13}{:>8}\n", "layout", "cache", "readers", "pread GB/s", "here GB/s",
               "HDF5 GB/s", "ratio");
    for (const auto& row : result.at("rows")) {
        const auto& library = row.at("hdf5_gb_per_s");
        fmt::print("{:<26}{:>6}{:>9}{:>13.2f}{:>13.2f}{:>13}{:>8.2f}\n", row.at("layout").get<std::string>(),
                   row.at("cache").get<std::string>(), row.at("readers").get<Index>(),
                   row.at("pread_gb_per_s").get<double>(), row.at("rows_gb_per_s").get<double>(),
                   library.is_null() ? "-" : fmt::format("{:.2f}", library.get<double>()),
                   row.at("ratio").get<double>());
    }
}

void add_readers(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::ReadersOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("readers",
                                           "Threads that read panels of a matrix in a file beside as many "
                                           "that only read its bytes; exit code "
                                           "1 below 0.9 of their rate");
    command->add_option("--file", options->file, "A matrix of float32 in a file (default: files of its own)");
    cli::at_least(command->add_option("--n", options->n, "Order of the matrices in files of its own"), Index{1})
        ->capture_default_str();
    cli::comma_separated(command->add_option("--readers", options->readers, "Numbers of threads"))
        ->capture_default_str();
    cli::at_least(command->add_option("--panel", options->panel, "Rows that are read at a time"), Index{1})
        ->capture_default_str();
    cli::at_least(command->add_option("--repetitions", options->repetitions, "Best of so many"), Index{1})
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where files of its own are made")->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the results");
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench readers", [&] {
            const auto result = bench::readers_benchmark(*options);
            if (!run->json) print_reader_rows(result);
            return print_checks(result, run->json) ? cli::success : cli::failed;
        });
    });
}

void add_mds(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::MdsOptions>();
    CLI::App* command = app.add_subcommand(
        "mds",
        "Multidimensional scaling while its file is read, from a forgotten file and from a slow disk, beside its "
        "parts alone; exit code 1 above 1.1 times what they take at least");
    command->add_option("--file", options->file, "A file of distances (default: one of its own)");
    cli::at_least(command->add_option("--n", options->n, "Points of a file of its own"), Index{100})
        ->capture_default_str();
    cli::at_least(command->add_option("--dim", options->dimensions, "Dimensions"), Index{1})->capture_default_str();
    cli::at_least(command->add_option("--readers", options->readers, "Readers at a time"), 1)->capture_default_str();
    cli::above_zero(command->add_option("--rate", options->rate, "Bytes per second of the slow disk"))
        ->capture_default_str();
    cli::at_least(command->add_option("--repetitions", options->repetitions, "Best of so many"), Index{1})
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where a file of its own is made")->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench mds", [&] {
            options->run.resource_workers = options->readers;
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::mds_benchmark(*engine, *options), options->run.json);
        });
    });
}

void print_step_rows(const nlohmann::ordered_json& result) {
    fmt::print("{:<9}{:>8}  {:<12}{:>10}{:>8}\n", "file", "columns", "step", "seconds", "gain");
    for (const auto& row : result.at("rows"))
        fmt::print("{:<9}{:>8}  {:<12}{:>9.3f}s{:>7.1f}%\n", row.at("file").get<std::string>(),
                   row.at("columns").get<Index>(), row.at("step").get<std::string>(), row.at("seconds").get<double>(),
                   100 * row.at("gain").get<double>());
}

void add_mds_steps(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::StepsOptions>();
    CLI::App* command = app.add_subcommand(
        "mds-steps",
        "What each step of --overlap of tesela mds gains, until the file has been read and multiplied once (figure 9 "
        "of paper 000), from a forgotten file and from a slow disk; also under mpirun");
    cli::at_least(command->add_option("--n", options->n, "Points"), Index{200})->capture_default_str();
    cli::at_least(command->add_option("--tile", options->tile, "Tile size; 0: as tesela mds chooses it"), Index{0})
        ->capture_default_str();
    cli::comma_separated(command->add_option("--columns", options->columns, "Widths of the random matrix"))
        ->capture_default_str();
    cli::at_least(command->add_option("--readers", options->readers, "Readers at a time"), 1)->capture_default_str();
    cli::above_zero(command->add_option("--rate", options->rate, "Bytes per second of the slow disk"))
        ->capture_default_str();
    cli::at_least(command->add_option("--repetitions", options->repetitions, "Best of so many"), Index{1})
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where the file is made, and removed again")
        ->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the rows; those of other numbers of nodes stay");
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench mds-steps", [&] {
            options->run.resource_workers = options->readers;
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::steps_benchmark(*engine, *options);
            if (engine->this_node() == NodeId{0}) {
                if (!options->run.json) print_step_rows(result);
                print_checks(result, options->run.json);
            }
            return all_met(result) ? cli::success : cli::failed;
        });
    });
}

void add_eigenvalues(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::EigenvaluesOptions>();
    CLI::App* command = app.add_subcommand("eigenvalues",
                                           "The largest eigenvalues of a symmetric matrix in memory, by products with "
                                           "random numbers (bench/mds/against_scikit_learn.py compares)");
    command->add_option("--file", options->file, "The matrix: CSV, NumPy or HDF5")->required();
    cli::at_least(command->add_option("--dim", options->dimensions, "How many"), Index{1})->capture_default_str();
    cli::above_zero(command->add_option("--tolerance", options->tolerance, "Relative error of each"))
        ->capture_default_str();
    cli::at_least(command->add_option("--repetitions", options->repetitions, "Best of so many"), Index{1})
        ->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench eigenvalues", [&] {
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::eigenvalues_benchmark(*engine, *options), options->run.json);
        });
    });
}

/// What both benchmarks of likelihood evaluations take.
void add_evaluation_options(CLI::App& command, auto& options) {
    command.add_option("--n", options.n, "Observations")->capture_default_str();
    command.add_option("--smoothness", options.smoothness, "Smoothness of the Matérn covariance")
        ->capture_default_str();
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    cli::add_overlap_option(command, options.overlap);
    cli::add_tiling_options(command, options.run);
    cli::add_engine_options(command, options.run);
    cli::add_json_option(command, options.run);
}

/// With a worker for critical tasks where the step of overlap wants one.
auto start_evaluation_engine(auto& options) {
    if (options.run.critical_worker == CriticalWorker::none)
        options.run.critical_worker = geo::critical_worker(options.overlap);
    return cli::start_engine(options.run);
}

void add_geo(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::GeoBenchOptions>();
    CLI::App* command = app.add_subcommand(
        "geo", "One likelihood evaluation beside its Cholesky alone, LAPACK's and GSL's Bessel function");
    add_evaluation_options(*command, *options);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = start_evaluation_engine(*options);
            cli::print_results(*engine, bench::geo_benchmark(*engine, *options), options->run.json);
            return cli::success;
        });
    });
}

void add_gradient(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::GradientBenchOptions>();
    CLI::App* command = app.add_subcommand("gradient",
                                           "One likelihood evaluation beside one with its gradient; exit code 1 if "
                                           "that takes longer than --most-likelihoods");
    add_evaluation_options(*command, *options);
    command
        ->add_option("--most-likelihoods", options->most_likelihoods,
                     "What likelihood and gradient may take at most, in times of the likelihood alone")
        ->capture_default_str();
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = start_evaluation_engine(*options);
            return print_checked(*engine, bench::gradient_benchmark(*engine, *options), options->run.json);
        });
    });
}

void add_recovery(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::RecoveryOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand(
        "recovery",
        "Sample fields, fit them, and compare the estimates with the truth; exit code 1 if the mean of "
        "a parameter is off by more than half its spread over the seeds, or a seed by more than 3");
    command->add_option("--n", options->n, "Points of a field")->capture_default_str();
    command->add_option("--seeds", options->seeds, "Fields")->capture_default_str();
    command->add_flag("--errors", options->errors,
                      "Compare the standard errors of the fits with the spread of their estimates instead; exit code 1 "
                      "if they differ by more than 15 %");
    command->add_option("--table", options->table, "CSV file for the estimates of each seed");
    cli::add_engine_options(*command, *run);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = cli::start_engine(*run);
            const auto result = bench::recovery_benchmark(*engine, *options);
            return print_checked(*engine, result, run->json);
        });
    });
}

void add_fits(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::FitsOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand(
        "fits",
        "Fit every family and trend to data sets and sampled fields, each beside random starts; exit code 1 if one "
        "ends "
        "more than 0.01 below the best of these, or with a slope above 0.001 per unit of a logarithm");
    command->add_option("--folder", options->folder, "Of CSV files with columns x, y and variables; \"\" for none")
        ->capture_default_str();
    command->add_option("--samples", options->samples, "Fields that are sampled beside these")->capture_default_str();
    command->add_option("--points", options->points, "Points of a sampled field")->capture_default_str();
    command->add_option("--random-starts", options->random_starts, "Random starts that each fit is compared with")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Seed of samples and starts")->capture_default_str();
    cli::add_choice(*command, "--optimizer", options->fit.optimizer, geo::optimizer_names, "That of tesela fit");
    command->add_option("--starts", options->fit.starts, "That of tesela fit")->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the rows");
    cli::add_engine_options(*command, *run);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto engine = cli::start_engine(*run);
            return print_checked(*engine, bench::fits_benchmark(*engine, *options), run->json);
        });
    });
}

/// Adds an option that takes one number for both dimensions, or two as "3,4".
CLI::Option* add_pair(CLI::App& command, const std::string& name, ElementIndex& value, const std::string& text) {
    return cli::comma_separated(command.add_option_function<std::vector<Index>>(
                                    name,
                                    [&value](const std::vector<Index>& given) {
                                        value = {given.front(), given.back()};
                                    },
                                    text))
        ->expected(1, 2);
}

void add_redistribute(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::RedistributeBenchOptions>();
    auto& what = options->redistribute;
    CLI::App* command = app.add_subcommand(
        "redistribute", "A matrix from one distribution and tile size to another, beside ScaLAPACK's pdgemr2d");
    command->add_option("--n", options->n, "Order of both matrices")->capture_default_str();
    command->add_option("--from", options->from,
                        "Distribution of the source (default: block_cyclic:1xP, all P nodes in a row)");
    command->add_option("--to", options->to, "Distribution of the target (default: block_cyclic, the squarest grid)");
    add_pair(*command, "--tile-from", options->tile_from, "Tile size of the source: SIZE or ROWS,COLS (default: 960)");
    add_pair(*command, "--tile-to", options->tile_to, "Tile size of the target: SIZE or ROWS,COLS (default: 400)");
    command->add_option("--rows", what.size.i, "Rows of the submatrix (default: all from --offset-from on)");
    command->add_option("--cols", what.size.j, "Columns of the submatrix (default: all from --offset-from on)");
    add_pair(*command, "--offset-from", what.from_offset, "First element of the submatrix in the source: I or I,J");
    add_pair(*command, "--offset-to", what.to_offset, "First element of the submatrix in the target: I or I,J");
    command->add_flag_callback(
        "--lower", [=] { options->part = Part::lower; }, "Move the lower triangle only");
    command->add_flag_callback(
        "--transpose", [=] { options->op = Op::transpose; }, "Move the transpose");
    cli::add_choice(*command, "--path", what.path, bench::path_names, "exchange: in bulk; tasks: a task per segment");
    command->add_option("--batch", what.batch, "Messages between two nodes at a time; 0: all")->capture_default_str();
    command
        ->add_option("--batch-columns", what.batch_columns,
                     "Source tile columns whose messages are under way at a time (paper 002's batch); 0: all")
        ->capture_default_str();
    command->add_option("--message-bytes", what.message_bytes, "Size of messages that segments are put together to")
        ->capture_default_str();
    command
        ->add_option("--whole-tile-bytes", what.whole_tile_bytes,
                     "Tiles that travel as a whole do so alone from this size on")
        ->capture_default_str();
    command->add_flag("--in-place", options->in_place, "Give the tiles of one matrix to other owners, without a copy");
    command->add_flag("!--no-isolate-segments", what.isolate_segments, "Segments of a tile land one after another");
    command->add_flag("!--no-dynamic-volume", what.dynamic_volume, "Whole source tiles travel");
    command->add_flag("!--no-multiple-send", what.multiple_send, "One thread hands all messages to the network");
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    command->add_flag("--check", options->check, "Check every element of the target");
    command->add_flag("!--no-compare", options->compare, "Do not measure ScaLAPACK");
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            bench::check_options(*options);
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::redistribute_benchmark(*engine, *options);
            cli::print_results(*engine, result, options->run.json);
            return result.at("correct").get<bool>() ? cli::success : cli::failed;
        });
    });
}

void add_paper002(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::Paper002Options>();
    CLI::App* command = app.add_subcommand(
        "paper002",
        "Tables and pictures of docs/tables about redistribution, for the nodes at hand: bench/paper002/run.sh runs it "
        "on 1, 2 and 4. Exit code 1 unless (but with --quick): 960 to 400 is 2.5 times as fast as pdgemr2d on 2 nodes "
        "and "
        "1.6 times on 4, 128 to 64 1.5 times on 4; without a barrier less time is taken, measured in all and simulated "
        "in "
        "each case; correcting a tile size makes Cholesky faster; random takes at most 1.25 times as long as "
        "block-cyclic; the largest messages achieve 0.6 of the bound on 2 nodes; dynamic_volume is twice as fast where "
        "most is saved. What is simulated has limits of its own: docs/benchmarks.md");
    command->add_option("--folder", options->folder, "Where the files go")->capture_default_str();
    command->add_option("--suffix", options->suffix, "Of the names of the files, as _10gbit");
    command->add_flag("--quick", options->quick, "Small sizes: only to see that everything works");
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    cli::comma_separated(command->add_option("--only", options->only,
                                             fmt::format("Some of {}", fmt::join(bench::paper002_experiments(), ","))));
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            bench::check_options(*options);
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::paper002_benchmark(*engine, *options), options->run.json);
        });
    });
}

void add_strategies(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::StrategiesOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    auto* command = app.add_subcommand(
        "strategies",
        "Figures 11 and 13 of paper 000: its five strategies and ours on eighteen sets of machines, simulated");
    cli::add_choice(*command, "--application", options->application, bench::strategies_of_names,
                    "Likelihood evaluations (figure 11), or multidimensional scaling (13)");
    cli::comma_separated(command->add_option("--tiles", options->tiles,
                                             "Tile rows of the matrix (default: 101,128,180; 75,100,200 of mds)"));
    cli::comma_separated(command->add_option("--sets", options->sets, "Sets of machines, as 6che+6chi (default: all)"));
    command
        ->add_option("--durations", options->durations,
                     "Of the generation: gsl, or table for Tesela's own; mds generates nothing")
        ->capture_default_str();
    command->add_option("--simulations", options->simulations, "For the plan of each case")->capture_default_str();
    command->add_option("--seeds", options->seeds, "By which each strategy is judged")->capture_default_str();
    command->add_option("--noise", options->noise, "Durations vary by about this share of themselves")
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where the table goes; cases that it has are left as they are")
        ->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench strategies", [&] {
            return print_checks(bench::strategies_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void add_phases(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::PhasesOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    auto* command = app.add_subcommand(
        "phases", "How long the linear program of an evaluation's phases takes; exit code 1 if longer than --most");
    cli::comma_separated(command->add_option("--tiles", options->tiles, "Tile rows, and so steps"))
        ->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    command->add_option("--most", options->most_seconds, "Seconds that it may take")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench phases", [&] {
            return print_checks(bench::phases_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void add_figure12(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::Figure12Options>();
    auto run = std::make_shared<cli::RunOptions>();
    auto* command = app.add_subcommand("figure12", "Figure 12 of paper 000: three plans as pictures, simulated");
    command->add_option("--tiles", options->tiles, "Tile rows of the matrix")->capture_default_str();
    command->add_option("--folder", options->folder, "Where the picture goes")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench figure12", [&] {
            return print_checks(bench::figure12_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void add_unequal(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::UnequalOptions>();
    auto* command = app.add_subcommand(
        "unequal",
        "Likelihood evaluations on nodes that differ, by strategies of the planner in turn; exit code 1 if the plan "
        "does not gain a tenth over block-cyclic. Needs mpirun, and bench/cluster/run.sh for nodes that differ");
    command->add_option("--n", options->n, "Points")->capture_default_str();
    command->add_option("--smoothness", options->smoothness, "Of the covariance")->capture_default_str();
    cli::comma_separated(command->add_option("--gsl-nodes", options->gsl_nodes,
                                             "Nodes that generate with GSL's Bessel function, as 0,1"));
    command->add_option("--rounds", options->rounds, "Evaluations of each strategy; the middle one counts")
        ->capture_default_str();
    command->add_option("--warm-up", options->warm_up, "Evaluations in which the plan is corrected first")
        ->capture_default_str();
    command->add_option("--budget", options->budget, "Seconds for a plan")->capture_default_str();
    command->add_option("--halve-at", options->halve_at,
                        "Instead: the first node loses half its processor time at this evaluation; exit code 1 if "
                        "evaluations take more than 1.1 times those of a fresh plan five later");
    command->add_option("--evaluations", options->evaluations, "With --halve-at: in all")->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the results; rows of other cases stay");
    command->add_option("--case", options->name, "With --table: what to call these nodes there")->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_overlap_option(*command, options->overlap);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench unequal", [&] {
            const auto engine = start_evaluation_engine(*options);
            return print_checked(*engine, bench::unequal_benchmark(*engine, *options), options->run.json);
        });
    });
}

/// The covariance matrix that is compressed.
void add_problem_options(CLI::App& command, bench::CovarianceProblem& problem) {
    command.add_option("--n", problem.n, "Points, on a grid of which each is moved a little")->capture_default_str();
    cli::add_choice(command, "--family", problem.family, covariance_family_names, "Covariance");
    command.add_option("--range", problem.theta.range, "Of the covariance")->capture_default_str();
    command.add_option("--smoothness", problem.theta.smoothness, "Of the covariance")->capture_default_str();
    command.add_option("--nugget", problem.theta.nugget, "Of the covariance")->capture_default_str();
    command.add_option("--dimensions", problem.dimensions, "Of the points")
        ->check(CLI::Range(1, 3))
        ->capture_default_str();
    cli::add_accuracy_option(command, problem.accuracy, "Of a tile, in the Frobenius norm")->capture_default_str();
    cli::add_band_option(command, problem.band,
                         "Tiles nearer to the diagonal than this are stored whole (default: by sampled ranks, where "
                         "ranks are sampled, else 1)");
    command.add_flag_callback(
        "--single", [&problem] { problem.precision = FactorPrecision::as_needed; },
        "Store what the accuracy allows of U and V in single precision");
}

void add_sent_rank(CLI::App& command, bench::CovarianceProblem& problem, const char* help) {
    cli::at_least(command.add_option("--sent-rank", problem.sent_rank, help), Index{0})->capture_default_str();
}

void add_tlr(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrOptions>();
    auto* command = app.add_subcommand(
        "tlr",
        "The Cholesky factor of a compressed covariance matrix beside the dense one; exit code 1 if it is less "
        "accurate "
        "than it should be or takes, with 40,000 points or more, over a fifth of the time or memory of the dense one, "
        "with 100,000 over 20 minutes, or with 250,000 over an hour");
    add_problem_options(*command, options->problem);
    add_sent_rank(*command, options->problem,
                  "Messages with compressed tiles have at least so many columns; 0: as they need");
    command->add_option("--dense-n", options->dense_n, "Points of the dense matrix that its rate is measured with")
        ->capture_default_str();
    cli::at_least(
        command->add_option("--iterations", options->iterations, "Power iterations for the residual; 0: none"), 0)
        ->capture_default_str();
    cli::add_refine_option(*command, options->refine,
                           "Solve with the factor to this residual, by conjugate gradients with the true matrix");
    cli::add_engine_options(*command, options->run);
    command->add_option("--tile", options->run.tile, "Tile size, or auto")->capture_default_str();
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr", [&] {
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::tlr_benchmark(*engine, *options), options->run.json);
        });
    });
}

void add_tlr_tile(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrTileOptions>();
    auto* command = app.add_subcommand(
        "tlr-tile",
        "Figure 5 of paper 004: the tile size that sampled ranks choose beside eight others; exit code 1 if it takes "
        "more than 1.15 times the best of them");
    add_problem_options(*command, options->problem);
    cli::at_least(command->add_option("--rounds", options->rounds,
                                      "Runs of each size; the best counts. 0: for three seconds, 3 to 15 of them"),
                  0)
        ->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr-tile", [&] {
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::tlr_tile_benchmark(*engine, *options), options->run.json);
        });
    });
}

void add_tlr_fit(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrFitOptions>();
    auto* command = app.add_subcommand(
        "tlr-fit",
        "Fits to a sampled field with the exact matrix and with the compressed one; exit code 1 if the exact "
        "log-likelihood at the second optimum is more than 1e-4 below the first, or a parameter differs by more than "
        "1 %");
    cli::at_least(command->add_option("--n", options->n, "Observations"), Index{10})->capture_default_str();
    cli::at_least(command->add_option("--seed", options->seed, "Of the points and of the field"), std::uint64_t{0})
        ->capture_default_str();
    cli::add_choice(*command, "--family", options->family, covariance_family_names, "Covariance");
    cli::at_least(command->add_option("--accuracy", options->accuracy, "Of a tile, relative to sigma2"), 0.0)
        ->capture_default_str();
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr-fit", [&] {
            const auto engine = cli::start_engine(options->run);
            return print_checked(*engine, bench::tlr_fit_benchmark(*engine, *options), options->run.json);
        });
    });
}

void print_rank_rows(const nlohmann::ordered_json& result) {
    fmt::print("{:<13}{:>8}{:>7}{:>24}{:>24}{:>11}{:>10}\n", "case", "n", "tile", "as generated: mean, max",
               "as factored: mean, max", "of dense", "seconds");
    for (const auto& row : result.at("rows"))
        fmt::print("{:<13}{:>8}{:>7}{:>24}{:>24}{:>10.1f}%{:>10.1f}\n", row.at("case").get<std::string>(),
                   row.at("n").get<Index>(), row.at("tile").get<Index>(),
                   fmt::format("{:.1f}, {}", row.at("mean_initial").get<double>(), row.at("max_initial").get<Index>()),
                   fmt::format("{:.1f}, {}", row.at("mean_final").get<double>(), row.at("max_final").get<Index>()),
                   100 * row.at("bytes_final").get<double>() / row.at("dense_bytes").get<double>(),
                   row.at("seconds").get<double>());
}

void add_tlr_ranks(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrRanksOptions>();
    options->run.tile = "500";
    auto* command = app.add_subcommand("tlr-ranks",
                                       "Figure 2 of paper 004: ranks of compressed matrices before and after their "
                                       "Cholesky factorisation, as pictures and a table");
    command->add_option("--n", options->n, "Points, on a grid of which each is moved a little")->capture_default_str();
    cli::add_accuracy_option(*command, options->accuracy, "Of a tile, in the Frobenius norm")->capture_default_str();
    cli::comma_separated(command->add_option("--cases", options->cases,
                                             fmt::format("Some of {}", fmt::join(bench::tlr_rank_cases(), ","))));
    command->add_option("--folder", options->folder, "Where the files go")->capture_default_str();
    cli::add_engine_options(*command, options->run);
    command->add_option("--tile", options->run.tile, "Tile size, or auto")->capture_default_str();
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr-ranks", [&] {
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::tlr_ranks_benchmark(*engine, *options);
            if (engine->this_node() != NodeId{0}) return cli::success;
            if (options->run.json)
                fmt::print("{}\n", result.dump(2));
            else
                print_rank_rows(result);
            return cli::success;
        });
    });
}

void add_tlr_switches(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrSwitchesOptions>();
    auto* command = app.add_subcommand("tlr-switches",
                                       "What paper 004's optimisations of a compressed Cholesky gain here: without "
                                       "any, each alone, all; exit code 1 if messages have other bytes than ranks say");
    add_problem_options(*command, options->problem);
    add_sent_rank(*command, options->problem,
                  "Columns that messages with compressed tiles have at least where they are not exact; 0: the largest "
                  "rank of all tiles");
    cli::add_factor_options(*command, options->factor);
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the results; rows of other numbers of nodes stay");
    cli::add_engine_options(*command, options->run);
    command->add_option("--tile", options->run.tile, "Tile size")->capture_default_str();
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr-switches", [&] {
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::tlr_switches_benchmark(*engine, *options);
            if (engine->this_node() != NodeId{0}) return all_met(result) ? cli::success : cli::failed;
            if (!options->run.json)
                for (const auto& row : result.at("rows"))
                    fmt::print("{:<20}{:>8.3f} s {:>8.3f} of none   sent {:.3f} GB\n",
                               row.at("switch").get<std::string>(), row.at("seconds").get<double>(),
                               row.at("over_none").get<double>(), row.at("gbytes_sent").get<double>());
            return print_checks(result, options->run.json) ? cli::success : cli::failed;
        });
    });
}

void print_distribution_rows(const nlohmann::ordered_json& result) {
    fmt::print("{:<10}{:<18}{:<8}{:>9}{:>10}{:>12}{:>11}{:>8}{:>14}\n", "kernel", "family", "weights", "seconds",
               "messages", "bytes", "flops load", "load", "dependencies");
    for (const auto& row : result.at("rows"))
        fmt::print(
            "{:<10}{:<18}{:<8}{:>9.4f}{:>10.0f}{:>12}{:>11.3f}{:>8.3f}{:>14.3f}\n", row.at("kernel").get<std::string>(),
            row.at("family").get<std::string>(), row.at("weights").get<std::string>(), row.at("seconds").get<double>(),
            row.at("messages").get<double>(), format_bytes(row.at("bytes").get<double>()),
            row.at("flops_load").get<double>(), row.at("load").get<double>(), row.at("dependencies").get<double>());
    for (const auto& note : result.at("notes")) fmt::print("note: {}\n", note.get<std::string>());
}

void add_tlr_distributions(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TlrDistributionsOptions>();
    auto kernels = std::make_shared<std::vector<std::string>>(std::vector<std::string>{"cholesky", "lu"});
    auto* command = app.add_subcommand(
        "tlr-distributions",
        "Cholesky and LU of compressed matrices under paper 001's distributions, made for measured ranks: times, loads "
        "and bytes beside the paper's metrics. Needs mpirun; exit code 1 if other bytes are sent than ranks say or a "
        "factor is less accurate than it should be");
    add_problem_options(*command, options->problem);
    command->add_option("--tile", options->tile, "Tile size, of which --n is a multiple")->capture_default_str();
    cli::allow_only(
        cli::comma_separated(command->add_option("--kernel", *kernels, "Factorisations"))->capture_default_str(),
        {"cholesky", "lu"});
    cli::comma_separated(command->add_option("--families", options->families,
                                             "Families of distributions (default: those that fit the nodes)"));
    command->add_option("--alpha", options->alpha, "For bce, rs and hybrid")->capture_default_str();
    command->add_option("--delta", options->density.delta, "Of paper 001's generator, for LU")->capture_default_str();
    cli::at_least(command->add_option("--seed", options->density.seed, "Of the same"), std::uint64_t{0})
        ->capture_default_str();
    cli::above_zero(command->add_option("--tile-norm", options->tile_norm,
                                        "Of the same: Frobenius norm of a tile off the diagonal, where 1 is on it"))
        ->capture_default_str();
    command->add_option("--rounds", options->rounds, "Best of so many, the families in turn")->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the results; rows of other numbers of nodes stay");
    cli::add_engine_options(*command, options->run);
    cli::add_json_option(*command, options->run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench tlr-distributions", [&] {
            options->operations.clear();
            for (const std::string& name : *kernels)
                options->operations.push_back(parse_name(operation_names, name, "--kernel"));
            const auto engine = cli::start_engine(options->run);
            const auto result = bench::tlr_distributions_benchmark(*engine, *options);
            if (engine->this_node() == NodeId{0}) {
                if (!options->run.json) print_distribution_rows(result);
                print_checks(result, options->run.json);
            }
            return all_met(result) ? cli::success : cli::failed;
        });
    });
}

void add_paper000(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::Paper000Options>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand(
        "paper000", "Figures 5 and 7 to 10 of paper 000: what each step of --overlap gains, simulated");
    cli::comma_separated(
        command->add_option("--tiles", options->tiles, "Tile rows of the matrices; the last is that of figure 8"))
        ->capture_default_str();
    cli::comma_separated(command->add_option("--scaling-tiles", options->scaling_tiles,
                                             "The same of figure 9; the last is that of 5 and 10"))
        ->capture_default_str();
    cli::comma_separated(command->add_option("--figures", options->figures, "Some of them"))->capture_default_str();
    command->add_option("--folder", options->folder, "Where the files go")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            return print_checks(bench::paper000_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void add_paper004(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::Paper004Options>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("paper004",
                                           "What paper 004's optimisations of a compressed Cholesky gain, its figures "
                                           "1, 3, 4a, 4b and table I, simulated; exit code 1 if one shows something "
                                           "else than the paper says");
    cli::comma_separated(
        command->add_option("--figures", options->figures, "Some of ranks (sampled anew), switches, 1, I, 3, 4a, 4b"))
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where the files go, and the ranks are")->capture_default_str();
    cli::fit_blas_before(*command);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench paper004", [&] {
            const auto result = bench::paper004_benchmark(*options);
            if (!run->json)
                for (const auto& ranks : result.at("ranks"))
                    fmt::print(
                        "ranks of {} x {} tiles: {:.1f} on average, {} at most; the sample differs by {:.0f} %\n",
                        ranks.at("tiles").get<Index>(), ranks.at("tiles").get<Index>(), ranks.at("mean").get<double>(),
                        ranks.at("largest").get<Index>(), 100 * ranks.at("error").get<double>());
            return print_checks(result, run->json) ? cli::success : cli::failed;
        });
    });
}

void add_paper001(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::Paper001Options>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand(
        "paper001",
        "Figures 4 to 8 of paper 001: load and simulated makespans; exit code 1 "
        "if dependencies cost the product anything, or hybrid misses its limits in docs/simulate.md");
    command->add_option("--seeds", options->seeds, "Matrices drawn for each case")->capture_default_str();
    command->add_option("--largest", options->largest, "Sizes 30, 60 and 90 up to this")->capture_default_str();
    cli::comma_separated(command->add_option("--figures", options->figures,
                                             "4, 5, 6, 7, 8; hybrid: bce, rs and hybrid beside each other"))
        ->capture_default_str();
    command->add_option("--folder", options->folder, "Where the files go")->capture_default_str();
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            return print_checks(bench::paper001_benchmark(*options), run->json) ? cli::success : cli::failed;
        });
    });
}

void add_prediction(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::PredictionOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("prediction",
                                           "Calibrates the nodes at hand, then predicts and measures Cholesky, "
                                           "likelihood evaluations and redistributions; exit code 1 if the "
                                           "median error of those from n = 2000 is above 5 %, the worst above 10 % "
                                           "from n = 4000 or above 15 % below that");
    cli::fit_blas_before(*command);
    cli::comma_separated(command->add_option("--n", options->sizes, "Orders of the matrices"))->capture_default_str();
    cli::comma_separated(command->add_option("--geo", options->geo_sizes, "Observations"))->capture_default_str();
    cli::comma_separated(command->add_option("--redistribution", options->redistribution_sizes,
                                             "Orders of matrices that are redistributed"))
        ->capture_default_str();
    cli::comma_separated(command->add_option(
        "--workers", options->workers,
        "Workers per node, as 1,2 (the default; under mpirun one number, by default the usable cores of a "
        "machine, divided among the nodes on it)"));
    command
        ->add_option("--passes", options->passes,
                     "Calibrate, predict and measure each row so many times; the one with the middle error counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Runs in each pass, of which the middle one counts")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    cli::at_least(command->add_option("--seconds", options->seconds, "Seconds to calibrate each kernel and tile size"),
                  0.0)
        ->capture_default_str();
    command->add_option("--table", options->table,
                        "CSV file for the rows; rows of runs on other numbers of nodes stay");
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto result = bench::prediction_benchmark(*options);
            if (result.is_null()) return cli::success;
            if (run->json) return print_checks(result, true) ? cli::success : cli::failed;
            fmt::print("{:<15}{:>6}{:>6}{:>7}{:>9}{:>11}{:>11}{:>8}{:>9}\n", "operation", "n", "tile", "nodes",
                       "workers", "predicted", "measured", "noise", "error");
            for (const auto& row : result.at("rows"))
                fmt::print("{:<15}{:>6}{:>6}{:>7}{:>9}{:>10.4f}s{:>10.4f}s{:>7.1f}%{:>8.1f}%\n",
                           row.at("operation").get<std::string>(), row.at("n").get<Index>(),
                           row.at("tile").get<Index>(), row.at("nodes").get<Index>(), row.at("workers").get<int>(),
                           row.at("predicted").get<double>(), row.at("measured").get<double>(),
                           100 * row.at("noise").get<double>(), 100 * row.at("error").get<double>());
            fmt::print("median error {:.1f} %, worst {:.1f} %\n", 100 * result.at("median_error").get<double>(),
                       100 * result.at("worst_error").get<double>());
            return print_checks(result, false) ? cli::success : cli::failed;
        });
    });
}

void add_simulate(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::SimulateBenchOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand("simulate",
                                           "How long the simulator takes for Cholesky, and how much memory; exit code "
                                           "1 if it is slower than --most-seconds");
    cli::comma_separated(command->add_option("--tasks", options->tasks, "Tasks of each case, at most"))
        ->capture_default_str();
    command->add_option("--platform", options->platform, "A platform file, or the name of a ready-made platform")
        ->capture_default_str();
    command->add_option("--nodes", options->nodes, "Nodes of the platform to use, by number and type; all if empty")
        ->capture_default_str();
    command
        ->add_option("--network", options->network,
                     "ports or simgrid (default: both, simgrid up to 100000 tasks if it is there)")
        ->check(CLI::IsMember({"ports", "simgrid"}));
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    cli::at_least(command->add_option("--most-seconds", options->most_seconds,
                                      "What a million tasks may take at most, with ports"),
                  0.0)
        ->capture_default_str();
    command->add_option("--table", options->table, "CSV file for the rows");
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            const auto result = bench::simulate_benchmark(*options);
            if (!run->json) {
                fmt::print("{:<9}{:>7}{:>9}{:>10}{:>10}{:>10}{:>13}{:>10}\n", "network", "tiles", "tasks", "walk",
                           "whole", "again", "tasks/s", "memory");
                for (const auto& row : result.at("rows"))
                    fmt::print("{:<9}{:>7}{:>9}{:>9.3f}s{:>9.3f}s{:>9.3f}s{:>13.0f}{:>10}\n",
                               row.at("network").get<std::string>(), row.at("tiles").get<Index>(),
                               row.at("tasks").get<Index>(), row.at("walk_seconds").get<double>(),
                               row.at("seconds").get<double>(), row.at("again_seconds").get<double>(),
                               row.at("tasks_per_second").get<double>(),
                               format_bytes(row.at("memory_bytes").get<double>()));
            }
            return print_checks(result, run->json) ? cli::success : cli::failed;
        });
    });
}

void add_trace(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<bench::TraceOptions>();
    auto run = std::make_shared<cli::RunOptions>();
    CLI::App* command = app.add_subcommand(
        "trace",
        "What tracing a run costs, and how long a large trace takes to read; exit code 1 if it costs "
        "more than 2 % from n = 4000 or 1 microsecond per event, or a million tasks take longer than "
        "10 s to summarise or 30 s to convert");
    command->add_option("--n", options->n, "Order of the matrix")->capture_default_str();
    command->add_option("--tile", options->tile, "Tile size")->capture_default_str();
    command->add_option("--repetitions", options->repetitions, "Best of so many")->capture_default_str();
    command->add_option("--tasks", options->tasks, "Tasks of the large trace; 0 leaves it out")->capture_default_str();
    command->add_option("--folder", options->folder, "Where the traces go meanwhile")->capture_default_str();
    cli::add_engine_options(*command, *run);
    cli::add_json_option(*command, *run);
    command->callback([=, &exit_code] {
        exit_code = cli::run_guarded("tesela bench", [&] {
            options->conversions["hdf5"] = export_hdf5;
            const auto engine = cli::start_engine(*run);
            return print_checked(*engine, bench::trace_benchmark(*engine, *options), run->json);
        });
    });
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): options that do not fit are our mistake
    CLI::App app{"Measures Tesela beside what it is compared with, in one interleaved run", "tesela bench"};
    app.set_version_flag("--version", std::string("tesela ") + tesela::version);
    app.require_subcommand(1);
    int exit_code = cli::success;
    add_factorisation(app, bench::Factorisation::cholesky, exit_code);
    add_factorisation(app, bench::Factorisation::lu, exit_code);
    add_factorisation(app, bench::Factorisation::qr, exit_code);
    add_overhead(app, exit_code);
    add_share(app, exit_code);
    add_soak(app, exit_code);
    add_fault(app, exit_code);
    add_distributions(app, exit_code);
    add_ranking(app, exit_code);
    add_tables(app, exit_code);
    add_matern(app, exit_code);
    add_readers(app, exit_code);
    add_mds(app, exit_code);
    add_mds_steps(app, exit_code);
    add_eigenvalues(app, exit_code);
    add_geo(app, exit_code);
    add_gradient(app, exit_code);
    add_recovery(app, exit_code);
    add_fits(app, exit_code);
    add_redistribute(app, exit_code);
    add_paper002(app, exit_code);
    add_trace(app, exit_code);
    add_paper000(app, exit_code);
    add_strategies(app, exit_code);
    add_phases(app, exit_code);
    add_figure12(app, exit_code);
    add_unequal(app, exit_code);
    add_tlr(app, exit_code);
    add_tlr_tile(app, exit_code);
    add_tlr_fit(app, exit_code);
    add_tlr_switches(app, exit_code);
    add_tlr_ranks(app, exit_code);
    add_tlr_distributions(app, exit_code);
    add_paper001(app, exit_code);
    add_paper004(app, exit_code);
    add_prediction(app, exit_code);
    add_simulate(app, exit_code);
    return cli::parse_and_run(app, argc, argv, exit_code);
}
