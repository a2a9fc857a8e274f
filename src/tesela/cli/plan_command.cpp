#include "tesela/cli/commands.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/density_option.hpp"
#include "tesela/cli/geo_options.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/mds/planning.hpp"
#include "tesela/pictures/owner_map.hpp"
#include "tesela/plan/plan_file.hpp"
#include "tesela/plan/tile_choice.hpp"
#include "tesela/platform/main_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

struct PlanCommand {
    std::string application;
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    Index points = 0;
    std::optional<std::string> tile{};  ///< a number, or "auto"
    std::string ranks;
    std::optional<Index> columns{};  ///< of the random matrix of mds
    double budget = 60;
    geo::OverlapChoice overlap{};
    std::string output = "plan.json";
    std::string pictures;
    bool json = false;
    bool quiet = false;
};

constexpr const char* geo_application = "geo";
constexpr const char* mds_application = "mds";

geo::PlannedEvaluation evaluation_of(const PlanCommand& options, Index points, Index tile) {
    return {.points = points, .tile = tile, .overlap = options.overlap};
}

plan::Application application_of(const PlanCommand& options, const Platform& platform, Index tile) {
    const Index points = options.points > 0 ? options.points : options.tiles * tile;
    if (options.application == geo_application) return geo::planned_evaluation(evaluation_of(options, points, tile));
    if (options.application == mds_application) {
        mds::PlannedScaling scaling{.points = points, .tile = tile};
        if (options.columns) scaling.columns = *options.columns;
        return mds::planned_scaling(scaling, platform);
    }
    const auto operation = parse_name(operation_names, options.application, "application");
    const Tiling tiling = Tiling::square(points, tile);
    const auto submit = [operation, tiling](Engine& engine, const plan::PhaseDistributions& owners) {
        Stream stream(engine);
        run_operation(stream, operation, tiling, owners.second);
    };
    return {.name = options.application,
            .matrix = {.tiles = tiling.grid(), .tile = tile, .operation = operation, .name = operation_matrix},
            .submit = submit,
            .steps = plan::by_antidiagonals({.first = {}, .second = {options.application}}, operation_matrix)};
}

/// Tasks of an application on N x N tiles, about.
double tasks_of(const PlanCommand& options, Index tiles) {
    const auto side = static_cast<double>(tiles);
    if (options.application == mds_application) return 3 * side * side;
    return side * side * side / (options.application == "lu" ? 3 : 6);
}

/// Each strategy is simulated task by task: a minute and 15 GB for the most that are taken.
void require_simulable(const PlanCommand& options, Index tiles) {
    constexpr double most = 25e6;
    if (const double tasks = tasks_of(options, tiles); tasks > most)
        throw Error(
            "{0} x {0} tiles make about {1:.0f} million tasks, and strategies of at most {2:.0f} million are "
            "simulated: "
            "choose larger tiles",
            tiles, tasks / 1e6, most / 1e6);
}

/// The tile size that --tile says, or those that were compared.
plan::TileChoice tile_of(const PlanCommand& options, const Platform& platform, const plan::PlanOptions& with) {
    const std::string text = options.tile.value_or("960");
    if (!is_automatic_tile(text)) {
        const Index tile = parse_tile(text);
        require_simulable(options, options.points > 0 ? ceil_div(options.points, tile) : options.tiles);
        return {.tile = tile, .tried = {}};
    }
    if (options.points == 0) throw Error("--tile auto needs the size of the matrix in rows: give --n, not --tiles");
    const std::vector<Index> sizes = plan::usual_tiles(options.points);
    require_simulable(options, ceil_div(options.points, std::ranges::max(sizes)));
    return plan::choose_tile([&](Index tile) { return application_of(options, platform, tile); }, sizes, platform,
                             with);
}

/// "960 of 1280: 12.1 s, 960: 11.3 s, …"
std::string describe(const plan::TileChoice& choice) {
    std::vector<std::string> tried;
    for (const plan::TriedTile& one : choice.tried)
        tried.push_back(fmt::format("{}: {}", one.tile, format_seconds(one.makespan)));
    return fmt::format("{} of {}", choice.tile, fmt::join(tried, ", "));
}

/// "14.9 s, 3.36 s of them for tile sizes"
std::string describe_seconds(const plan::TileChoice& tile, const plan::Planned& planned) {
    const std::string all = format_seconds(tile.seconds + planned.seconds);
    return tile.tried.empty() ? all : fmt::format("{}, {} of them for tile sizes", all, format_seconds(tile.seconds));
}

/// What is told of.
struct Outcome {
    const Platform& platform;
    const plan::TileChoice& tile;
    const plan::Planned& planned;
    const plan::Plan& plan;
};

/// What block-cyclic on the fast nodes takes, against which gains are counted, as in the paper.
double reference_makespan(const plan::Planned& planned) {
    for (const plan::Strategy& strategy : planned.strategies)
        if (strategy.name == "bc_fast") return strategy.simulated.makespan;
    return planned.strategies.front().simulated.makespan;
}

double gain_of(const plan::Strategy& strategy, double reference) {
    return reference > 0 ? 1 - strategy.simulated.makespan / reference : 0;
}

/// Bytes that each node needs for the chosen owners.
Json memory_of_nodes(const plan::PlannedMemory& memory, const Platform& platform) {
    Json nodes = Json::array();
    for (std::size_t n = 0; n < memory.peak.size(); ++n) {
        const NodeType& type = node_type(platform, NodeId{static_cast<Index>(n)});
        nodes.push_back({{"type", type.name},
                         {"memory", type.memory == unknown_memory ? Json() : Json(type.memory)},
                         {"first", memory.first[n]},
                         {"second", memory.second[n]},
                         {"peak", memory.peak[n]}});
    }
    return nodes;
}

Json to_json(const Outcome& outcome) {
    const auto& [platform, tile, planned, plan] = outcome;
    Json tried = Json::array();
    for (const plan::TriedTile& one : tile.tried) tried.push_back({{"tile", one.tile}, {"makespan", one.makespan}});
    Json strategies = Json::array();
    for (const plan::Strategy& strategy : planned.strategies)
        strategies.push_back({{"strategy", strategy.name},
                              {"makespan", strategy.simulated.makespan},
                              {"lp_ideal", strategy.lp_ideal ? Json(*strategy.lp_ideal) : Json()},
                              {"moved", strategy.moved},
                              {"bytes", strategy.simulated.bytes},
                              {"utilisation", strategy.simulated.utilisation},
                              {"gain", gain_of(strategy, reference_makespan(planned))}});
    return {{"application", plan.application},
            {"platform", plan.platform},
            {"nodes", plan.nodes.size()},
            {"tile", plan.tile},
            {"tiles_tried", std::move(tried)},
            {"tiles", plan.distributions.second.grid().rows},
            {"strategy", plan.strategy},
            {"makespan", plan.makespan},
            {"lower_bound", plan.lower_bound},
            {"lp_ideal", plan.lp_ideal ? Json(*plan.lp_ideal) : Json()},
            {"simulated", planned.simulated},
            {"seconds", tile.seconds + planned.seconds},
            {"notes", planned.notes},
            {"strategies", std::move(strategies)},
            {"memory", memory_of_nodes(planned.chosen().memory, platform)}};
}

/// What algorithm 2 of paper 000 saves the strategy by the linear program.
void print_moves(const plan::Planned& planned) {
    const auto lp = std::ranges::find(planned.strategies, "lp", &plan::Strategy::name);
    if (lp != planned.strategies.end() && lp->moved_if_independent)
        fmt::print("moved by lp     {} tiles; {} if each phase had a distribution of its own\n", lp->moved,
                   *lp->moved_if_independent);
}

/// Strategies with the same owners are one row, with all their names.
void print_strategies(const plan::Planned& planned) {
    struct StrategyRow {
        std::string names;
        const plan::Strategy* strategy;
    };
    std::vector<StrategyRow> rows;
    for (const plan::Strategy& s : planned.strategies) {
        const auto same = std::ranges::find_if(
            rows, [&](const StrategyRow& row) { return row.strategy->distributions == s.distributions; });
        if (same == rows.end()) {
            rows.push_back({s.name, &s});
            continue;
        }
        same->names += ", " + s.name;
        if (!same->strategy->lp_ideal) same->strategy = &s;
    }
    std::size_t width = 15;
    for (const StrategyRow& row : rows) width = std::max(width, row.names.size());
    fmt::print("{:<{}} {:>10} {:>10} {:>8} {:>10} {:>12} {:>8}\n", "strategy", width, "makespan", "lp ideal", "moved",
               "sent", "utilisation", "gain");
    const double reference = reference_makespan(planned);
    for (const auto& [names, s] : rows)
        fmt::print("{:<{}} {:>10} {:>10} {:>8} {:>10} {:>12} {:>8}\n", names, width,
                   format_seconds(s->simulated.makespan), s->lp_ideal ? format_seconds(*s->lp_ideal) : "", s->moved,
                   format_bytes(s->simulated.bytes), fmt::format("{:.1f} %", 100 * s->simulated.utilisation),
                   fmt::format("{:.1f} %", 100 * gain_of(*s, reference)));
}

/// "2 sdc and 2 sdg"
std::string count_types(const plan::Plan& plan, const std::vector<Index>& nodes) {
    std::vector<std::pair<std::string, Index>> counts;
    for (const Index node : nodes) {
        const std::string& type = plan.nodes[static_cast<std::size_t>(node)].type;
        if (counts.empty() || counts.back().first != type) counts.emplace_back(type, 0);
        ++counts.back().second;
    }
    std::vector<std::string> words;
    for (const auto& [type, count] : counts) words.push_back(fmt::format("{} {}", count, type));
    return fmt::format("{}", fmt::join(words, " and "));
}

/// "2 sdc and 2 sdg in the first phase, 2 sdg in the second, of 4 nodes"
std::string nodes_to_use(const plan::Plan& plan) {
    const std::string second = count_types(plan, plan.second_nodes);
    const std::string phases =
        plan.first_nodes == plan.second_nodes
            ? second
            : fmt::format("{} in the first phase, {} in the second", count_types(plan, plan.first_nodes), second);
    return fmt::format("{}, of {} node{}", phases, plan.nodes.size(), plural(plan.nodes.size()));
}

/// What a node of each type needs at most.
void print_memory(const plan::PlannedMemory& memory, const Platform& platform) {
    fmt::print("\n{:<15} {:>6} {:>12} {:>12} {:>12} {:>12}\n", "memory of a", "nodes", "has", "first phase",
               "second phase", "peak");
    std::size_t node = 0;
    for (const NodeType& type : platform.node_types) {
        double first = 0, second = 0, peak = 0;
        for (Index n = 0; n < type.count; ++n, ++node) {
            first = std::max(first, memory.first[node]);
            second = std::max(second, memory.second[node]);
            peak = std::max(peak, memory.peak[node]);
        }
        fmt::print("{:<15} {:>6} {:>12} {:>12} {:>12} {:>12}\n", type.name, type.count,
                   type.memory == unknown_memory ? "not known" : format_bytes(type.memory), format_bytes(first),
                   format_bytes(second), format_bytes(peak));
    }
}

void print_table(const Outcome& outcome) {
    const auto& [platform, tile, planned, plan] = outcome;
    const GridSize tiles = plan.distributions.second.grid();
    fmt::print("{} of {} x {} tiles of {} on {} node{} of {}\n", plan.application, tiles.rows, tiles.cols, plan.tile,
               plan.nodes.size(), plural(plan.nodes.size()), plan.platform);
    print_strategies(planned);
    fmt::print("chosen          {}\n", plan.strategy);
    print_moves(planned);
    fmt::print("use             {}\n", nodes_to_use(plan));
    if (!tile.tried.empty()) fmt::print("tile size       {}\n", describe(tile));
    fmt::print("lower bound     {}, whoever owns the tiles\n", format_seconds(plan.lower_bound));
    fmt::print("planned in      {}\n", describe_seconds(tile, planned));
    print_memory(planned.chosen().memory, platform);
}

std::vector<std::string> node_names(const plan::Plan& plan) {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < plan.nodes.size(); ++n) names.push_back(fmt::format("{} {}", n, plan.nodes[n].type));
    return names;
}

void draw(const PlanCommand& options, const plan::Plan& plan, const plan::PlannedMatrix& matrix) {
    if (options.pictures.empty()) return;
    const auto picture = [&](const char* name, const Distribution& distribution, const char* title) {
        const std::vector<Index> counts = tile_counts(distribution, matrix.stored());
        write_file((std::filesystem::path(options.pictures) / name).string(),
                   draw_owner_map({.title = fmt::format("{} of {} on {}", title, plan.application, plan.platform),
                                   .distribution = distribution,
                                   .stored = matrix.stored(),
                                   .loads = {counts.begin(), counts.end()},
                                   .ideal = {},
                                   .names = node_names(plan)}));
    };
    picture("first.svg", plan.distributions.first, "First phase");
    picture("second.svg", plan.distributions.second, "Second phase");
}

/// Ranks are of tiles of one size: without --tile the plan is for that.
void take_ranks(PlanCommand& options, plan::PlanOptions& with) {
    if (options.ranks.empty()) return;
    const bool is_geo = options.application == geo_application;
    const Operation operation =
        is_geo ? Operation::cholesky : parse_name(operation_names, options.application, "application");
    RanksUse use{.tiles = options.tiles, .tile = std::nullopt, .operation = operation};
    if (options.tile) use.tile = parse_tile(*options.tile);
    if (options.points > 0) use.tiles = ceil_div(options.points, use.tile ? *use.tile : tile_of_ranks(options.ranks));
    TracedRanks ranks = read_ranks(options.ranks, use);
    options.tile = fmt::format("{}", ranks.tiling.rows(0));
    with.simulation.ranks = ranks_from_maps({{is_geo ? geo::planned_matrix : operation_matrix, std::move(ranks.last)}});
}

void check(const PlanCommand& options) {
    if ((options.tiles > 0) == (options.points > 0))
        throw Error("say how large the matrix is: --tiles N, or --n N for so many rows, one of them");
    if (options.json && is_standard_output(options.output))
        throw Error("--json prints the table and -o - the plan, both to standard output: leave one of them out");
    if (options.overlap && options.application != geo_application)
        throw Error("--overlap is of likelihood evaluations: {} has no such steps", options.application);
    if (!options.ranks.empty() && options.application == mds_application)
        throw Error("--ranks is of matrices that are factored: mds has no compressed one");
    if (!options.ranks.empty() && options.tile && is_automatic_tile(*options.tile))
        throw Error("--ranks are of tiles of one size: leave --tile out, and it is that");
    if (options.columns && options.application != mds_application)
        throw Error("--columns is for mds, which multiplies by so many columns of random numbers; {} has none",
                    options.application);
}

/// Found out before the work.
void prepare_outputs(const PlanCommand& options) {
    require_writable(options.output);
    std::error_code problem;
    if (!options.pictures.empty()) std::filesystem::create_directories(options.pictures, problem);
    if (problem) throw Error("the folder {} cannot be made: {}", options.pictures, problem.message());
}

int run(PlanCommand options) {
    // Every node of mpirun would plan the same: one does it.
    if (const auto rank = rank_by_launcher(); rank && *rank != "0") return success;
    check(options);
    const Platform platform = read_platform(options.platform, options.nodes);
    prepare_outputs(options);
    ProgressLine progress(options.quiet ? ProgressLine::Wanted::no : ProgressLine::Wanted::yes);
    plan::PlanOptions with{.budget_seconds = options.budget};
    if (options.application == geo_application) with.simulation = as_run(evaluation_of(options, 0, 0), platform);
    take_ranks(options, with);
    with.progress = [&](Index simulated, double best) {
        progress.show([&] {
            return fmt::format("{} strategies simulated, best {}, {} of {}", simulated, format_seconds(best),
                               format_seconds(progress.seconds()), format_seconds(options.budget));
        });
    };
    plan::TileChoice tile = tile_of(options, platform, with);
    with.known = std::move(tile.strategies);
    with.budget_seconds = std::max(0.0, with.budget_seconds - progress.seconds());
    const plan::Application application = application_of(options, platform, tile.tile);
    const plan::Planned planned = make_plan(application, platform, with);
    progress.clear();
    const plan::Plan plan = to_plan(application, platform, planned);
    write_json_file(options.output, to_json(plan));
    draw(options, plan, application.matrix);
    if (!options.quiet)
        for (const std::string& note : planned.notes) fmt::print(stderr, "note: {}\n", note);
    if (is_standard_output(options.output)) return success;
    const Outcome outcome{.platform = platform, .tile = tile, .planned = planned, .plan = plan};
    if (options.json)
        fmt::print("{}\n", to_json(outcome).dump(2));
    else
        print_table(outcome);
    return success;
}

void add_plan_options(CLI::App& command, PlanCommand& options) {
    std::vector<std::string> applications{geo_application, mds_application};
    for (const std::string& operation : words_of(operation_names)) applications.push_back(operation);
    std::erase(applications, "gemm");
    allow_only(command.add_option(
                   "application", options.application,
                   "What is planned; geo: likelihood evaluations, as tesela fit makes them; mds: distances that "
                   "are read, their Gram matrix and its product with random columns"),
               applications)
        ->required();
    auto* tiles =
        at_least(command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix"), Index{1});
    at_least(command.add_option("--n", options.points, "Instead: rows of the matrix, as observations of geo"), Index{2})
        ->excludes(tiles);
    command.add_option("--tile", options.tile,
                       "Tile size, or auto: sizes are compared by simulation, for as much as two fifths of the budget "
                       "(default: that of --ranks, else 960)");
    add_ranks_option(command, options.ranks);
    at_least(command.add_option("--columns", options.columns, "Random columns that mds multiplies by (default: 1000)"),
             Index{1});
    set_heading(command, "Matrix");
    add_platform_options(command, options.platform, options.nodes);
    add_overlap_option(command, options.overlap);
    set_heading(command, "Machine");
    at_least(command.add_option("--budget", options.budget,
                                "Seconds to look for better strategies than the paper's, which are always simulated"),
             0.0)
        ->capture_default_str();
    set_heading(command, "Search");
    command.add_option("-o,--output", options.output, "Where the plan goes; - is standard output")
        ->capture_default_str();
    command.add_option("--svg", options.pictures, "Folder for pictures of both phases")->type_name("DIR");
    command.add_flag("--json", options.json, "Print the table as JSON");
    command.add_flag("--quiet", options.quiet, "Print no progress and no notes");
    set_heading(command, "Output");
    add_example(command,
                "tesela plan geo --platform sdumont-gsl --nodes 2sdc+2sdg --tiles 50 --budget 20 -o plan.json");
}

}  // namespace

Command plan_command() {
    return command("plan", "Say where each tile goes in each phase, on nodes that differ", add_plan_options, run);
}

}  // namespace tesela::cli
