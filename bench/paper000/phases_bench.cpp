#include "paper000/phases_bench.hpp"

#include "checks.hpp"
#include "paper000/traced_run.hpp"
#include "timing.hpp"

#include "tesela/apps/geo/planning.hpp"
#include "tesela/base/error.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/plan/phase_program.hpp"
#include "tesela/plan/recipe.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tesela::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index tile_size = 960;  // section 5.1
constexpr const char* lille = "grid5000-lille-gsl";

plan::Application evaluation(Index tiles) {
    return geo::planned_evaluation({.points = tiles * tile_size,
                                    .tile = tile_size,
                                    .overlap = geo::Overlap::oversubscribe,
                                    .max_pending = std::numeric_limits<Index>::max()});
}

plan::PhaseModel model_of(const plan::Application& application, const Platform& platform,
                          const plan::NodeChoice& choice = {}) {
    plan::PhaseModel model{.counts = count_steps(recorded(application, node_count(platform)), application.steps),
                           .groups = {}};
    model.groups = resource_groups(platform, model.counts, choice);
    return model;
}

/// lp_constrained, with the second phase on these node types.
plan::PhaseDistributions by_program(const plan::Application& application, const Platform& platform,
                                    const plan::NodeChoice& choice) {
    const plan::PhaseModel model = model_of(application, platform, choice);
    const plan::PhaseSolution solution = solve_phases(model);
    if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
    const Index nodes = node_count(platform);
    return distributions_of({.family = "1d1d_constrained",
                             .second = phase_powers(model, solution, plan::Part::second, nodes),
                             .first = phase_powers(model, solution, plan::Part::first, nodes)},
                            application.matrix, platform);
}

cli::TitledTrace simulate(const std::string& title, const std::string& nodes, Index tiles,
                          const plan::NodeChoice& choice) {
    const Platform platform = cli::read_platform(lille, nodes);
    const plan::Application application = evaluation(tiles);
    constexpr CriticalWorker critical = CriticalWorker::shared_core;
    return traced_run(title, platform, critical, [&](ScheduleObserver& observer) {
        SimulatedEngine engine(platform, {.critical = critical, .observers = {&observer}});
        application.submit(engine, by_program(application, platform, choice));
        (void)engine.result();
    });
}

}  // namespace

Json phases_benchmark(const PhasesOptions& options) {
    if (options.repetitions < 1) throw Error("--repetitions must be at least 1");
    const Platform platform = cli::read_platform(lille, "4cle+6che+6chi+2cho");
    Json rows = Json::array();
    Json checks = Json::array();
    for (const Index tiles : options.tiles) {
        const plan::PhaseModel model = model_of(evaluation(tiles), platform);
        Best best;
        plan::PhaseSolution solution;
        for (int k = 0; k < options.repetitions; ++k) best.add(seconds_of([&] { solution = solve_phases(model); }));
        if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
        rows.push_back({{"steps", model.counts.steps},
                        {"groups", model.groups.size()},
                        {"types", model.counts.types.size()},
                        {"seconds", best.seconds()},
                        {"gap", solution.certificate.gap}});
        checks.push_back(
            at_most(fmt::format("seconds of the program of {} steps", tiles), best.seconds(), options.most_seconds));
        checks.push_back(at_most(fmt::format("gap to its dual, {} steps", tiles), solution.certificate.gap, 1e-6));
    }
    return {{"programs", rows}, {"checks", checks}};
}

Json figure12_benchmark(const Figure12Options& options) {
    const std::vector<cli::TitledTrace> runs{simulate("6 Che + 6 Chi", "6che+6chi", options.tiles, {}),
                                             simulate("6 Che + 6 Chi + 2 Cho", "6che+6chi+2cho", options.tiles, {}),
                                             simulate("6 Che + 6 Chi + 2 Cho, GPU nodes only", "6che+6chi+2cho",
                                                      options.tiles, {.first = {}, .second = {0, 6, 2}})};
    const RunsPicture picture = cli::picture_of(
        runs, evaluation_picture(fmt::format("Paper 000, figure 12: {} x {} tiles, lp_constrained, simulated",
                                             options.tiles, options.tiles)));
    const std::string file = options.folder + "/paper000_figure12.svg";
    write_file(file, draw_runs(picture));
    const double two = picture.runs[0].makespan, three = picture.runs[1].makespan, gpus = picture.runs[2].makespan;
    return {{"file", file},
            {"two_types", two},
            {"three_types", three},
            {"gpu_nodes_alone", gpus},
            {"checks",
             {at_most("Cholesky on GPU nodes alone over Cholesky on all (the paper: shorter)", gpus / three, 1)}}};
}

}  // namespace tesela::bench
