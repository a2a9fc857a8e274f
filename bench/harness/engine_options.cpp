#include "harness/engine_options.hpp"

#include "tesela/algs/tile_size.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>

namespace tesela::bench {

void add_engine_options(CLI::App& command, EngineOptions& options) {
    command
        .add_option("--workers", options.workers,
                    "Workers per node (0: the usable cores of a machine, divided among the nodes on it)")
        ->capture_default_str();
    command.add_flag_callback(
        "--critical-worker", [&options] { options.critical_worker = CriticalWorker::shared_core; },
        "Leave one core to submission, with one more worker on it for critical tasks only");
    command.add_option("--trace", options.trace, "Record the run into this file (see tesela trace --help)");
    command.add_flag("--quiet", options.quiet, "Print no line per node and no progress, only warnings");
}

void add_tile_option(CLI::App& command, Index& tile) {
    command.add_option("--tile", tile, "Tile size; 0: as the machine suggests")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
}

void add_distribution_option(CLI::App& command, std::string& distribution) {
    command
        .add_option("--dist", distribution,
                    "Distribution: a family such as block_cyclic:2x3, 1d1d or sbc (see tesela dist make --help), or a "
                    "JSON file")
        ->capture_default_str();
}

std::unique_ptr<StarpuEngine> start_engine(const EngineOptions& options) {
    auto engine =
        std::make_unique<StarpuEngine>(StarpuOptions{.workers = options.workers,
                                                     .critical_worker = options.critical_worker,
                                                     .resource_workers = options.resource_workers,
                                                     .warnings = options.quiet ? Warnings::print : Warnings::keep});
    engine->require_alike("--trace", options.trace.empty() ? 0 : 1);
    if (!options.trace.empty()) engine->start_trace({.path = options.trace});
    const auto lines = engine->start_lines();
    if (!options.quiet && engine->is_first())
        for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
    return engine;
}

Index tile_size(Index wanted, Index n, const Engine& engine) {
    return wanted > 0 ? wanted : automatic_tile_size(n, engine.total_workers());
}

}  // namespace tesela::bench
