#include "tesela/cli/commands.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/density_option.hpp"
#include "tesela/cli/factor_options.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/output.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/mds/planning.hpp"
#include "tesela/platform/main_memory.hpp"
#include "tesela/sim/gpu_traffic.hpp"
#include "tesela/sim/schedule_trace.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tesela::cli {
namespace {

enum class NetworkChoice : std::uint8_t { ports, simgrid };
constexpr Names<NetworkChoice, 2> network_names{{{NetworkChoice::ports, "ports"}, {NetworkChoice::simgrid, "simgrid"}}};
constexpr Names<SimulatedScheduler, 2> scheduler_names{
    {{SimulatedScheduler::earliest_finish, "earliest_finish"}, {SimulatedScheduler::priority, "priority"}}};

struct SimulateOptions {
    std::string operation;
    std::string platform;
    std::string nodes;
    Index tiles = 0;
    std::optional<Index> tile{};
    std::string distribution;
    NetworkChoice network = NetworkChoice::ports;
    SimulatedScheduler scheduler = SimulatedScheduler::earliest_finish;
    std::string overlap;  ///< a step of geo or mds; empty: the one that each has by default
    std::optional<Index> columns{};
    std::optional<int> readers{};
    std::optional<Index> panel{};
    DensityOptions contents;
    Index sent_rank = 0;
    FactorOptions factor{};
    double noise = 0;
    std::uint64_t seed = 0;
    Index max_pending = StreamOptions{}.max_pending;
    std::vector<std::string> limits;
    std::string trace;
    std::string trace_modules = "all";
    bool json = false;
};

constexpr const char* geo_operation = "geo";
constexpr const char* mds_operation = "mds";
constexpr const char* qr_operation = "qr";
bool is_geo(const SimulateOptions& options) { return options.operation == geo_operation; }
bool is_mds(const SimulateOptions& options) { return options.operation == mds_operation; }
bool is_qr(const SimulateOptions& options) { return options.operation == qr_operation; }

/// The step of --overlap, of geo or of mds.
struct OverlapStep {
    geo::OverlapChoice of_geo{};
    StreamingStep of_mds = StreamingStep::priorities;
};
OverlapStep overlap_step(const SimulateOptions& options) {
    OverlapStep step;
    constexpr const char* option = "--overlap";
    if (is_geo(options) && !options.overlap.empty())
        step.of_geo = parse_name(geo::overlap_choice_names, options.overlap, option);
    if (is_mds(options) && !options.overlap.empty())
        step.of_mds = parse_name(streaming_step_names, options.overlap, option);
    return step;
}

/// What the tiles weigh in a distribution made for the operation; geo's matrix is factored by Cholesky, that of mds
/// multiplied, and QR updates each tile in as many steps as LU.
Operation operation_of(const SimulateOptions& options) {
    if (is_mds(options)) return Operation::product;
    if (is_qr(options)) return Operation::lu;
    return is_geo(options) ? Operation::cholesky : parse_name(operation_names, options.operation, "operation");
}

void check_phases(const SimulateOptions& options) {
    const bool is_known = is_mds(options);
    if (!is_known && (options.columns || options.readers || options.panel))
        throw Error("--columns, --readers and --panel are for mds; the operation is {}", options.operation);
    if (!is_known && !is_geo(options) && !options.overlap.empty())
        throw Error("--overlap is for geo and mds, which have several phases; the operation is {}", options.operation);
    if ((is_known || is_qr(options)) && (options.contents.density != "dense" || !options.contents.ranks.empty()))
        throw Error("--density and --ranks are for Cholesky, LU and products of compressed matrices: {} has none",
                    options.operation);
}

void check(const SimulateOptions& options) {
    if (options.tiles < 1) throw Error("--tiles must be at least 1; it is {}", options.tiles);
    if (options.noise < 0) throw Error("--noise must not be negative; it is {}", options.noise);
    if (options.max_pending < 1) throw Error("--max-pending must be at least 1; it is {}", options.max_pending);
    check_phases(options);
    const bool is_cholesky = !is_geo(options) && operation_of(options) == Operation::cholesky;
    if (!is_cholesky && options.factor.diagonal_tile > 0)
        throw Error("--diagonal-tile is for cholesky; the operation is {}", options.operation);
}

/// What tiles hold; a product has several matrices, of which the trace knows each by its name.
TileContents contents_of(const SimulateOptions& options) {
    const RanksUse use{.tiles = options.tiles, .tile = options.tile, .operation = operation_of(options)};
    if (use.operation != Operation::product || options.contents.ranks.empty())
        return tile_contents(options.contents, use, options.seed);
    return tile_contents({}, use, options.seed);
}

RankModel ranks_of_product(const std::string& file) {
    const trace::Trace trace = read_trace_with_warnings("tesela", file);
    const std::vector<TracedRanks> known = traced_ranks(trace);
    if (known.size() == 1) throw Error("{} has ranks of one matrix, and a product has three", file);
    if (known.empty()) (void)ranks_of_matrix(trace, "", file);  // says so
    for (const TracedRanks& ranks : known) require_all_tiles(ranks, trace, file);
    return ranks_from_trace(trace);
}

RankModel known_ranks(const SimulateOptions& options, const TileContents& contents) {
    if (options.contents.ranks.empty()) {
        if (options.contents.density == "dense") return {};
        return ranks_from_density(contents.density, contents.tile);
    }
    if (operation_of(options) == Operation::product) return ranks_of_product(options.contents.ranks);
    return ranks_from_maps({{is_geo(options) ? geo::planned_matrix : operation_matrix, contents.ranks}});
}

RankModel ranks_of(const SimulateOptions& options, const TileContents& contents) {
    RankModel ranks = known_ranks(options, contents);
    if (!ranks.rank && options.sent_rank > 0)
        throw Error("--sent-rank is for tiles of low rank: give --density or --ranks");
    check_sent_rank(options.sent_rank, contents.tile);
    ranks.sent_rank = options.sent_rank;
    return ranks;
}

/// The distribution of --dist and its name; without it block-cyclic for equal nodes, 1d1d by power for others (of
/// the triangle, where the operation works on that), and whole rows by power for mds, as tesela mds has them.
struct ChosenDistribution {
    std::string name;
    Distribution distribution;
};
ChosenDistribution choose_distribution(const SimulateOptions& options, const Platform& platform,
                                       const TileContents& contents) {
    DistributionRequest request;
    request.workload.operation = operation_of(options);
    request.workload.density = contents.density;
    request.nodes = node_count(platform);
    request.seed = options.seed;
    request.powers = update_powers(platform, contents.tile);
    const auto [least, most] = std::ranges::minmax(request.powers);
    ChosenDistribution chosen{.name = options.distribution};
    const bool triangle = stored_tiles(request.workload.operation) == Stored::lower;
    const char* const unequal = triangle ? "1d1d_triangle" : "1d1d";
    if (chosen.name.empty()) chosen.name = is_mds(options) ? "1d" : least == most ? "block_cyclic" : unequal;
    if (chosen.name.starts_with("1d1d_constrained")) request.steps = cholesky_constraint(platform, contents.tile);
    chosen.distribution = make_family(chosen.name, request);
    return chosen;
}

mds::PlannedScaling scaling_of(const SimulateOptions& options, Index tile, StreamingStep step) {
    mds::PlannedScaling scaling{.points = options.tiles * tile, .tile = tile, .step = step};
    if (options.columns) scaling.columns = *options.columns;
    if (options.readers) scaling.readers = *options.readers;
    if (options.panel) scaling.panel_tiles = *options.panel;
    return scaling;
}

void submit(Stream& s, const SimulateOptions& options, Index tile, const OverlapStep& step,
            const Distribution& owners) {
    const Index n = options.tiles * tile;
    if (is_geo(options))
        return geo::submit_evaluation(s, {.points = n, .tile = tile, .overlap = step.of_geo}, {owners, owners});
    if (is_mds(options))
        return mds::submit_scaling(s, scaling_of(options, tile, step.of_mds),
                                   {read_owners(step.of_mds, owners), owners});
    const Tiling tiling = Tiling::square(n, tile);
    if (is_qr(options)) return run_qr(s, tiling, owners);
    run_operation(s, operation_of(options), tiling, owners, options.factor);
}

struct Simulated {
    SimulationResult result;
    Platform platform;
    OverlapStep overlap{};
    std::string distribution;
    Index tile = 0;
    double wall_seconds = 0;
};

SimulationOptions engine_options(const SimulateOptions& options, const TileContents& contents,
                                 const OverlapStep& step) {
    return {.scheduler = options.scheduler,
            .network = options.network == NetworkChoice::simgrid ? simgrid_network : ports_network,
            .noise = options.noise,
            .seed = options.seed,
            .ranks = ranks_of(options, contents),
            .critical = is_geo(options) ? geo::critical_worker(step.of_geo) : CriticalWorker::none};
}

/// The number that a text is, if it is one above 0.
std::optional<Index> count_in(std::string_view text) {
    Index count = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (problem != std::errc{} || end != text.data() + text.size() || count < 1) return {};
    return count;
}

/// --limit NAME=N, on all node types. Returns the names.
std::set<std::string> set_limits(const SimulateOptions& options, Platform& platform) {
    std::set<std::string> names;
    for (const std::string& text : options.limits) {
        const std::size_t equals = text.find('=');
        const auto count =
            equals == std::string::npos ? std::nullopt : count_in(std::string_view(text).substr(equals + 1));
        if (equals == 0 || !count)
            throw Error(
                "--limit takes a kernel or resource and how many tasks of it run at a time on a node, as "
                "dgemm=3; it is \"{}\"",
                text);
        const std::string name = text.substr(0, equals);
        if (!names.insert(name).second) throw Error("--limit names {} twice", name);
        for (NodeType& type : platform.node_types) type.limits[name] = *count;
    }
    return names;
}

/// A name that nothing in the run has is misspelt.
void check_limits(const std::set<std::string>& names, const Recording& recording) {
    std::set<std::string> known;
    for (const auto& [kernel, count] : recording.count_by_kernel()) known.insert(kernel);
    for (const ResourceLimit& resource : recording.resources) known.insert(resource.name);
    for (const std::string& name : names)
        if (!known.contains(name))
            throw Error("--limit: the run has no kernel or resource \"{}\"; it has {}", name, fmt::join(known, ", "));
}

Simulated simulate(const SimulateOptions& options) {
    const Clock::time_point start = Clock::now();
    check(options);
    Simulated simulated{.platform = read_platform(options.platform, options.nodes)};
    simulated.overlap = overlap_step(options);
    const TileContents contents = contents_of(options);
    if (is_geo(options) && options.tiles * contents.tile < 2) throw Error("geo needs at least two points");
    const auto [name, distribution] = choose_distribution(options, simulated.platform, contents);
    simulated.distribution = name;
    simulated.tile = contents.tile;
    const std::set<std::string> limited = set_limits(options, simulated.platform);

    SimulationOptions with = engine_options(options, contents, simulated.overlap);
    ProgressLine progress;
    with.progress = [&](Index tasks) {
        progress.show([&] {
            return fmt::format("{} tasks simulated, {:.0f} per second", tasks,
                               static_cast<double>(tasks) / progress.seconds());
        });
    };
    std::optional<ScheduleTrace> trace;
    if (!options.trace.empty()) {
        trace.emplace(trace::Options{.path = options.trace, .modules = trace::parse_modules(options.trace_modules)},
                      simulated.platform, with.critical);
        with.observers.push_back(&*trace);
    }
    SimulatedEngine engine(simulated.platform, with);
    {
        Stream s(engine, {.name = options.operation, .max_pending = options.max_pending});
        submit(s, options, contents.tile, simulated.overlap, distribution);
    }
    if (trace) trace->close();
    progress.clear();
    check_limits(limited, engine.recording());
    simulated.result = engine.result();
    if (!options.contents.ranks.empty() && simulated.platform.recompression.empty())
        simulated.result.warnings.push_back(
            fmt::format("platform {} does not say how slow recompression is, and has it as fast as dense products: "
                        "compressed tiles come out two to four times too fast",
                        simulated.platform.name));
    simulated.wall_seconds = seconds_since(start);
    return simulated;
}

/// The step that was simulated, and where nodes of different types differ in it, of each type: "order (che), …".
std::string overlap_name(geo::OverlapChoice choice, const Platform& platform) {
    using geo::Overlap;
    std::map<Overlap, std::vector<std::string>> types;
    for (const NodeType& type : platform.node_types) {
        const bool shares = has_critical_worker(geo::critical_worker(choice), type);
        types[choice.value_or(shares ? Overlap::oversubscribe : Overlap::order)].push_back(type.name);
    }
    if (types.size() == 1) return std::string(geo::name(types.begin()->first));
    std::vector<std::string> steps;
    for (const auto& [step, names] : types)
        steps.push_back(fmt::format("{} ({})", geo::name(step), fmt::join(names, ", ")));
    return fmt::format("{}", fmt::join(steps, ", "));
}

/// The step of --overlap that was simulated; empty where there are none.
std::string overlap_name(const SimulateOptions& options, const Simulated& simulated) {
    if (is_geo(options)) return overlap_name(simulated.overlap.of_geo, simulated.platform);
    if (is_mds(options)) return std::string(name_in(streaming_step_names, simulated.overlap.of_mds));
    return {};
}

GpuTraffic sum_of(const std::vector<GpuTraffic>& nodes) {
    GpuTraffic sum;
    for (const GpuTraffic& node : nodes) {
        sum.to_gpus += node.to_gpus;
        sum.to_host += node.to_host;
        sum.evicted += node.evicted;
    }
    return sum;
}

Json to_json(const GpuTraffic& traffic) {
    return {{"to_gpus", traffic.to_gpus}, {"to_host", traffic.to_host}, {"evicted", traffic.evicted}};
}

Json to_json(const SimulateOptions& options, const Simulated& simulated) {
    const SimulationResult& r = simulated.result;
    Json json{{"operation", options.operation},
              {"platform", simulated.platform.name},
              {"nodes", node_count(simulated.platform)},
              {"tiles", options.tiles},
              {"tile", simulated.tile},
              {"dist", simulated.distribution},
              {"network", name_in(network_names, options.network)},
              {"makespan", r.makespan},
              {"lower_bound", r.lower_bound},
              {"area_bound", r.area_bound},
              {"critical_path", r.critical_path},
              {"tasks", r.tasks},
              {"transfers", r.transfers},
              {"bytes", r.bytes},
              {"utilisation", r.utilisation},
              {"memory_peak", std::ranges::max(r.memory_peak)},
              {"gpus", to_json(sum_of(r.node_gpus))},
              {"wall_seconds", simulated.wall_seconds},
              {"warnings", r.warnings},
              {"per_node", Json::array()}};
    if (const std::string step = overlap_name(options, simulated); !step.empty()) json["overlap"] = step;
    if (is_mds(options)) {
        const mds::PlannedScaling scaling = scaling_of(options, simulated.tile, simulated.overlap.of_mds);
        json["columns"] = scaling.columns;
        json["readers"] = scaling.readers;
        json["panel"] = scaling.panel_tiles;
    }
    for (std::size_t node = 0; node < r.memory_peak.size(); ++node)
        json["per_node"].push_back({{"type", node_type(simulated.platform, NodeId{static_cast<Index>(node)}).name},
                                    {"utilisation", r.node_utilisation[node]},
                                    {"memory_peak", r.memory_peak[node]},
                                    {"gpus", to_json(r.node_gpus[node])}});
    return json;
}

void print_table(const SimulateOptions& options, const Simulated& simulated) {
    const SimulationResult& r = simulated.result;
    const auto line = [](const char* name, const std::string& value) { fmt::print("{:<16}{}\n", name, value); };
    const Index nodes = node_count(simulated.platform);
    line("platform", fmt::format("{}, {} node{}, distribution {}", simulated.platform.name, nodes, plural(nodes),
                                 simulated.distribution));
    if (const std::string step = overlap_name(options, simulated); !step.empty()) line("overlap", step);
    line("makespan", format_seconds(r.makespan));
    line("lower bound", fmt::format("{} (area {}, critical path {})", format_seconds(r.lower_bound),
                                    format_seconds(r.area_bound), format_seconds(r.critical_path)));
    if (r.makespan > 0 && options.contents.density == "dense" && options.contents.ranks.empty())
        line("rate", format_flops(r.flops / r.makespan));
    line("tasks", fmt::format("{}", r.tasks));
    line("sent", fmt::format("{} in {} messages", format_bytes(r.bytes), r.transfers));
    if (const GpuTraffic gpus = sum_of(r.node_gpus); gpus.to_gpus > 0)
        line("GPUs", fmt::format("{} to them, {} back, {} evicted for room", format_bytes(gpus.to_gpus),
                                 format_bytes(gpus.to_host), format_bytes(gpus.evicted)));
    line("utilisation", fmt::format("{:.1f} %", 100 * r.utilisation));
    line("peak memory", fmt::format("{} on a node", format_bytes(std::ranges::max(r.memory_peak))));
    line("simulated in", format_seconds(simulated.wall_seconds));
    fmt::print("\n{:<12}{:>7}{:>14}{:>14}\n", "node type", "nodes", "utilisation", "peak memory");
    std::size_t node = 0;
    for (const NodeType& type : simulated.platform.node_types) {
        double utilisation = 0;
        double memory = 0;
        for (Index k = 0; k < type.count; ++k, ++node) {
            utilisation += r.node_utilisation[node] / static_cast<double>(type.count);
            memory = std::max(memory, r.memory_peak[node]);
        }
        fmt::print("{:<12}{:>7}{:>14}{:>14}\n", type.name, type.count, fmt::format("{:.1f} %", 100 * utilisation),
                   format_bytes(memory));
    }
}

/// A run that nodes have no memory for has no makespan.
void require_memory(const Simulated& simulated) {
    const std::vector<MemoryShortage> shortages =
        memory_shortages(simulated.platform, simulated.result.memory_peak, NeededFor::tiles_and_copies);
    if (shortages.empty()) return;
    const auto others = shortages.size() - 1;
    throw Error(
        "{}{}: take more nodes, or another distribution",
        describe(*std::ranges::max_element(shortages, {}, &MemoryShortage::ratio)),
        others == 0 ? "" : fmt::format(", and {} other node{} too little", others, others == 1 ? " has" : "s have"));
}

int run(const SimulateOptions& options) {
    const Simulated simulated = simulate(options);
    require_memory(simulated);
    for (const std::string& warning : simulated.result.warnings)
        fmt::print(stderr, "tesela simulate: warning: {}\n", warning);
    if (options.json)
        fmt::print("{}\n", to_json(options, simulated).dump(2));
    else
        print_table(options, simulated);
    return success;
}

void add_overlap_and_mds_options(CLI::App& command, SimulateOptions& options) {
    std::vector<std::string> steps = words_of(geo::overlap_choice_names);
    for (const std::string& step : words_of(streaming_step_names))
        if (std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
    allow_only(command.add_option("--overlap", options.overlap,
                                  fmt::format("How far phases overlap, from sync (not at all); each step adds to those "
                                              "before it: {} for geo (auto by default), {} for mds (all by default)",
                                              list_names(geo::overlap_choice_names), list_names(streaming_step_names))),
               steps)
        ->type_name("STEP");
    at_least(command.add_option("--columns", options.columns, "Random columns that mds multiplies by (default: 1000)"),
             Index{1});
    at_least(command.add_option("--readers", options.readers,
                                "Reads at a time on a node of mds, or as many as the platform's limit of them says "
                                "where that is less (default: 5)"),
             1);
    at_least(command.add_option("--panel", options.panel,
                                "Columns of tiles that mds reads at a time, to take tiles from (default: 0: it reads "
                                "tiles)"),
             Index{0});
}

void add_simulate_options(CLI::App& command, SimulateOptions& options) {
    std::vector<std::string> operations = words_of(operation_names);
    operations.emplace_back(qr_operation);
    operations.emplace_back(geo_operation);
    operations.emplace_back(mds_operation);
    allow_only(command.add_option("operation", options.operation,
                                  "What is run; geo: one likelihood evaluation; mds: distances that are read, their "
                                  "Gram matrix and its product with random columns"),
               operations)
        ->required();
    add_platform_options(command, options.platform, options.nodes);
    command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix")
        ->required()
        ->check(CLI::Range(Index{1}, Index{1'000'000}));
    command.add_option("--tile", options.tile, "Tile size (default: that of --ranks, else 960)")
        ->check(CLI::Range(Index{1}, Index{1'000'000}));
    command.add_option("--dist", options.distribution,
                       "Distribution: a family such as block_cyclic:2x3, 1d1d or sbc (see tesela dist make --help), "
                       "or a JSON file (default: block_cyclic for equal nodes; for others 1d1d_triangle, or 1d1d "
                       "where all tiles are worked on; 1d for mds)");
    add_choice(command, "--network", options.network, network_names,
               "ports (fast), or simgrid (fair sharing of links, as a cross-check)");
    add_choice(command, "--scheduler", options.scheduler, scheduler_names,
               "earliest_finish (as StarPU's dmdas), or priority (one list for all workers of a node)");
    add_overlap_and_mds_options(command, options);
    add_density_options(command, options.contents);
    at_least(command.add_option("--sent-rank", options.sent_rank,
                                "Messages with tiles of low rank are as long as with this rank; 0: as they need"),
             Index{0})
        ->capture_default_str();
    add_factor_options(command, options.factor);
    command.add_option("--noise", options.noise, "Durations vary by about this share of themselves, as 0.05")
        ->capture_default_str();
    at_least(command.add_option("--seed", options.seed, "Of noise, density and random families"), std::uint64_t{0})
        ->capture_default_str();
    command
        .add_option("--max-pending", options.max_pending, "Tasks that may be pending on a node before submission waits")
        ->capture_default_str();
    command.add_option("--limit", options.limits,
                       "KERNEL=N: at most N tasks of this kernel run at a time on a node (or of a limited resource); "
                       "can be given several times");
    auto* trace = command.add_option("--trace", options.trace,
                                     "Write the simulated run into this file (see tesela trace --help)");
    command.add_option("--trace-modules", options.trace_modules, "What to write: all, or some of tasks,comms,memory")
        ->needs(trace)
        ->capture_default_str();
    command.add_flag("--json", options.json, "Print the results as JSON");
}

}  // namespace

Command simulate_command() {
    return command("simulate", "Predict how long an algorithm takes on a cluster that a file describes",
                   add_simulate_options, run);
}

}  // namespace tesela::cli
