#pragma once

#include "tesela/base/progress_line.hpp"
#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/starpu/engine.hpp"

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace tesela::cli {

/// What every command that runs tasks takes.
struct RunOptions {
    int workers = 0;
    std::string scheduler;
    CriticalWorker critical_worker = CriticalWorker::none;
    int resource_workers = 0;  ///< StarpuOptions::resource_workers
    std::string tile = "auto";
    std::string distribution = "block_cyclic";
    bool json = false;
    bool quiet = false;
    bool shows_warnings = false;  ///< the command does so itself
    std::string trace;
    std::string trace_modules = "all";
    std::string trace_counters = "PAPI_TOT_CYC,PAPI_TOT_INS";
};

/// Adds --workers, --scheduler, --critical-worker, --quiet, --trace, --trace-modules and --trace-counters.
void add_engine_options(CLI::App& command, RunOptions& options);
/// Adds --tile.
void add_tile_option(CLI::App& command, RunOptions& options);
/// Adds --tile and --dist.
void add_tiling_options(CLI::App& command, RunOptions& options);
/// Adds --json.
void add_json_option(CLI::App& command, RunOptions& options);

/// Whether long work is to say how far it has come.
[[nodiscard]] inline ProgressLine::Wanted wants_progress(const RunOptions& options) {
    return options.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::yes;
}

/// Starts StarPU and the trace that --trace asks for and, unless quiet, prints a line per node with its warnings on
/// stderr.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_engine(const RunOptions& options);

/// Whether --tile leaves the size to the program.
[[nodiscard]] bool is_automatic_tile(const std::string& text);
/// The size that is written. Throws Error if it is none.
[[nodiscard]] Index parse_tile(const std::string& text);
/// The tile size that --tile asks for, for an n x n matrix on this engine. Throws Error if it is not a size.
[[nodiscard]] Index tile_size(const RunOptions& options, Index n, const Engine& engine);

/// The distribution that --dist asks for, for this operation: a family with arguments, or a JSON file.
[[nodiscard]] Distribution distribution(const RunOptions& options, GridSize tiles, const Engine& engine,
                                        Operation operation);

}  // namespace tesela::cli
