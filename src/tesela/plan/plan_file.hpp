#pragma once

#include "tesela/plan/planner.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tesela::plan {

/// A node that a plan is for.
struct PlannedNode {
    std::string type;
    Index cores = 0;
    Index gpus = 0;
    friend bool operator==(const PlannedNode&, const PlannedNode&) = default;
};

/// A plan as it is kept: for which machine and matrix, who owns what in which phase, and what to expect.
struct Plan {
    std::string application;
    std::string platform;
    std::vector<PlannedNode> nodes;
    Index tile = 0;
    PhaseDistributions distributions;
    std::vector<Index> first_nodes;   ///< those that own tiles in the first phase
    std::vector<Index> second_nodes;  ///< and in the second
    std::string priorities;           ///< of the tasks, that the expectations count on
    std::string strategy;             ///< for people
    double makespan = 0;
    double lower_bound = 0;
    std::optional<double> lp_ideal{};
};

[[nodiscard]] Plan to_plan(const Application& application, const Platform& platform, const Planned& planned);

/// make_plan() on the first node of an engine, for all of them: every node calls it, and gets the same. Nodes that each
/// planned for themselves would come to different plans where time ends the search. What the first throws, all throw.
[[nodiscard]] Plan plan_together(Engine& engine, const Application& application, const Platform& platform,
                                 const PlanOptions& options);

/// {"format": "tesela-plan", "version": 1, …, "phases": {"first": distribution, "second": distribution}}, and for
/// readers the nodes that own tiles in each phase.
[[nodiscard]] nlohmann::ordered_json to_json(const Plan& plan);
/// Throws Error naming the file that it is from, and the field.
[[nodiscard]] Plan plan_from_json(const nlohmann::json& json, const std::string& file);

/// What a plan is to be used for.
struct PlanUse {
    std::string application;
    GridSize tiles{};
    std::vector<Index> workers;  ///< of the nodes
};
/// Throws Error naming the difference unless the plan is for such nodes and tiles.
void require_fits(const Plan& plan, const PlanUse& use, const std::string& file);

}  // namespace tesela::plan
