#include "tesela/cli/commands.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/density_option.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/overlap_option.hpp"
#include "tesela/cli/plan_report.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/planning.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

/// What every plan takes.
struct PlanRequest {
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    Index points = 0;
    std::optional<std::string> tile{};  ///< a number, or "auto"
    double budget = 60;
    std::string output = "plan.json";
    std::string pictures;
    bool json = false;
    bool quiet = false;
};
struct PlanOfFactorisation {
    PlanRequest request;
    std::string ranks;
};
struct PlanOfEvaluations {
    PlanRequest request;
    std::string ranks;
    geo::OverlapChoice overlap{};
};
struct PlanOfScaling {
    PlanRequest request;
    mds::PlannedScaling scaling;
};

/// What is planned, with so many points and such tiles, and how it is simulated.
struct PlannedWork {
    std::function<plan::Application(Index points, Index tile)> application;
    SimulationOptions simulation{};
};

plan::Application planned_operation(Operation operation, Index points, Index tile) {
    const Tiling tiling = Tiling::square(points, tile);
    const auto submit = [operation, tiling](Engine& engine, const plan::PhaseDistributions& owners) {
        Stream stream(engine);
        run_operation(stream, operation, tiling, owners.second);
    };
    const std::string name(name_in(operation_names, operation));
    return {.name = name,
            .matrix = {.tiles = tiling.grid(), .tile = tile, .operation = operation, .name = operation_matrix},
            .submit = submit,
            .steps = plan::by_antidiagonals({.first = {}, .second = {name}}, operation_matrix)};
}

/// The tile size that --tile says, or those that were compared.
plan::TileChoice choose_tile(const PlanRequest& request, const Platform& platform, const PlannedWork& work,
                             const plan::PlanOptions& with) {
    const auto application = [&](Index tile) {
        plan::Application made = work.application(request.points > 0 ? request.points : request.tiles * tile, tile);
        require_simulable(made);
        return made;
    };
    const std::string text = request.tile.value_or("960");
    if (!is_automatic_tile(text)) {
        const Index tile = parse_tile(text);
        (void)application(tile);
        return {.tile = tile, .tried = {}};
    }
    if (request.points == 0) throw Error("--tile auto needs the size of the matrix in rows: give --n, not --tiles");
    return plan::choose_tile(application, plan::usual_tiles(request.points), platform, with);
}

/// What is done to a matrix with ranks, and its name in the stream.
struct RankedMatrix {
    Operation operation;
    const char* name;
};
/// The ranks of a trace, of tiles of one size: without --tile the plan is for that.
RankModel take_ranks(PlanRequest& request, const std::string& text, const RankedMatrix& matrix) {
    if (text.empty()) return {};
    if (request.tile && is_automatic_tile(*request.tile))
        throw Error("--ranks are of tiles of one size: leave --tile out, and it is that");
    RanksUse use{.tiles = request.tiles, .tile = std::nullopt, .operation = matrix.operation};
    if (request.tile) use.tile = parse_tile(*request.tile);
    if (request.points > 0) use.tiles = ceil_div(request.points, use.tile ? *use.tile : tile_of_ranks(text));
    TracedRanks ranks = read_ranks(text, use);
    request.tile = fmt::format("{}", ranks.tiling.rows(0));
    return ranks_from_maps({{matrix.name, std::move(ranks.last)}});
}

void check(const PlanRequest& request) {
    if ((request.tiles > 0) == (request.points > 0))
        throw Error("say how large the matrix is: --tiles N, or --n N for so many rows, one of them");
    if (request.json && is_standard_output(request.output))
        throw Error("--json prints the table and -o - the plan, both to standard output: leave one of them out");
}

/// Found out before the work.
void prepare_outputs(const PlanRequest& request) {
    require_writable(request.output);
    std::error_code problem;
    if (!request.pictures.empty()) std::filesystem::create_directories(request.pictures, problem);
    if (problem) throw Error("the folder {} cannot be made: {}", request.pictures, problem.message());
}

plan::PlanOptions plan_options(const PlanRequest& request, const PlannedWork& work, ProgressLine& progress) {
    const auto tell = [&](Index simulated, double best) {
        progress.show([&] {
            return fmt::format("{} strategies simulated, best {}, {} of {}", simulated, format_seconds(best),
                               format_seconds(progress.seconds()), format_seconds(request.budget));
        });
    };
    return {.budget_seconds = request.budget, .simulation = work.simulation, .progress = tell};
}

int make_plan_file(const PlanRequest& request, const Platform& platform, const PlannedWork& work) {
    prepare_outputs(request);
    ProgressLine progress(request.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::yes);
    plan::PlanOptions with = plan_options(request, work, progress);
    plan::TileChoice tile = choose_tile(request, platform, work, with);
    with.known = std::move(tile.strategies);
    with.budget_seconds = std::max(0.0, with.budget_seconds - progress.seconds());
    const Index points = request.points > 0 ? request.points : request.tiles * tile.tile;
    const plan::Application application = work.application(points, tile.tile);
    const plan::Planned planned = make_plan(application, platform, with);
    progress.clear();
    const plan::Plan plan = to_plan(application, platform, planned);
    write_json_file(request.output, to_json(plan));
    if (!request.pictures.empty()) draw_plan(plan, application.matrix, request.pictures);
    if (!request.quiet)
        for (const std::string& note : planned.notes) fmt::print(stderr, "note: {}\n", note);
    if (is_standard_output(request.output)) return success;
    const PlanOutcome outcome{.platform = platform, .tile = tile, .planned = planned, .plan = plan};
    if (request.json)
        fmt::print("{}\n", plan_json(outcome).dump(2));
    else
        print_plan(outcome);
    return success;
}

/// Plans for what `work_on` says on the platform. Every node of mpirun would plan the same: one does it.
int run_plan(const PlanRequest& request, const std::function<PlannedWork(const Platform&)>& work_on) {
    if (const auto rank = rank_by_launcher(); rank && *rank != "0") return success;
    check(request);
    const Platform platform = read_platform(request.platform, request.nodes);
    return make_plan_file(request, platform, work_on(platform));
}

int plan_factorisation(Operation operation, PlanOfFactorisation options) {
    return run_plan(options.request, [&](const Platform&) {
        PlannedWork work{.application = [operation](Index points, Index tile) {
            return planned_operation(operation, points, tile);
        }};
        work.simulation.ranks = take_ranks(options.request, options.ranks, {operation, operation_matrix});
        return work;
    });
}

int plan_evaluations(PlanOfEvaluations options) {
    return run_plan(options.request, [&](const Platform& platform) {
        const geo::PlannedEvaluation any{.overlap = options.overlap};
        PlannedWork work{.application =
                             [any](Index points, Index tile) {
                                 geo::PlannedEvaluation evaluation = any;
                                 evaluation.points = points;
                                 evaluation.tile = tile;
                                 return geo::planned_evaluation(evaluation);
                             },
                         .simulation = as_run(any, platform)};
        work.simulation.ranks = take_ranks(options.request, options.ranks, {Operation::cholesky, geo::planned_matrix});
        return work;
    });
}

int plan_scaling(const PlanOfScaling& options) {
    return run_plan(options.request, [&](const Platform& platform) {
        return PlannedWork{.application = [&](Index points, Index tile) {
            mds::PlannedScaling scaling = options.scaling;
            scaling.points = points;
            scaling.tile = tile;
            return mds::planned_scaling(scaling, platform);
        }};
    });
}

void add_size_options(CLI::App& command, PlanRequest& request) {
    auto* tiles =
        at_least(command.add_option("--tiles", request.tiles, "Tile rows (and columns) of the matrix"), Index{1});
    at_least(command.add_option("--n", request.points, "Instead: rows of the matrix, as observations of geo"), Index{2})
        ->excludes(tiles);
    command.add_option("--tile", request.tile,
                       "Tile size, or auto: sizes are compared by simulation, for as much as two fifths of the budget "
                       "(default: that of --ranks, else 960)");
}

void add_plan_options(CLI::App& command, PlanRequest& request) {
    set_heading(command, "Matrix");
    add_platform_options(command, request.platform, request.nodes);
    set_heading(command, "Machine");
    at_least(command.add_option("--budget", request.budget,
                                "Seconds to look for better strategies than the paper's, which are always simulated"),
             0.0)
        ->capture_default_str();
    set_heading(command, "Search");
    command.add_option("-o,--output", request.output, "Where the plan goes; - is standard output")
        ->capture_default_str();
    command.add_option("--svg", request.pictures, "Folder for pictures of both phases")->type_name("DIR");
    add_json_option(command, request.json);
    add_quiet_option(command, request.quiet);
    set_heading(command, "Output");
    add_example(command,
                fmt::format("tesela plan {} --platform grid5000-lille --nodes 2che+2chi --tiles 50 -o plan.json",
                            command.get_name()));
}

void add_factorisation_options(CLI::App& command, PlanOfFactorisation& options) {
    add_size_options(command, options.request);
    add_ranks_option(command, options.ranks);
    add_plan_options(command, options.request);
}

void add_evaluations_options(CLI::App& command, PlanOfEvaluations& options) {
    add_size_options(command, options.request);
    add_ranks_option(command, options.ranks);
    add_plan_options(command, options.request);
    add_simulated_overlap_option(command, options.overlap);
}

void add_scaling_plan_options(CLI::App& command, PlanOfScaling& options) {
    add_size_options(command, options.request);
    at_least(
        command.add_option("--columns", options.scaling.columns, "Random columns that the matrix is multiplied by"),
        Index{1})
        ->capture_default_str();
    add_plan_options(command, options.request);
}

Command factorisation(Operation operation, std::string summary) {
    return command(std::string(name_in(operation_names, operation)), std::move(summary), add_factorisation_options,
                   [operation](const PlanOfFactorisation& options) { return plan_factorisation(operation, options); });
}

}  // namespace

Command plan_command() {
    return {
        .name = "plan",
        .summary = "Say where each tile goes in each phase, on nodes that differ",
        .commands = {command("geo", "Likelihood evaluations, as tesela fit makes them", add_evaluations_options,
                             plan_evaluations),
                     command("mds", "Distances that are read, their Gram matrix and its product with random columns",
                             add_scaling_plan_options, plan_scaling),
                     factorisation(Operation::lu, "LU factorization without pivoting"),
                     factorisation(Operation::cholesky, "Cholesky factorization")}};
}

}  // namespace tesela::cli
