#pragma once

#include "tesela/cli/density_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/sim/simulated_engine.hpp"
#include "tesela/trace/modules.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tesela::cli {

enum class NetworkChoice : std::uint8_t { ports, simgrid };

/// What every simulation takes.
struct SimulateOptions {
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    std::optional<Index> tile{};
    std::string distribution;  ///< empty: the usual one of the operation
    NetworkChoice network = NetworkChoice::ports;
    SimulationOptions engine{};
    Index max_pending = StreamOptions{}.max_pending;
    std::vector<std::string> limits;
    std::string trace;
    trace::Options recorded;
    bool json = false;
};

/// Adds them.
void add_simulate_options(CLI::App& command, SimulateOptions& options);

/// What is simulated.
struct SimulatedWork {
    std::string name;
    Operation operation = Operation::cholesky;  ///< what a distribution weighs tiles by
    TileContents contents;
    RankModel ranks{};  ///< of its compressed matrices
    CriticalWorker critical = CriticalWorker::none;
    std::string distribution{};  ///< without --dist; empty: usual_family
    std::function<void(Stream& stream, const Distribution& owners)> submit{};
    std::string overlap{};          ///< how far its phases overlap, where it has several
    Json details = Json::object();  ///< what is told besides
    std::vector<std::string> warnings{};
};

/// Simulates it and prints what came out. Throws Error where a node has no memory for it.
int simulate(const SimulateOptions& options, Platform platform, const SimulatedWork& work);

}  // namespace tesela::cli
