#include "experiments.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace tesela::bench {
namespace {

struct TablesOptions {
    std::string folder = "docs/tables";
};

void add_tables_options(CLI::App& command, TablesOptions& options) {
    command.add_option("--folder", options.folder, "Where the tables are")->capture_default_str();
}

/// Beginnings of the names of tables that hold times, or what depends on the last bit of a sum: an optimiser's path
/// does, and a rank.
constexpr std::array<std::string_view, 9> measured_tables{"redistribution_", "prediction",        "geo_recovery",
                                                          "unequal",         "paper004_ranks",    "tlr_switches",
                                                          "tlr_ranks",       "tlr_distributions", "mds_steps"};

std::vector<ComputedTable> computed_tables(const std::string& folder) {
    std::vector<ComputedTable> all;
    for (auto& tables : {distribution_tables(), ranking_tables(), paper000_tables(), strategies_tables(),
                         paper001_tables(), paper002_computed_tables(), paper004_tables(folder)})
        all.insert(all.end(), tables.begin(), tables.end());
    return all;
}

std::set<std::string> csv_files(const std::string& folder) {
    if (!std::filesystem::is_directory(folder)) throw Error("there is no folder {}", folder);
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".csv") names.insert(entry.path().filename().string());
    return names;
}

bool is_measured(const std::string& name) {
    if (name.ends_with("_simulated.csv")) return false;
    return std::ranges::any_of(measured_tables,
                               [&](std::string_view beginning) { return name.starts_with(beginning); });
}

Check files_check(const std::string& bar, const std::vector<std::string>& wrong) {
    return at_most(wrong.empty() ? bar : fmt::format("{}: not {}", bar, fmt::join(wrong, ", ")),
                   static_cast<double>(wrong.size()), 0);
}

/// Makes rows of the computed tables in a folder again and compares them. Every other CSV file there must be known as a
/// table of measurements, and all must say where they come from.
Report check_tables(const TablesOptions& options) {
    const std::string& folder = options.folder;
    auto names = csv_files(folder);
    std::vector<std::string> without_origin, unknown;
    for (const std::string& name : names)
        if (read_table(folder + "/" + name).origins.empty()) without_origin.push_back(name);
    Report report{.checks = {files_check("every table says where it comes from", without_origin)}};
    ProgressLine progress;
    for (const ComputedTable& table : computed_tables(folder)) {
        progress.show([&] { return table.file; });
        report.checks.push_back(check_table(table, folder));
        names.erase(table.file);
        if (!table.cases.empty()) names.erase(table.file.substr(0, table.file.rfind(".csv")) + "_means.csv");
    }
    std::ranges::copy_if(names, std::back_inserter(unknown), [](const auto& name) { return !is_measured(name); });
    report.checks.push_back(files_check("every table is checked, or known to be measured", unknown));
    return report;
}

}  // namespace

Experiment tables() {
    return experiment("tables",
                      "Makes rows of the tables that are computed, not measured, once more and compares; exit code 1 "
                      "if one differs by more than 1e-9, or a table does not say where it comes from",
                      add_tables_options, check_tables);
}

}  // namespace tesela::bench
