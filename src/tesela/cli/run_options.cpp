#include "tesela/cli/run_options.hpp"

#include "tesela/algs/tile_size.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/blas_restart.hpp"
#include "tesela/distribution/catalogue.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

namespace tesela::cli {
void add_engine_options(CLI::App& command, RunOptions& options) {
    fit_blas_before(command);
    command
        .add_option("--workers", options.workers,
                    "Workers per node (0: the usable cores of a machine, divided among the nodes on it)")
        ->capture_default_str();
    command.add_option("--scheduler", options.scheduler,
                       "streams (by priority), or one of StarPU's such as lws or dmdas (default: streams)");
    command.add_flag_callback(
        "--critical-worker", [&options] { options.critical_worker = CriticalWorker::shared_core; },
        "Leave one core to submission, with one more worker on it for critical tasks only");
    command.add_flag("--quiet", options.quiet, "Print no line per node and no progress, only warnings");
    auto* trace =
        command.add_option("--trace", options.trace, "Record the run into this file (see tesela trace --help)");
    command
        .add_option("--trace-modules", options.trace_modules,
                    "What to record: all, or some of tasks,comms,memory,app,papi")
        ->needs(trace)
        ->capture_default_str();
    command.add_option("--trace-counters", options.trace_counters, "Hardware counters of module papi, at most four")
        ->needs(trace)
        ->capture_default_str();
}

void add_tile_option(CLI::App& command, RunOptions& options) {
    command.add_option("--tile", options.tile, "Rows and columns of a tile, or auto")->capture_default_str();
}

void add_tiling_options(CLI::App& command, RunOptions& options) {
    add_tile_option(command, options);
    command
        .add_option("--dist", options.distribution,
                    "Distribution: a family such as block_cyclic:2x3, 1d1d or sbc (see tesela dist make --help), or a "
                    "JSON file")
        ->capture_default_str();
}

void add_json_option(CLI::App& command, RunOptions& options) {
    command.add_flag("--json", options.json, "Print the results as JSON");
}

std::unique_ptr<StarpuEngine> start_engine(const RunOptions& options) {
    auto engine = std::make_unique<StarpuEngine>(
        StarpuOptions{.workers = options.workers,
                      .scheduler = options.scheduler,
                      .critical_worker = options.critical_worker,
                      .resource_workers = options.resource_workers,
                      .warnings = options.quiet && !options.shows_warnings ? Warnings::print : Warnings::keep});
    engine->require_alike("--trace", options.trace.empty() ? 0 : 1);
    if (!options.trace.empty())
        engine->start_trace({.path = options.trace,
                             .modules = trace::parse_modules(options.trace_modules),
                             .counters = options.trace_counters});
    const auto lines = engine->start_lines();
    if (!options.quiet && engine->this_node() == NodeId{0})
        for (const std::string& line : lines) fmt::print(stderr, "{}\n", line);
    return engine;
}

bool is_automatic_tile(const std::string& text) { return text == "auto"; }

Index parse_tile(const std::string& text) {
    Index size = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, size);
    if (error != std::errc{} || stopped != end || size < 1)
        throw Error("--tile {} is neither a size of at least 1 nor auto", text);
    return size;
}

Index tile_size(const RunOptions& options, Index n, const Engine& engine) {
    return is_automatic_tile(options.tile) ? automatic_tile_size(n, engine.total_workers()) : parse_tile(options.tile);
}

Distribution distribution(const RunOptions& options, GridSize tiles, const Engine& engine, Operation operation) {
    return make_distribution(options.distribution, tiles, engine.node_count(), operation);
}

}  // namespace tesela::cli
