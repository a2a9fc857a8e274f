#include "tables_bench.hpp"

#include "computed_table.hpp"
#include "distributions/distributions_bench.hpp"
#include "distributions/ranking_bench.hpp"
#include "paper000/paper000_bench.hpp"
#include "paper000/strategies_bench.hpp"
#include "paper001/paper001_bench.hpp"
#include "paper002/paper002_bench.hpp"
#include "paper004/paper004_bench.hpp"

#include "tesela/base/error.hpp"
#include "tesela/cli/progress_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace tesela::bench {
namespace {

/// Beginnings of the names of tables that hold times, or what depends on the last bit of a sum: an optimiser's path
/// does, and a rank.
constexpr std::array<std::string_view, 9> measured{"redistribution_", "prediction",        "geo_recovery",
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
    return std::ranges::any_of(measured, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

Row check_files(const std::string& bar, const std::vector<std::string>& wrong) {
    return {{"bar", wrong.empty() ? bar : fmt::format("{}: not {}", bar, fmt::join(wrong, ", "))},
            {"value", wrong.size()},
            {"limit", 0},
            {"met", wrong.empty()}};
}

}  // namespace

nlohmann::ordered_json tables_benchmark(const std::string& folder) {
    auto names = csv_files(folder);
    std::vector<std::string> without_origin, unknown;
    for (const std::string& name : names)
        if (read_table(folder + "/" + name).origins.empty()) without_origin.push_back(name);
    Row checks = Row::array();
    checks.push_back(check_files("every table says where it comes from", without_origin));
    cli::ProgressLine progress;
    for (const ComputedTable& table : computed_tables(folder)) {
        progress.show([&] { return table.file; });
        checks.push_back(check_table(table, folder));
        names.erase(table.file);
        if (!table.cases.empty()) names.erase(table.file.substr(0, table.file.rfind(".csv")) + "_means.csv");
    }
    std::ranges::copy_if(names, std::back_inserter(unknown), [](const auto& name) { return !is_measured(name); });
    checks.push_back(check_files("every table is checked, or known to be measured", unknown));
    return {{"checks", checks}};
}

}  // namespace tesela::bench
