#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/output_folder.hpp"
#include "harness/timing.hpp"
#include "paper002/bars.hpp"
#include "paper002/section.hpp"

#include "tesela/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace tesela::bench {
namespace {

struct Paper002Options {
    std::string folder = "docs/tables";  ///< must exist
    std::string suffix;                  ///< of the names of files, for nodes that are joined in another way
    bool quick = false;                  ///< small sizes: shows that everything works
    int repetitions = 5;
    std::vector<std::string> only;  ///< sections by name; none means all
    EngineOptions engine;
};

std::vector<Section> all_sections() {
    return {switches_section(),
            categories_section(),
            patterns_section(),
            random_section(),
            whole_tiles_section(),
            scalapack_section(),
            qr_section(),
            cholesky_section(),
            compressed_section(),
            overlap_section(),
            applications_section(),
            simulated_messages_section(),
            simulated_patterns_section(),
            simulated_random_section(),
            simulated_scalapack_section(),
            simulated_qr_section(),
            simulated_overlap_section(),
            simulated_applications_section()};
}

std::vector<std::string> section_names() {
    std::vector<std::string> names;
    for (const Section& section : all_sections()) names.push_back(section.name);
    return names;
}

void add_paper002_options(CLI::App& command, Paper002Options& options) {
    command.add_option("--folder", options.folder, "Where the files go")->capture_default_str();
    command.add_option("--suffix", options.suffix, "Of the names of the files, as _10gbit");
    command.add_flag("--quick", options.quick, "Small sizes: only to see that everything works");
    command.add_option("--repetitions", options.repetitions, "Best of so many")->capture_default_str();
    comma_separated(
        command.add_option("--only", options.only, fmt::format("Some of {}", fmt::join(section_names(), ","))));
    add_engine_options(command, options.engine);
}

void check_paper002_options(const Paper002Options& options) {
    const auto names = section_names();
    for (const std::string& name : options.only)
        if (std::ranges::find(names, name) == names.end())
            throw Error("there is no experiment \"{}\"; there are {}", name, fmt::join(names, ", "));
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1; it is {}", options.repetitions);
    if (!std::filesystem::is_directory(options.folder)) throw Error("there is no folder {}", options.folder);
}

bool is_wanted(const Paper002Options& options, const Section& section, Index nodes) {
    if (!section.runs_on(nodes)) return false;
    return options.only.empty() || std::ranges::find(options.only, section.name) != options.only.end();
}

std::string section_stem(const Section& section) { return "redistribution_" + section.name; }

/// What is measured keeps the rows of runs on other numbers of nodes, so that several runs fill a table.
void write_section(const Section& section, const std::vector<Row>& rows, const std::string& stem,
                   OutputFolder& folder) {
    if (section.simulated()) {
        folder.table(stem + ".csv", rows, Digits::computed);
        folder.picture(stem + ".svg", draw_panels(section.plot(rows)));
    } else {
        const PartTable table(folder.file(stem + ".csv"), "nodes", rows);
        table.write();
        folder.picture(stem + ".svg", draw_panels(section.plot(table.rows())));
    }
}

/// Runs one and, on node 0, writes its files.
std::vector<Check> perform(const Section& section, Laboratory& lab, const Paper002Options& options,
                           OutputFolder& folder) {
    const bool writes = lab.engine.is_first();
    if (writes && !options.engine.quiet) fmt::print(stderr, "{} …\n", section.name);
    const std::vector<Row> rows = section.run(lab);
    if (writes) write_section(section, rows, section_stem(section) + options.suffix, folder);
    return lab.scope == Scope::full ? paper002_checks(section.name, rows) : std::vector<Check>{};
}

/// Runs the experiments of paper 002 §8 on the nodes at hand and writes redistribution_NAME[SUFFIX].csv and .svg. The
/// checks are those of bars.hpp, none of a quick run.
Report run_paper002(const Paper002Options& options) {
    check_paper002_options(options);
    constexpr int rounds = 3;
    const auto engine = start_engine(options.engine);
    Laboratory lab{.engine = *engine,
                   .rates = measure_rates(*engine, rounds),
                   .scope = options.quick ? Scope::quick : Scope::full,
                   .repetitions = options.quick ? std::min(options.repetitions, 2) : options.repetitions};
    OutputFolder folder(options.folder);
    std::vector<Check> checks;
    const double seconds = seconds_of([&] {
        for (const Section& section : all_sections())
            if (is_wanted(options, section, engine->node_count()))
                for (Check& check : perform(section, lab, options, folder)) checks.push_back(std::move(check));
    });
    return {.figures = {{"nodes", engine->node_count()},
                        {"network_gbytes_per_second", 1e-9 * lab.rates.network.bandwidth},
                        {"memcpy_gbytes_per_second", 1e-9 * lab.rates.memory},
                        {"seconds", seconds},
                        {"files", folder.files()}},
            .checks = std::move(checks)};
}

}  // namespace

Experiment paper002() {
    return experiment(
        "paper002",
        "Tables and pictures of docs/tables about redistribution, for the nodes at hand: papers/paper002/run.sh runs "
        "it on 1, 2 and 4. Exit code 1 unless (but with --quick): 960 to 400 is 2.5 times as fast as pdgemr2d on 2 "
        "nodes and 1.6 times on 4, 128 to 64 1.5 times on 4; without a barrier less time is taken, measured in all and "
        "simulated in each case; correcting a tile size makes Cholesky faster; random takes at most 1.25 times as long "
        "as block-cyclic; the largest messages achieve 0.6 of the bound on 2 nodes; dynamic_volume is twice as fast "
        "where most is saved. What is simulated has limits of its own: docs/benchmarks.md",
        add_paper002_options, run_paper002);
}

std::vector<ComputedTable> paper002_computed_tables() {
    std::vector<ComputedTable> tables;
    for (const Section& section : all_sections())
        if (section.simulated())
            tables.push_back({.file = section_stem(section) + ".csv",
                              .remake = section.again->remake,
                              .quick = section.again->quick});
    return tables;
}

}  // namespace tesela::bench
