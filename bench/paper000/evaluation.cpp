#include "paper000/evaluation.hpp"

#include "tesela/apps/geo/planning.hpp"
#include "tesela/distribution/families.hpp"

#include <limits>

namespace tesela::bench {
namespace {

constexpr Index tile_size = 960;  // section 5.1
constexpr double mebibyte = 1024.0 * 1024;

}  // namespace

AllocationCosts costs_of_memory(geo::Overlap overlap) {
    return {.policy = overlap >= geo::Overlap::memory ? MemoryPolicy::ahead : MemoryPolicy::at_submission,
            .pinned = {.seconds = 2.3e-3, .seconds_per_byte = (61e-3 - 2.3e-3) / (511 * mebibyte)},
            .on_gpu = {.seconds = 0.7e-3}};
}

SimulationResult simulate_evaluation(const SimulatedEvaluation& evaluation) {
    const bool critical = evaluation.overlap == geo::Overlap::oversubscribe;
    SimulatedEngine engine(evaluation.platform, {.critical = critical ? CriticalSlot::shared_core : CriticalSlot::none,
                                                 .allocation = costs_of_memory(evaluation.overlap),
                                                 .observers = evaluation.observers});
    // StarPU, unless told otherwise, submits without a limit.
    Stream s(engine, {.name = "geo", .max_pending = std::numeric_limits<Index>::max()});
    const Distribution owners =
        squarest_block_cyclic({evaluation.tiles, evaluation.tiles}, node_count(evaluation.platform));
    geo::submit_evaluation(s,
                           {.points = evaluation.tiles * tile_size,
                            .tile = tile_size,
                            .overlap = evaluation.overlap,
                            .trend = geo::Trend::none},
                           {owners, owners});
    return engine.result();
}

}  // namespace tesela::bench
