#include "tesela/cli/plan_report.hpp"

#include "tesela/base/units.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/io/output_file.hpp"
#include "tesela/pictures/owner_map.hpp"
#include "tesela/platform/main_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

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
    for (const auto& [names, s] : rows)
        fmt::print("{:<{}} {:>10} {:>10} {:>8} {:>10} {:>12} {:>8}\n", names, width,
                   format_seconds(s->simulated.makespan), s->lp_ideal ? format_seconds(*s->lp_ideal) : "", s->moved,
                   format_bytes(s->simulated.bytes), fmt::format("{:.1f} %", 100 * s->simulated.utilisation),
                   fmt::format("{:.1f} %", 100 * planned.gain_of(*s)));
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

std::vector<std::string> node_names(const plan::Plan& plan) {
    std::vector<std::string> names;
    for (std::size_t n = 0; n < plan.nodes.size(); ++n) names.push_back(fmt::format("{} {}", n, plan.nodes[n].type));
    return names;
}

}  // namespace

Json plan_json(const PlanOutcome& outcome) {
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
                              {"gain", planned.gain_of(strategy)}});
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

void print_plan(const PlanOutcome& outcome) {
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

void draw_plan(const plan::Plan& plan, const plan::PlannedMatrix& matrix, const std::string& folder) {
    const auto picture = [&](const char* name, const Distribution& distribution, const char* title) {
        const std::vector<Index> counts = tile_counts(distribution, matrix.stored());
        write_file((std::filesystem::path(folder) / name).string(),
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

}  // namespace tesela::cli
