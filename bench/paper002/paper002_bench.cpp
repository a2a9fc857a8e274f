#include "paper002/paper002_bench.hpp"

#include "paper002/bars.hpp"
#include "paper002/experiment.hpp"
#include "timing.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace tesela::bench {
namespace {

std::vector<Experiment> all_experiments() {
    return {switches_experiment(),
            categories_experiment(),
            patterns_experiment(),
            random_experiment(),
            whole_tiles_experiment(),
            scalapack_experiment(),
            qr_experiment(),
            cholesky_experiment(),
            compressed_experiment(),
            overlap_experiment(),
            applications_experiment(),
            simulated_messages_experiment(),
            simulated_patterns_experiment(),
            simulated_random_experiment(),
            simulated_scalapack_experiment(),
            simulated_qr_experiment(),
            simulated_overlap_experiment(),
            simulated_applications_experiment()};
}

bool wanted(const Paper002Options& options, const Experiment& experiment, Index nodes) {
    if (!experiment.runs_on(nodes)) return false;
    return options.only.empty() || std::ranges::find(options.only, experiment.name) != options.only.end();
}

std::string table_name(const Experiment& experiment) { return "redistribution_" + experiment.name; }

/// What is collected on the way.
struct Report {
    Row files = Row::array();
    Row checks = Row::array();
};

/// Runs one and, on node 0, writes its files.
void perform(const Experiment& experiment, Laboratory& lab, const Paper002Options& options, Report& report) {
    const bool writes = lab.engine.this_node() == NodeId{0};
    if (writes && !options.run.quiet) fmt::print(stderr, "{} …\n", experiment.name);
    const std::vector<Row> rows = experiment.run(lab);
    const std::string stem = fmt::format("{}/{}{}", options.folder, table_name(experiment), options.suffix);
    if (writes && experiment.simulated()) {
        write_table(stem + ".csv", rows, Digits::computed);
        write_file(stem + ".svg", draw_panels(experiment.plot(rows)));
    } else if (writes) {
        const PartTable table(stem + ".csv", "nodes", rows);
        table.write();
        write_file(stem + ".svg", draw_panels(experiment.plot(table.rows())));
    }
    for (const char* extension : {".csv", ".svg"}) report.files.push_back(stem + extension);
    if (lab.scope == Scope::full)
        for (Row& check : paper002_checks(experiment.name, rows)) report.checks.push_back(std::move(check));
}

}  // namespace

std::vector<std::string> paper002_experiments() {
    std::vector<std::string> names;
    for (const Experiment& experiment : all_experiments()) names.push_back(experiment.name);
    return names;
}

void check_options(const Paper002Options& options) {
    const auto names = paper002_experiments();
    for (const std::string& name : options.only)
        if (std::ranges::find(names, name) == names.end())
            throw Error("there is no experiment \"{}\"; there are {}", name, fmt::join(names, ", "));
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    if (!std::filesystem::is_directory(options.folder)) throw Error("there is no folder {}", options.folder);
}

nlohmann::ordered_json paper002_benchmark(StarpuEngine& engine, const Paper002Options& options) {
    constexpr int rounds = 3;
    Report report;
    Laboratory lab{.engine = engine,
                   .rates = measure_rates(engine, rounds),
                   .scope = options.quick ? Scope::quick : Scope::full,
                   .repetitions = options.quick ? std::min(options.repetitions, 2) : options.repetitions};
    const double seconds = seconds_of([&] {
        for (const Experiment& experiment : all_experiments())
            if (wanted(options, experiment, engine.node_count())) perform(experiment, lab, options, report);
    });
    return {{"nodes", engine.node_count()},
            {"network_gbytes_per_second", 1e-9 * lab.rates.network.bandwidth},
            {"memcpy_gbytes_per_second", 1e-9 * lab.rates.memory},
            {"seconds", seconds},
            {"files", report.files},
            {"checks", report.checks}};
}

std::vector<ComputedTable> paper002_computed_tables() {
    std::vector<ComputedTable> tables;
    for (const Experiment& experiment : all_experiments())
        if (experiment.simulated())
            tables.push_back({.file = table_name(experiment) + ".csv",
                              .remake = experiment.again->remake,
                              .quick = experiment.again->quick});
    return tables;
}

}  // namespace tesela::bench
