#include "tesela/geo/planning.hpp"

#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/sample.hpp"

#include <algorithm>
#include <utility>

namespace tesela::geo {
namespace {

/// Any points: nothing is computed with them.
Observations placeholders(Index points) {
    Observations observations{.coordinates = random_points(points, 0)};
    observations.values = observations.coordinates[0];
    return observations;
}

/// The steps that the stream follows: a worker for critical tasks is the engine's.
Overlap submitted_overlap(const PlannedEvaluation& evaluation) { return evaluation.overlap.value_or(Overlap::order); }

}  // namespace

void submit_evaluation(Stream& stream, const PlannedEvaluation& evaluation, const plan::PhaseDistributions& owners) {
    LikelihoodOptions options{.tile = evaluation.tile,
                              .distribution = owners.second,
                              .generation = owners.first,
                              .overlap = submitted_overlap(evaluation)};
    Likelihood likelihood(stream, placeholders(evaluation.points), {.trend = evaluation.trend}, std::move(options));
    likelihood.evaluate({.sigma2 = 1, .range = 0.1, .smoothness = 0.5, .nugget = 0.1});
}

plan::Application planned_evaluation(const PlannedEvaluation& evaluation) {
    const auto submit = [evaluation](Engine& engine, const plan::PhaseDistributions& owners) {
        StreamOptions options{.name = "geo"};
        if (evaluation.max_pending > 0) options.max_pending = evaluation.max_pending;
        Stream stream(engine, options);
        submit_evaluation(stream, evaluation, owners);
    };
    return {.name = "geo",
            .matrix = {.tiles = Tiling::square(evaluation.points, evaluation.tile).grid(),
                       .tile = evaluation.tile,
                       .operation = Operation::cholesky,
                       .name = planned_matrix},
            .submit = submit,
            .steps = plan::by_antidiagonals({.first = {"generate"}, .second = {"cholesky"}}, planned_matrix),
            .priorities = submitted_overlap(evaluation) >= Overlap::priorities ? "critical_path" : "chameleon"};
}

SimulationOptions as_run(const PlannedEvaluation& evaluation, const Platform& platform) {
    const bool has_gpus = std::ranges::any_of(platform.node_types, [](const NodeType& type) {
        return std::ranges::any_of(type.workers, [](const WorkerGroup& g) { return g.processor == Processor::gpu; });
    });
    return {.scheduler = has_gpus ? SimulatedScheduler::earliest_finish : SimulatedScheduler::priority,
            .critical = critical_worker(evaluation.overlap)};
}

}  // namespace tesela::geo
