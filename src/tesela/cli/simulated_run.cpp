#include "tesela/cli/simulated_run.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/progress_line.hpp"
#include "tesela/base/units.hpp"
#include "tesela/cli/choice_option.hpp"
#include "tesela/cli/help_groups.hpp"
#include "tesela/cli/number_option.hpp"
#include "tesela/cli/platform_option.hpp"
#include "tesela/cli/run_options.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/platform_constraint.hpp"
#include "tesela/platform/main_memory.hpp"
#include "tesela/sim/gpu_traffic.hpp"
#include "tesela/sim/schedule_trace.hpp"
#include "tesela/sim/simgrid/simgrid_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

namespace tesela::cli {
namespace {

constexpr Names<NetworkChoice, 2> network_names{{{NetworkChoice::ports, "ports"}, {NetworkChoice::simgrid, "simgrid"}}};
constexpr Names<SimulatedScheduler, 2> scheduler_names{
    {{SimulatedScheduler::earliest_finish, "earliest_finish"}, {SimulatedScheduler::priority, "priority"}}};

std::vector<EngineKey> keys_of(SimulateOptions& options) {
    return {{.name = "scheduler",
             .value = "earliest_finish|priority",
             .help = "as StarPU's dmdas (the default), or one list for all workers of a node",
             .set =
                 [&](const std::string& value) {
                     options.engine.scheduler = parse_name(scheduler_names, value, "scheduler");
                 }},
            {.name = "max-pending",
             .value = "N",
             .help = fmt::format("tasks that may be pending on a node before submission waits (default: {})",
                                 options.max_pending),
             .set =
                 [&](const std::string& value) {
                     const auto count = number_in<Index>(value);
                     if (!count || *count < 1) throw Error("max-pending must be at least 1; it is {}", value);
                     options.max_pending = *count;
                 }},
            trace_modules_key(options.recorded)};
}

/// --limit NAME=N, on all node types.
void set_limits(const std::vector<std::string>& limits, Platform& platform) {
    std::set<std::string> names;
    for (const std::string& text : limits) {
        const std::size_t equals = text.find('=');
        const auto count = equals == std::string::npos ? std::nullopt : number_in<Index>(text.substr(equals + 1));
        if (equals == 0 || !count || *count < 1)
            throw Error(
                "--limit takes a kernel or resource and how many tasks of it run at a time on a node, as "
                "dgemm=3; it is \"{}\"",
                text);
        const std::string name = text.substr(0, equals);
        if (!names.insert(name).second) throw Error("--limit names {} twice", name);
        for (NodeType& type : platform.node_types) type.limits[name] = *count;
    }
}

/// A name that nothing in the run has is misspelt.
void check_limits(const std::vector<std::string>& limits, const Recording& recording) {
    std::set<std::string> known;
    for (const auto& [kernel, count] : recording.count_by_kernel()) known.insert(kernel);
    for (const ResourceLimit& resource : recording.resources) known.insert(resource.name);
    for (const std::string& limit : limits)
        if (const std::string name = limit.substr(0, limit.find('=')); !known.contains(name))
            throw Error("--limit: the run has no kernel or resource \"{}\"; it has {}", name, fmt::join(known, ", "));
}

/// The owners of tiles, and their name.
struct ChosenDistribution {
    std::string name;
    Distribution distribution;
};
ChosenDistribution choose_distribution(const SimulateOptions& options, const Platform& platform,
                                       const SimulatedWork& work) {
    DistributionRequest request{.workload = {.operation = work.operation, .density = work.contents.density},
                                .nodes = node_count(platform),
                                .seed = options.engine.seed,
                                .powers = update_powers(platform, work.contents.tile)};
    ChosenDistribution chosen{.name = options.distribution.empty() ? work.distribution : options.distribution};
    if (chosen.name.empty()) chosen.name = usual_family(request);
    if (chosen.name.starts_with("1d1d_constrained")) request.steps = cholesky_constraint(platform, work.contents.tile);
    chosen.distribution = make_family(chosen.name, request);
    return chosen;
}

struct Simulated {
    const SimulateOptions& options;
    const SimulatedWork& work;
    const Platform& platform;
    std::string distribution;
    SimulationResult result{};
    double wall_seconds = 0;
};

SimulationOptions engine_options(const SimulateOptions& options, const SimulatedWork& work) {
    SimulationOptions with = options.engine;
    with.network = options.network == NetworkChoice::simgrid ? simgrid_network : ports_network;
    with.ranks = work.ranks;
    with.critical = work.critical;
    return with;
}

void run_on(const Distribution& owners, Simulated& run) {
    const auto& [options, work, platform, distribution, result, seconds] = run;
    SimulationOptions with = engine_options(options, work);
    ProgressLine progress;
    with.progress = [&](Index tasks) {
        progress.show([&] {
            return fmt::format("{} tasks simulated, {:.0f} per second", tasks,
                               static_cast<double>(tasks) / progress.seconds());
        });
    };
    std::optional<ScheduleTrace> trace;
    if (!options.trace.empty()) {
        trace.emplace(trace::Options{.path = options.trace, .modules = options.recorded.modules}, platform,
                      with.critical);
        with.observers.push_back(&*trace);
    }
    SimulatedEngine engine(platform, with);
    {
        Stream stream(engine, {.name = work.name, .max_pending = options.max_pending});
        work.submit(stream, owners);
    }
    if (trace) trace->close();
    progress.clear();
    check_limits(options.limits, engine.recording());
    run.result = engine.result();
    run.wall_seconds = progress.seconds();
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

Json to_json(const Simulated& run) {
    const SimulationResult& r = run.result;
    Json json{{"operation", run.work.name},
              {"platform", run.platform.name},
              {"nodes", node_count(run.platform)},
              {"tiles", run.options.tiles},
              {"tile", run.work.contents.tile},
              {"dist", run.distribution},
              {"network", name_in(network_names, run.options.network)},
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
              {"wall_seconds", run.wall_seconds},
              {"warnings", r.warnings},
              {"per_node", Json::array()}};
    if (!run.work.overlap.empty()) json["overlap"] = run.work.overlap;
    json.update(run.work.details);
    for (std::size_t node = 0; node < r.memory_peak.size(); ++node)
        json["per_node"].push_back({{"type", node_type(run.platform, NodeId{static_cast<Index>(node)}).name},
                                    {"utilisation", r.node_utilisation[node]},
                                    {"memory_peak", r.memory_peak[node]},
                                    {"gpus", to_json(r.node_gpus[node])}});
    return json;
}

void print_table(const Simulated& run) {
    const SimulationResult& r = run.result;
    const auto line = [](const char* name, const std::string& value) { fmt::print("{:<16}{}\n", name, value); };
    const Index nodes = node_count(run.platform);
    line("platform",
         fmt::format("{}, {} node{}, distribution {}", run.platform.name, nodes, plural(nodes), run.distribution));
    if (!run.work.overlap.empty()) line("overlap", run.work.overlap);
    line("makespan", format_seconds(r.makespan));
    line("lower bound", fmt::format("{} (area {}, critical path {})", format_seconds(r.lower_bound),
                                    format_seconds(r.area_bound), format_seconds(r.critical_path)));
    if (r.makespan > 0 && !run.work.ranks.rank) line("rate", format_flops(r.flops / r.makespan));
    line("tasks", fmt::format("{}", r.tasks));
    line("sent", fmt::format("{} in {} messages", format_bytes(r.bytes), r.transfers));
    if (const GpuTraffic gpus = sum_of(r.node_gpus); gpus.to_gpus > 0)
        line("GPUs", fmt::format("{} to them, {} back, {} evicted for room", format_bytes(gpus.to_gpus),
                                 format_bytes(gpus.to_host), format_bytes(gpus.evicted)));
    line("utilisation", fmt::format("{:.1f} %", 100 * r.utilisation));
    line("peak memory", fmt::format("{} on a node", format_bytes(std::ranges::max(r.memory_peak))));
    line("simulated in", format_seconds(run.wall_seconds));
    fmt::print("\n{:<12}{:>7}{:>14}{:>14}\n", "node type", "nodes", "utilisation", "peak memory");
    std::size_t node = 0;
    for (const NodeType& type : run.platform.node_types) {
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
void require_memory(const Simulated& run) {
    const std::vector<MemoryShortage> shortages =
        memory_shortages(run.platform, run.result.memory_peak, NeededFor::tiles_and_copies);
    if (shortages.empty()) return;
    const auto others = shortages.size() - 1;
    throw Error(
        "{}{}: take more nodes, or another distribution",
        describe(*std::ranges::max_element(shortages, {}, &MemoryShortage::ratio)),
        others == 0 ? "" : fmt::format(", and {} other node{} too little", others, others == 1 ? " has" : "s have"));
}

}  // namespace

void add_simulate_options(CLI::App& command, SimulateOptions& options) {
    command.add_option("--tiles", options.tiles, "Tile rows (and columns) of the matrix")
        ->required()
        ->check(CLI::Range(Index{1}, Index{1'000'000}));
    command.add_option("--tile", options.tile, "Tile size (default: that of --ranks, else 960)")
        ->check(CLI::Range(Index{1}, Index{1'000'000}));
    set_heading(command, "Matrix");
    add_platform_options(command, options.platform, options.nodes);
    command.add_option("--dist", options.distribution,
                       "Distribution: a family such as block_cyclic:2x3, 1d1d or sbc (see tesela dist make --help), "
                       "or a JSON file (default: block_cyclic for equal nodes; for others 1d1d_triangle, or 1d1d "
                       "where all tiles are worked on; 1d for mds)");
    add_choice(command, "--network", options.network, network_names,
               "ports (fast), or simgrid (fair sharing of links, as a cross-check)");
    rarely_used(command.add_option("--limit", options.limits,
                                   "KERNEL=N: at most N tasks of this kernel run at a time on a node (or of a limited "
                                   "resource); can be given several times"));
    rarely_used(at_least(command.add_option("--noise", options.engine.noise,
                                            "Durations vary by about this share of themselves, as 0.05"),
                         0.0)
                    ->capture_default_str());
    rarely_used(at_least(command.add_option("--seed", options.engine.seed, "Of noise, density and random families"),
                         std::uint64_t{0})
                    ->capture_default_str());
    add_engine_keys(command, keys_of(options));
    set_heading(command, "Machine");
    command.add_option("--trace", options.trace, "Write the simulated run into this file (see tesela trace --help)");
    add_json_option(command, options.json);
    set_heading(command, "Output");
}

int simulate(const SimulateOptions& options, Platform platform, const SimulatedWork& work) {
    set_limits(options.limits, platform);
    const auto [name, owners] = choose_distribution(options, platform, work);
    Simulated run{.options = options, .work = work, .platform = platform, .distribution = name};
    run_on(owners, run);
    run.result.warnings.insert(run.result.warnings.end(), work.warnings.begin(), work.warnings.end());
    require_memory(run);
    for (const std::string& warning : run.result.warnings)
        fmt::print(stderr, "tesela simulate: warning: {}\n", warning);
    if (options.json)
        fmt::print("{}\n", to_json(run).dump(2));
    else
        print_table(run);
    return success;
}

}  // namespace tesela::cli
