#include "tesela/plan/plan_file.hpp"

#include "tesela/base/error.hpp"
#include "tesela/base/units.hpp"
#include "tesela/base/whole_number.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/plan/decide_together.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <type_traits>

namespace tesela::plan {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr const char* format_name = "tesela-plan";
constexpr Index format_version = 1;

Index workers_of(const NodeType& type, Processor processor) {
    Index workers = 0;
    for (const WorkerGroup& group : type.workers)
        if (group.processor == processor) workers += group.count;
    return workers;
}

/// Numbers of nodes and tiles: the library would take 1.5 for 1.
void require_whole(const Json& json, const char* key) {
    for (const Json& one : json.is_array() ? json : Json::array({json}))
        if (!whole_number(one)) throw Error("the field {} has {}, which is not a whole number", key, one.dump());
}

template <class T>
T field(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key)) throw Error("the field {} is missing", key);
    if constexpr (std::is_same_v<T, Index> || std::is_same_v<T, std::vector<Index>>) require_whole(json.at(key), key);
    try {
        return json.at(key).get<T>();
    } catch (const Json::exception&) {
        throw Error("the field {} is not what it should be", key);
    } catch (const Error& error) {
        throw Error("the field {}: {}", key, error.what());
    }
}

/// Names stand in messages, which are one line.
std::string name_field(const Json& json, const char* key) {
    auto name = field<std::string>(json, key);
    if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
        throw Error("the field {} has control characters", key);
    return name;
}

Index count_field(const Json& json, const char* key) {
    const auto count = field<Index>(json, key);
    if (count < 0) throw Error("the field {} is {}, below 0", key, count);
    return count;
}

double seconds_field(const Json& json, const char* key) {
    const auto seconds = field<double>(json, key);
    if (seconds < 0) throw Error("the field {} is {}, below 0", key, seconds);
    return seconds;
}

std::vector<PlannedNode> nodes_from(const Json& json) {
    const auto list = field<Json>(json, "nodes");
    if (!list.is_array()) throw Error("the field nodes is not a list");
    std::vector<PlannedNode> nodes;
    for (const Json& node : list)
        nodes.push_back({name_field(node, "type"), count_field(node, "cores"), count_field(node, "gpus")});
    return nodes;
}

Plan from_json(const Json& json) {
    if (field<std::string>(json, "format") != format_name) throw Error("the field format is not \"{}\"", format_name);
    if (const auto version = field<Index>(json, "version"); version != format_version)
        throw Error("the field version is {}; this program reads version {}", version, format_version);
    Plan plan{.application = name_field(json, "application"),
              .platform = name_field(json, "platform"),
              .nodes = nodes_from(json),
              .tile = field<Index>(json, "tile"),
              .priorities = name_field(json, "priorities"),
              .strategy = field<std::string>(json, "strategy"),
              .makespan = seconds_field(json, "makespan"),
              .lower_bound = seconds_field(json, "lower_bound")};
    if (json.contains("lp_ideal") && !json.at("lp_ideal").is_null()) plan.lp_ideal = seconds_field(json, "lp_ideal");
    const auto used = field<Json>(json, "nodes_used");
    plan.first_nodes = field<std::vector<Index>>(used, "first");
    plan.second_nodes = field<std::vector<Index>>(used, "second");
    const auto phases = field<Json>(json, "phases");
    plan.distributions = {.first = field<Distribution>(phases, "first"),
                          .second = field<Distribution>(phases, "second")};
    return plan;
}

void require_among(const std::vector<Index>& used, Index nodes) {
    for (const Index n : used)
        if (n < 0 || n >= nodes) throw Error("the field nodes_used has {}, and there are {} nodes", n, nodes);
}

void check(const Plan& plan) {
    if (plan.tile < 1) throw Error("the field tile is {}; it must be at least 1", plan.tile);
    const Distribution& first = plan.distributions.first;
    const Distribution& second = plan.distributions.second;
    if (first.grid() != second.grid())
        throw Error("its phases have {} x {} and {} x {} tiles", first.grid().rows, first.grid().cols,
                    second.grid().rows, second.grid().cols);
    const auto nodes = static_cast<Index>(plan.nodes.size());
    if (first.nodes() != nodes || second.nodes() != nodes)
        throw Error("its phases are for {} and {} nodes, and it names {}", first.nodes(), second.nodes(), nodes);
    require_among(plan.first_nodes, nodes);
    require_among(plan.second_nodes, nodes);
}

/// Nodes that own a tile.
std::vector<Index> owners_in(const Distribution& distribution, Stored stored) {
    const std::vector<Index> counts = tile_counts(distribution, stored);
    std::vector<Index> nodes;
    for (std::size_t n = 0; n < counts.size(); ++n)
        if (counts[n] > 0) nodes.push_back(static_cast<Index>(n));
    return nodes;
}

}  // namespace

Plan to_plan(const Application& application, const Platform& platform, const Planned& planned) {
    const Strategy& chosen = planned.chosen();
    Plan plan{.application = application.name,
              .platform = platform.name,
              .tile = application.matrix.tile,
              .distributions = chosen.distributions,
              .priorities = application.priorities,
              .strategy = planned.why,
              .makespan = chosen.simulated.makespan,
              .lower_bound = planned.lower_bound,
              .lp_ideal = chosen.lp_ideal};
    for (const NodeType& type : platform.node_types)
        for (Index n = 0; n < type.count; ++n)
            plan.nodes.push_back({type.name, workers_of(type, Processor::cpu), workers_of(type, Processor::gpu)});
    plan.first_nodes = owners_in(plan.distributions.first, application.matrix.stored());
    plan.second_nodes = owners_in(plan.distributions.second, application.matrix.stored());
    return plan;
}

Plan plan_together(Engine& engine, const Application& application, const Platform& platform,
                   const PlanOptions& options) {
    const Json json = decide_together(engine, [&] {
        return Json(to_json(to_plan(application, platform, make_plan(application, platform, options))));
    });
    return from_json(json);
}

Ordered to_json(const Plan& plan) {
    Ordered nodes = Ordered::array();
    for (const PlannedNode& node : plan.nodes)
        nodes.push_back({{"type", node.type}, {"cores", node.cores}, {"gpus", node.gpus}});
    return {{"format", format_name},
            {"version", format_version},
            {"application", plan.application},
            {"platform", plan.platform},
            {"nodes", std::move(nodes)},
            {"nodes_used", {{"first", plan.first_nodes}, {"second", plan.second_nodes}}},
            {"tile", plan.tile},
            {"priorities", plan.priorities},
            {"strategy", plan.strategy},
            {"makespan", plan.makespan},
            {"lower_bound", plan.lower_bound},
            {"lp_ideal", plan.lp_ideal ? Ordered(*plan.lp_ideal) : Ordered()},
            {"phases", {{"first", Json(plan.distributions.first)}, {"second", Json(plan.distributions.second)}}}};
}

Plan plan_from_json(const Json& json, const std::string& file) {
    try {
        Plan plan = from_json(json);
        check(plan);
        return plan;
    } catch (const Error& error) {
        throw Error("{} is not a plan that tesela plan wrote: {}", file, error.what());
    }
}

void require_fits(const Plan& plan, const PlanUse& use, const std::string& file) {
    if (plan.application != use.application)
        throw Error("{} is a plan for {}, and this is {}: plan for that", file, plan.application, use.application);
    if (plan.nodes.size() != use.workers.size())
        throw Error("{} is a plan for {} node{} of {}, and this run has {}: plan for these", file, plan.nodes.size(),
                    plural(plan.nodes.size()), plan.platform, use.workers.size());
    const GridSize tiles = plan.distributions.second.grid();
    if (tiles != use.tiles)
        throw Error("{} is a plan for {} x {} tiles of {}, and this matrix has {} x {}: plan for it", file, tiles.rows,
                    tiles.cols, plan.tile, use.tiles.rows, use.tiles.cols);
    for (std::size_t n = 0; n < use.workers.size(); ++n) {
        const PlannedNode& node = plan.nodes[n];
        if (node.gpus > 0)
            throw Error("{} is a plan for a node {} of type {} with {} GPUs, and runs use cores alone yet", file, n,
                        node.type, node.gpus);
        if (node.cores != use.workers[n])
            throw Error(
                "{} is a plan for a node {} of type {} with {} workers, and here it has {}: plan for this machine",
                file, n, node.type, node.cores, use.workers[n]);
    }
}

}  // namespace tesela::plan
