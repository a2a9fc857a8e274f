#pragma once

#include "tesela/lp/linear_program.hpp"
#include "tesela/plan/step_counts.hpp"

#include <limits>
#include <string>
#include <vector>

namespace tesela::plan {

/// Seconds of a task where no worker can run it.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// Equal workers, as many on each of its nodes: a resource group r of paper 000.
struct ResourceGroup {
    std::string name;                    ///< "chifflet gtx1080"
    std::vector<Index> nodes;            ///< their numbers
    std::vector<double> worker_seconds;  ///< of a task of each type on one worker; infinity where it cannot run
    std::vector<double> group_seconds;   ///< w[t,r]: the same over all workers that can run it at a time
    double workers = 1;                  ///< of all its nodes
    double most_share = 1;               ///< of the tiles of a phase that each of its nodes has room for
};

/// Which nodes take part in which phase: how many of each type, by its position, all unless told; the first ones do.
struct NodeChoice {
    std::vector<Index> first{};
    std::vector<Index> second{};
    /// What share of the tiles of a phase a node of each type has room for; all unless told.
    std::vector<double> most_shares{};

    [[nodiscard]] bool allows(Part part, std::size_t type, Index node_of_type) const {
        const std::vector<Index>& chosen = part == Part::first ? first : second;
        return chosen.empty() || node_of_type < chosen[type];
    }
};

/// The groups of a platform, sorted by what they can do: the same whatever the order in which nodes are numbered. Equal
/// workers are one group whatever nodes they are in and what these are called, unless their nodes have room for other
/// shares: of two groups that are alike a linear program would prefer one by its number.
[[nodiscard]] std::vector<ResourceGroup> resource_groups(const Platform& platform, const StepCounts& counts,
                                                         const NodeChoice& choice = {});

/// (12f) of paper 000: the first step takes as long as one task; or, where so many readers make the steps, every step
/// does.
enum class FirstPhase : std::uint8_t { starts_with_a_task, a_task_per_step };

/// What the program (12) of paper 000 is made of.
struct PhaseModel {
    StepCounts counts;
    std::vector<ResourceGroup> groups;
    FirstPhase first = FirstPhase::starts_with_a_task;
};

/// Positions of the variables of the program.
struct PhaseColumns {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> first_ends;   ///< τ1 of the steps
    std::vector<std::size_t> second_ends;  ///< τ2
    std::vector<std::size_t> tasks;        ///< α[s,t,r], none where there is no work or the group cannot run the type
};
struct PhaseProgram {
    lp::LinearProgram program;
    PhaseColumns columns;
};

/// The linear program (12), (12a) to (12f), with running sums in (12e). Where nodes do not have room for all tiles, the
/// shares (13) of each in both phases, which are linear in the tasks, are at most what it has room for. Of solutions
/// with the same ends of steps it prefers those with less busy workers, by a cost of 1e-6 per second of work.
[[nodiscard]] PhaseProgram phase_program(const PhaseModel& model);

/// What the program says. Without numbers unless it is optimal; `reason` then says why not.
struct PhaseSolution {
    lp::Outcome outcome = lp::Outcome::failed;
    std::string reason{};
    double ideal = 0;  ///< the last τ2: what a run would take if it went as the program has it. Not a bound.
    std::vector<double> first_ends{};
    std::vector<double> second_ends{};
    /// Of each type in each group, over all steps, in tasks on tiles that are stored whole (StepCounts::amounts).
    std::vector<std::vector<double>> tasks{};
    lp::Certificate certificate{};
};

[[nodiscard]] PhaseSolution solve_phases(const PhaseModel& model);

/// (13a) to (13c): the share of each node in the work of a phase; they add up to 1, or to 0 for a phase without tasks.
[[nodiscard]] std::vector<double> phase_powers(const PhaseModel& model, const PhaseSolution& solution, Part part,
                                               Index nodes);

}  // namespace tesela::plan
