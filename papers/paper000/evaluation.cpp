#include "paper000/evaluation.hpp"

#include "tesela/distribution/families.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/mds/planning.hpp"

#include <limits>

namespace tesela::bench {
namespace {

constexpr Index evaluation_tile = 960;  // section 5.1
constexpr Index scaling_tile = 640;
constexpr Index panel_tiles = 15;
constexpr double mebibyte = 1024.0 * 1024;

MemoryPolicy policy_from(bool ahead) { return ahead ? MemoryPolicy::ahead : MemoryPolicy::at_submission; }

}  // namespace

AllocationCosts costs_of_memory(MemoryPolicy policy) {
    return {.policy = policy,
            .pinned = {.seconds = 2.3e-3, .seconds_per_byte = (61e-3 - 2.3e-3) / (511 * mebibyte)},
            .on_gpu = {.seconds = 0.7e-3}};
}

SimulationResult simulate_evaluation(const SimulatedEvaluation& evaluation) {
    const bool critical = evaluation.overlap == geo::Overlap::oversubscribe;
    const bool ahead = evaluation.overlap >= geo::Overlap::memory;
    SimulatedEngine engine(evaluation.platform,
                           {.critical = critical ? CriticalWorker::shared_core : CriticalWorker::none,
                            .allocation = costs_of_memory(policy_from(ahead)),
                            .observers = evaluation.observers});
    // StarPU, unless told otherwise, submits without a limit.
    Stream s(engine, {.name = "geo", .max_pending = std::numeric_limits<Index>::max()});
    const Distribution owners =
        squarest_block_cyclic({evaluation.tiles, evaluation.tiles}, node_count(evaluation.platform));
    geo::submit_evaluation(s,
                           {.points = evaluation.tiles * evaluation_tile,
                            .tile = evaluation_tile,
                            .overlap = evaluation.overlap,
                            .trend = geo::Trend::none},
                           {owners, owners});
    return engine.result();
}

plan::Application planned_evaluation(Index tiles) {
    return geo::planned_evaluation({.points = tiles * evaluation_tile,
                                    .tile = evaluation_tile,
                                    .overlap = geo::Overlap::oversubscribe,
                                    .max_pending = std::numeric_limits<Index>::max()});
}

SimulationResult simulate_scaling(const SimulatedScaling& scaling) {
    const bool ahead = scaling.step >= StreamingStep::allocation;
    SimulatedEngine engine(scaling.platform,
                           {.allocation = costs_of_memory(policy_from(ahead)), .observers = scaling.observers});
    Stream s(engine, {.name = "mds", .max_pending = std::numeric_limits<Index>::max()});
    const Distribution owners =
        block_cyclic({scaling.tiles, scaling.tiles}, {.p = node_count(scaling.platform), .q = 1});
    mds::submit_scaling(s,
                        {.points = scaling.tiles * scaling_tile,
                         .tile = scaling_tile,
                         .columns = scaling.columns,
                         .step = scaling.step,
                         .panel_tiles = panel_tiles},
                        {read_owners(scaling.step, owners), owners});
    return engine.result();
}

}  // namespace tesela::bench
