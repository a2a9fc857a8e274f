#pragma once

#include "tesela/base/progress_line.hpp"
#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/starpu/engine.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

/// What every command that runs tasks takes.
struct RunOptions : StarpuOptions {
    std::string tile = "auto";
    std::string distribution = "block_cyclic";
    bool json = false;
    bool quiet = false;
    bool shows_warnings = false;  ///< the command does so itself
    std::string trace;
    trace::Options recorded;  ///< what goes into the trace
};

/// What only a developer of an engine sets: a key, what it takes, what that means, and what is done with it, which
/// throws Error where it is not that.
struct EngineKey {
    std::string name;
    std::string value;
    std::string help;
    std::function<void(const std::string&)> set;
};
/// Adds --engine KEY=VALUE, which may be given several times.
void add_engine_keys(CLI::App& command, const std::vector<EngineKey>& keys);
/// The key of what a trace records.
[[nodiscard]] EngineKey trace_modules_key(trace::Options& recorded);

/// Adds --workers.
void add_workers_option(CLI::App& command, RunOptions& options);
/// Adds --quiet.
void add_quiet_option(CLI::App& command, bool& quiet);
/// Adds --workers, --quiet, --trace and --engine.
void add_engine_options(CLI::App& command, RunOptions& options);
/// Adds --tile.
void add_tile_option(CLI::App& command, RunOptions& options);
/// Adds --tile and --dist.
void add_tiling_options(CLI::App& command, RunOptions& options);
/// Adds --json.
void add_json_option(CLI::App& command, bool& json);
inline void add_json_option(CLI::App& command, RunOptions& options) { add_json_option(command, options.json); }

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

}  // namespace tesela::cli
