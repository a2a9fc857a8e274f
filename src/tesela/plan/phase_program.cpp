#include "tesela/plan/phase_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace tesela::plan {
namespace {

using lp::Range;

constexpr Range at_most_zero{.lower = -lp::infinity, .upper = 0};

/// Workers of a node that run a type at a time.
double workers_at_a_time(const NodeType& node, const WorkerGroup& workers, const TaskType& type) {
    Index count = workers.count;
    for (const std::string& limited : {type.resource, type.kernel})
        if (const auto limit = node.limits.find(limited); limit != node.limits.end())
            count = std::min(count, limit->second);
    return static_cast<double>(count);
}

/// Which parts a node takes part in.
struct PartsOfNode {
    bool first = true;
    bool second = true;
    friend bool operator==(const PartsOfNode&, const PartsOfNode&) = default;
    [[nodiscard]] bool has(Part part) const { return part == Part::first ? first : second; }
};

/// Of one node.
ResourceGroup group_of(const NodeType& node, const WorkerGroup& workers, const StepCounts& counts, PartsOfNode parts) {
    ResourceGroup group{.name = fmt::format("{} {}", node.name, workers.name),
                        .nodes = {},
                        .worker_seconds = {},
                        .group_seconds = {},
                        .workers = static_cast<double>(workers.count)};
    for (const TaskType& type : counts.types) {
        const auto seconds =
            parts.has(type.part) ? kernel_seconds(workers, type.kernel, type.work) : std::optional<double>{};
        group.worker_seconds.push_back(seconds.value_or(never));
        group.group_seconds.push_back(seconds ? *seconds / workers_at_a_time(node, workers, type) : never);
    }
    return group;
}

bool is_of_use(const ResourceGroup& group) {
    return std::ranges::any_of(group.worker_seconds, [](double seconds) { return seconds < never; });
}

/// Per node, until all nodes are known.
void share_among_nodes(ResourceGroup& group) {
    group.workers *= static_cast<double>(group.nodes.size());
    for (double& seconds : group.group_seconds) seconds /= static_cast<double>(group.nodes.size());
}

bool alike(const ResourceGroup& a, const ResourceGroup& b) {
    return a.worker_seconds == b.worker_seconds && a.group_seconds == b.group_seconds && a.workers == b.workers &&
           a.most_share == b.most_share;
}

PartsOfNode parts_of(const NodeChoice& choice, std::size_t type, Index node_of_type) {
    return {.first = choice.allows(Part::first, type, node_of_type),
            .second = choice.allows(Part::second, type, node_of_type)};
}

/// Joins the group that is alike, if there is one.
void add_to(std::vector<ResourceGroup>& groups, ResourceGroup added) {
    const auto same = std::ranges::find_if(groups, [&](const ResourceGroup& known) { return alike(known, added); });
    if (same == groups.end())
        groups.push_back(std::move(added));
    else
        same->nodes.insert(same->nodes.end(), added.nodes.begin(), added.nodes.end());
}

/// The positions of types of a part.
std::vector<std::size_t> types_of(const StepCounts& counts, Part part) {
    std::vector<std::size_t> result;
    for (std::size_t t = 0; t < counts.types.size(); ++t)
        if (counts.types[t].part == part) result.push_back(t);
    return result;
}

/// c_t of (13a): what all tasks of a type would take, all groups together, over the sum of it for the part.
std::vector<double> weights_of(const PhaseModel& model, const std::vector<std::size_t>& types) {
    std::vector<double> weights;
    for (const std::size_t t : types) {
        double rate = 0;
        for (const ResourceGroup& group : model.groups) rate += 1 / group.group_seconds[t];
        weights.push_back(model.counts.types[t].amount() / rate);
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= all;
    return weights;
}

/// What so many tasks of a type in a group add to the share of each node of the group (13b).
double share_of_tasks(double tasks, const TaskType& type, double weight, const ResourceGroup& group) {
    return weight * (tasks / type.amount()) / static_cast<double>(group.nodes.size());
}

/// The groups of each node that has no room for all tiles, each set of groups once.
std::set<std::vector<std::size_t>> groups_of_full_nodes(const PhaseModel& model) {
    std::map<Index, std::vector<std::size_t>> of_node;
    for (std::size_t r = 0; r < model.groups.size(); ++r)
        if (model.groups[r].most_share < 1)
            for (const Index node : model.groups[r].nodes) of_node[node].push_back(r);
    std::set<std::vector<std::size_t>> result;
    for (auto& [node, groups] : of_node) result.insert(std::move(groups));
    return result;
}

/// The least time of one task of the first phase: the first tile is on the diagonal, and stored whole.
double first_task(const PhaseModel& model) {
    double least = never;
    for (const std::size_t t : types_of(model.counts, Part::first))
        for (const ResourceGroup& group : model.groups) least = std::min(least, group.worker_seconds[t]);
    return least == never ? 0 : least;
}

class Builder {
public:
    explicit Builder(const PhaseModel& model)
        : model_(model),
          first_(types_of(model.counts, Part::first)),
          second_(types_of(model.counts, Part::second)) {
        columns_.tasks.assign(static_cast<std::size_t>(steps()) * types() * groups(), PhaseColumns::none);
    }

    PhaseProgram build() {
        for (Index s = 0; s < steps(); ++s) add_variables(s);
        for (Index s = 0; s < steps(); ++s) {
            place_all_tasks(s);
            end_first_phase(s);
            end_second_phase(s);
        }
        for (std::size_t r = 0; r < groups(); ++r) do_one_thing_at_a_time(r);
        for (const std::vector<std::size_t>& of_node : groups_of_full_nodes(model_)) {
            keep_to_memory(of_node, first_);
            keep_to_memory(of_node, second_);
        }
        return {std::move(program_), std::move(columns_)};
    }

private:
    [[nodiscard]] Index steps() const { return model_.counts.steps; }
    [[nodiscard]] std::size_t types() const { return model_.counts.types.size(); }
    [[nodiscard]] std::size_t groups() const { return model_.groups.size(); }
    [[nodiscard]] double seconds(std::size_t t, std::size_t r) const { return model_.groups[r].group_seconds[t]; }
    [[nodiscard]] std::size_t& task(Index s, std::size_t t, std::size_t r) {
        return columns_.tasks[(static_cast<std::size_t>(s) * types() + t) * groups() + r];
    }
    [[nodiscard]] static std::size_t slot(Index s) { return static_cast<std::size_t>(s); }

    void add_variables(Index s) {
        constexpr double cost_of_work = 1e-6;
        for (std::size_t t = 0; t < types(); ++t)
            for (std::size_t r = 0; r < groups(); ++r)
                if (model_.counts.amount(s, t) > 0 && seconds(t, r) < never)
                    task(s, t, r) = program_.add_column(cost_of_work * seconds(t, r));
        columns_.first_ends.push_back(program_.add_column(1, {.lower = s == 0 ? first_task(model_) : 0}));  // (12f)
        columns_.second_ends.push_back(program_.add_column(1));
    }

    /// (12a)
    void place_all_tasks(Index s) {
        for (std::size_t t = 0; t < types(); ++t) {
            const double amount = model_.counts.amount(s, t);
            if (amount == 0) continue;
            const std::size_t row = program_.add_row({amount, amount});
            for (std::size_t r = 0; r < groups(); ++r)
                if (task(s, t, r) != PhaseColumns::none) program_.add(row, task(s, t, r), 1);
        }
    }

    /// Adds Σ α·w of some types.
    void add_work(std::size_t row, Index s, const std::vector<std::size_t>& of, std::size_t r) {
        for (const std::size_t t : of)
            if (task(s, t, r) != PhaseColumns::none) program_.add(row, task(s, t, r), seconds(t, r));
    }

    /// after + Σ α·w ≤ end, for every group
    void follow(std::optional<std::size_t> after, Index s, const std::vector<std::size_t>& of, std::size_t end) {
        for (std::size_t r = 0; r < groups(); ++r) {
            const std::size_t row = program_.add_row(at_most_zero);
            if (after) program_.add(row, *after, 1);
            add_work(row, s, of, r);
            program_.add(row, end, -1);
        }
    }

    /// (12b) with τ0 = 0, and the strict rule for readers
    void end_first_phase(Index s) {
        const auto& ends = columns_.first_ends;
        follow(s > 0 ? std::optional(ends[slot(s - 1)]) : std::nullopt, s, first_, ends[slot(s)]);
        if (s == 0 || model_.first == FirstPhase::starts_with_a_task) return;
        const std::size_t row = program_.add_row({.lower = first_task(model_)});
        program_.add(row, ends[slot(s)], 1);
        program_.add(row, ends[slot(s - 1)], -1);
    }

    /// (12c) and (12d)
    void end_second_phase(Index s) {
        follow(columns_.first_ends[slot(s)], s, second_, columns_.second_ends[slot(s)]);
        if (s > 0) follow(columns_.second_ends[slot(s - 1)], s, second_, columns_.second_ends[slot(s)]);
    }

    /// (12e): c[s,r] = c[s-1,r] + Σ α·w ≤ τ2[s]
    void do_one_thing_at_a_time(std::size_t r) {
        std::optional<std::size_t> before;
        for (Index s = 0; s < steps(); ++s) {
            const std::size_t busy = program_.add_column(0);
            const std::size_t sum = program_.add_row({0, 0});
            program_.add(sum, busy, -1);
            if (before) program_.add(sum, *before, 1);
            add_work(sum, s, first_, r);
            add_work(sum, s, second_, r);
            const std::size_t row = program_.add_row(at_most_zero);
            program_.add(row, busy, 1);
            program_.add(row, columns_.second_ends[slot(s)], -1);
            before = busy;
        }
    }

    /// (13) of a node's groups is at most what it has room for
    void keep_to_memory(const std::vector<std::size_t>& of_node, const std::vector<std::size_t>& of) {
        if (of.empty()) return;
        const std::vector<double> weights = weights_of(model_, of);
        const std::size_t row =
            program_.add_row({.lower = -lp::infinity, .upper = model_.groups[of_node.front()].most_share});
        for (std::size_t k = 0; k < of.size(); ++k)
            for (const std::size_t r : of_node)
                for (Index s = 0; s < steps(); ++s)
                    if (const std::size_t column = task(s, of[k], r); column != PhaseColumns::none)
                        program_.add(row, column,
                                     share_of_tasks(1, model_.counts.types[of[k]], weights[k], model_.groups[r]));
    }

    const PhaseModel& model_;
    std::vector<std::size_t> first_;
    std::vector<std::size_t> second_;
    lp::LinearProgram program_;
    PhaseColumns columns_;
};

/// A type that no group can run; empty if there is none.
std::string impossible_type(const PhaseModel& model) {
    for (std::size_t t = 0; t < model.counts.types.size(); ++t)
        if (std::ranges::all_of(model.groups, [&](const ResourceGroup& g) { return g.group_seconds[t] == never; }))
            return model.counts.types[t].kernel;
    return {};
}

std::vector<double> values_at(const std::vector<double>& values, const std::vector<std::size_t>& columns) {
    std::vector<double> result;
    for (const std::size_t column : columns) result.push_back(values[column]);
    return result;
}

std::string reason_of(lp::Outcome outcome, const PhaseModel& model) {
    if (outcome == lp::Outcome::infeasible && !groups_of_full_nodes(model).empty())
        return "the nodes that take part have no room for the tiles";
    return fmt::format("the linear program of the phases is {}: durations or counts of tasks make no sense together",
                       lp::name(outcome));
}

}  // namespace

std::vector<ResourceGroup> resource_groups(const Platform& platform, const StepCounts& counts,
                                           const NodeChoice& choice) {
    std::vector<ResourceGroup> groups;
    Index node = 0;
    for (std::size_t number = 0; number < platform.node_types.size(); ++number) {
        const NodeType& type = platform.node_types[number];
        for (const WorkerGroup& workers : type.workers)
            for (Index n = 0; n < type.count;) {
                const PartsOfNode parts = parts_of(choice, number, n);
                ResourceGroup of_some = group_of(type, workers, counts, parts);
                if (!choice.most_shares.empty()) of_some.most_share = choice.most_shares[number];
                Index end = n;
                while (end < type.count && parts_of(choice, number, end) == parts) ++end;
                for (Index m = n; m < end; ++m) of_some.nodes.push_back(node + m);
                if (is_of_use(of_some)) add_to(groups, std::move(of_some));
                n = end;
            }
        node += type.count;
    }
    for (ResourceGroup& group : groups) share_among_nodes(group);
    std::ranges::stable_sort(groups, [](const ResourceGroup& a, const ResourceGroup& b) {
        return std::pair(a.worker_seconds, a.group_seconds) < std::pair(b.worker_seconds, b.group_seconds);
    });
    return groups;
}

PhaseProgram phase_program(const PhaseModel& model) { return Builder(model).build(); }

PhaseSolution solve_phases(const PhaseModel& model) {
    if (const std::string kernel = impossible_type(model); !kernel.empty())
        return {.outcome = lp::Outcome::infeasible,
                .reason = fmt::format("no node that takes part can run {}", kernel)};
    const PhaseProgram built = phase_program(model);
    const lp::Solution solution = lp::solve(built.program);
    if (solution.outcome != lp::Outcome::optimal)
        return {.outcome = solution.outcome, .reason = reason_of(solution.outcome, model)};
    PhaseSolution result{.outcome = solution.outcome,
                         .first_ends = values_at(solution.values, built.columns.first_ends),
                         .second_ends = values_at(solution.values, built.columns.second_ends),
                         .certificate = certify(built.program, solution)};
    result.ideal = result.second_ends.back();
    const std::size_t types = model.counts.types.size();
    const std::size_t groups = model.groups.size();
    result.tasks.assign(types, std::vector<double>(groups, 0.0));
    for (std::size_t k = 0; k < built.columns.tasks.size(); ++k)
        if (const std::size_t column = built.columns.tasks[k]; column != PhaseColumns::none)
            result.tasks[k / groups % types][k % groups] += solution.values[column];
    return result;
}

std::vector<double> phase_powers(const PhaseModel& model, const PhaseSolution& solution, Part part, Index nodes) {
    const std::vector<std::size_t> types = types_of(model.counts, part);
    const std::vector<double> weights = weights_of(model, types);
    std::vector<double> powers(static_cast<std::size_t>(nodes), 0.0);
    for (std::size_t k = 0; k < types.size(); ++k)
        for (std::size_t r = 0; r < model.groups.size() && weights[k] > 0; ++r) {
            const ResourceGroup& group = model.groups[r];
            const double share =
                share_of_tasks(solution.tasks[types[k]][r], model.counts.types[types[k]], weights[k], group);
            for (const Index node : group.nodes) powers[static_cast<std::size_t>(node)] += share;
        }
    return powers;
}

}  // namespace tesela::plan
