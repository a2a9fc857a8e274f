#include "tesela/geo/planning.hpp"

#include "tesela/geo/likelihood.hpp"
#include "tesela/geo/sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

std::string describe_overlap(OverlapChoice choice, const Platform& platform) {
    std::map<Overlap, std::vector<std::string>> types;
    for (const NodeType& type : platform.node_types) {
        const bool shares = has_critical_worker(critical_worker(choice), type);
        types[choice.value_or(shares ? Overlap::oversubscribe : Overlap::order)].push_back(type.name);
    }
    if (types.size() == 1) return std::string(name(types.begin()->first));
    std::vector<std::string> steps;
    for (const auto& [step, names] : types) steps.push_back(fmt::format("{} ({})", name(step), fmt::join(names, ", ")));
    return fmt::format("{}", fmt::join(steps, ", "));
}

}  // namespace tesela::geo
