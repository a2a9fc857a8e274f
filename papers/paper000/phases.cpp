#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/output_folder.hpp"
#include "harness/timing.hpp"
#include "paper000/evaluation.hpp"
#include "paper000/traced_run.hpp"

#include "tesela/base/error.hpp"
#include "tesela/io/platform_file.hpp"
#include "tesela/plan/phase_program.hpp"
#include "tesela/plan/recipe.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tesela::bench {
namespace {

struct PhasesOptions {
    std::vector<Index> tiles{60, 101, 180};
    int repetitions = 3;
};

void add_phases_options(CLI::App& command, PhasesOptions& options) {
    comma_separated(command.add_option("--tiles", options.tiles, "Tile rows, and so steps"));
    command.add_option("--repetitions", options.repetitions, "Best of so many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

struct Figure12Options {
    Index tiles = 101;
    std::string folder = "docs/tables";
};

void add_figure12_options(CLI::App& command, Figure12Options& options) {
    command.add_option("--tiles", options.tiles, "Tile rows of the matrix")->capture_default_str();
    command.add_option("--folder", options.folder, "Where the picture goes")->capture_default_str();
}

constexpr const char* lille_platform = "grid5000-lille-gsl";

plan::PhaseModel phase_model(const plan::Application& application, const Platform& platform,
                             const plan::NodeChoice& choice = {}) {
    plan::PhaseModel model{.counts = count_steps(recorded(application, node_count(platform)), application.steps),
                           .groups = {}};
    model.groups = resource_groups(platform, model.counts, choice);
    return model;
}

/// lp_constrained, with the second phase on these node types.
plan::PhaseDistributions distributions_by_program(const plan::Application& application, const Platform& platform,
                                                  const plan::NodeChoice& choice) {
    const plan::PhaseModel model = phase_model(application, platform, choice);
    const plan::PhaseSolution solution = solve_phases(model);
    if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
    const Index nodes = node_count(platform);
    return distributions_of({.family = "1d1d_constrained",
                             .second = phase_powers(model, solution, plan::Part::second, nodes),
                             .first = phase_powers(model, solution, plan::Part::first, nodes)},
                            application.matrix, platform);
}

TitledTrace traced_program(const std::string& title, const std::string& nodes, Index tiles,
                           const plan::NodeChoice& choice) {
    const Platform platform = read_platform(lille_platform, nodes);
    const plan::Application application = planned_evaluation(tiles);
    constexpr CriticalWorker critical = CriticalWorker::shared_core;
    return traced_run(title, platform, critical, [&](ScheduleObserver& observer) {
        SimulatedEngine engine(platform, {.critical = critical, .observers = {&observer}});
        application.submit(engine, distributions_by_program(application, platform, choice));
        (void)engine.result();
    });
}

/// The linear program of the phases of a likelihood evaluation on the four kinds of nodes of Lille, six groups of
/// workers: how long it takes, best of some, and how well its dual proves it.
Report time_phase_programs(const PhasesOptions& options) {
    constexpr double most_seconds = 2;
    const Platform platform = read_platform(lille_platform, "4cle+6che+6chi+2cho");
    Report report;
    for (const Index tiles : options.tiles) {
        const plan::PhaseModel model = phase_model(planned_evaluation(tiles), platform);
        Best best;
        plan::PhaseSolution solution;
        for (int k = 0; k < options.repetitions; ++k) best.add(seconds_of([&] { solution = solve_phases(model); }));
        if (solution.outcome != lp::Outcome::optimal) throw Error("{}", solution.reason);
        report.rows.push_back({{"steps", model.counts.steps},
                               {"groups", model.groups.size()},
                               {"types", model.counts.types.size()},
                               {"seconds", best.seconds()},
                               {"gap", solution.certificate.gap}});
        report.checks.push_back(
            at_most(fmt::format("seconds of the program of {} steps", tiles), best.seconds(), most_seconds));
        report.checks.push_back(
            at_most(fmt::format("gap to its dual, {} steps", tiles), solution.certificate.gap, 1e-6));
    }
    return report;
}

/// Figure 12 of paper 000: iterations, occupation and memory of an evaluation by the linear program with its
/// constrained distribution, on 6 Chetemis and 6 Chifflets, with 2 Chifflots, and with Chetemis left out of Cholesky.
Report draw_figure12(const Figure12Options& options) {
    const Index tiles = options.tiles;
    const std::vector<TitledTrace> runs{traced_program("6 Che + 6 Chi", "6che+6chi", tiles, {}),
                                        traced_program("6 Che + 6 Chi + 2 Cho", "6che+6chi+2cho", tiles, {}),
                                        traced_program("6 Che + 6 Chi + 2 Cho, GPU nodes only", "6che+6chi+2cho", tiles,
                                                       {.first = {}, .second = {0, 6, 2}})};
    const RunsPicture picture =
        picture_of(runs, evaluation_picture(fmt::format(
                             "Paper 000, figure 12: {} x {} tiles, lp_constrained, simulated", tiles, tiles)));
    OutputFolder folder(options.folder);
    folder.picture("paper000_figure12.svg", draw_runs(picture));
    const double two = picture.runs[0].makespan, three = picture.runs[1].makespan, gpus = picture.runs[2].makespan;
    return {
        .figures = {{"file", folder.files().front()},
                    {"two_types", two},
                    {"three_types", three},
                    {"gpu_nodes_alone", gpus}},
        .checks = {at_most("Cholesky on GPU nodes alone over Cholesky on all (the paper: shorter)", gpus / three, 1)}};
}

}  // namespace

Experiment phases() {
    return experiment(
        "phases", "How long the linear program of an evaluation's phases takes; exit code 1 if longer than 2 seconds",
        add_phases_options, time_phase_programs);
}

Experiment figure12() {
    return experiment("figure12", "Figure 12 of paper 000: three plans as pictures, simulated", add_figure12_options,
                      draw_figure12);
}

}  // namespace tesela::bench
