#pragma once

#include "tesela/starpu/engine.hpp"

#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace tesela::bench {

/// The engine that an experiment runs on.
struct EngineOptions {
    int workers = 0;
    CriticalWorker critical_worker = CriticalWorker::none;
    int resource_workers = 0;  ///< StarpuOptions::resource_workers
    std::string trace;
    bool quiet = false;
};

/// Adds --workers, --critical-worker, --trace and --quiet.
void add_engine_options(CLI::App& command, EngineOptions& options);

/// Starts it and the trace that --trace asks for, with a line per node on stderr unless quiet.
[[nodiscard]] std::unique_ptr<StarpuEngine> start_engine(const EngineOptions& options);

/// Adds --tile, whose 0 tile_size() replaces.
void add_tile_option(CLI::App& command, Index& tile);
/// Adds --dist, for make_distribution().
void add_distribution_option(CLI::App& command, std::string& distribution);

/// The size of tiles of an n x n matrix: what is asked for, or, for 0, what suits the engine.
[[nodiscard]] Index tile_size(Index wanted, Index n, const Engine& engine);

}  // namespace tesela::bench
