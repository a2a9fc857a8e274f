#include "tesela/plan/phase_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

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

ResourceGroup group_of(const NodeType& node, const WorkerGroup& workers, const StepCounts& counts,
                       const NodeChoice& choice, std::size_t number) {
    ResourceGroup group{.name = fmt::format("{} {}", node.name, workers.name),
                        .nodes = {},
                        .worker_seconds = {},
                        .group_seconds = {},
                        .workers = static_cast<double>(workers.count)};
    for (const TaskType& type : counts.types) {
        const auto seconds = choice.allows(type.part, number) ? kernel_seconds(workers, type.kernel, type.work)
                                                              : std::optional<double>{};
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
    return a.worker_seconds == b.worker_seconds && a.group_seconds == b.group_seconds && a.workers == b.workers;
}

/// The positions of types of a part.
std::vector<std::size_t> types_of(const StepCounts& counts, Part part) {
    std::vector<std::size_t> result;
    for (std::size_t t = 0; t < counts.types.size(); ++t)
        if (counts.types[t].part == part) result.push_back(t);
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

std::string reason_of(lp::Outcome outcome) {
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
        for (const WorkerGroup& workers : type.workers) {
            ResourceGroup of_type = group_of(type, workers, counts, choice, number);
            if (!is_of_use(of_type)) continue;
            auto same = std::ranges::find_if(groups, [&](const ResourceGroup& known) { return alike(known, of_type); });
            if (same == groups.end()) same = groups.insert(groups.end(), std::move(of_type));
            for (Index n = 0; n < type.count; ++n) same->nodes.push_back(node + n);
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
        return {.outcome = solution.outcome, .reason = reason_of(solution.outcome)};
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
    std::vector<double> weights;  // c_t of (13a)
    for (const std::size_t t : types) {
        double rate = 0;
        for (const ResourceGroup& group : model.groups) rate += 1 / group.group_seconds[t];
        weights.push_back(model.counts.types[t].amount() / rate);
    }
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> powers(static_cast<std::size_t>(nodes), 0.0);
    for (std::size_t k = 0; k < types.size(); ++k)
        for (std::size_t r = 0; r < model.groups.size() && weights[k] > 0; ++r) {
            const ResourceGroup& group = model.groups[r];
            const double share = solution.tasks[types[k]][r] / model.counts.types[types[k]].amount();
            for (const Index node : group.nodes)
                powers[static_cast<std::size_t>(node)] +=
                    weights[k] / all * share / static_cast<double>(group.nodes.size());
        }
    return powers;
}

}  // namespace tesela::plan
