#pragma once

#include "tesela/flow/recording.hpp"
#include "tesela/plan/phase_program.hpp"
#include "tesela/plan/planned_memory.hpp"
#include "tesela/plan/recipe.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::plan {

/// Which phase's shares make the distributions that are tried: both, as few tiles as can be move in between; the
/// second's alone; or the first's alone. In the last two tiles stay where they are made.
enum class SharesOf : std::uint8_t { both, second, first };

/// Families of distributions for the second phase: of the strategies with names, and of the others that are tried.
struct Families {
    std::string plain = "1d1d";  ///< by the speed of dgemm, under its own name, and by the linear program, as "lp"
    std::string triangle{};     ///< the same with shares of the lower triangle, and "lp_triangle"; empty: there is none
    std::string constrained{};  ///< of "lp_constrained"; empty: there is none
    std::vector<std::string> others{"bce", "hybrid", "rs"};
    std::vector<SharesOf> shares{SharesOf::both, SharesOf::second};
    /// Of the plain one, of which tiles stay unless they are made by turns, and of those by the linear program.
    FirstOwners first_of_plain = FirstOwners::shares_of_tiles;
    FirstOwners first_of_lp = FirstOwners::shares_of_tiles;
};
/// 1d1d; for Cholesky also for the triangle, and constrained at the end.
[[nodiscard]] Families families_of(Operation operation);

/// What the planner knows of an application: how it submits its tasks, and where they stand in the model. It plans for
/// one matrix whose tiles are made in the first phase and computed with in the second.
struct Application {
    std::string name;
    PlannedMatrix matrix;
    /// Submits one round under these owners, and waits for it.
    std::function<void(Engine& engine, const PhaseDistributions& distributions)> submit;
    StepRule steps;
    FirstPhase first = FirstPhase::starts_with_a_task;
    std::optional<Families> families{};        ///< none: those of the operation
    std::string priorities = "critical_path";  ///< of its tasks, by the name of their rule, for people
    std::optional<double> tasks{};             ///< of a round, about; none: those of the operation
};

/// Strategies are simulated task by task, which takes a minute and 15 GB for the most tasks that are taken. Throws
/// Error for an application with more.
void require_simulable(const Application& application);

/// A round of an application on so many nodes, whoever owns its tiles.
[[nodiscard]] Recording recorded(const Application& application, Index nodes);

/// A pair of distributions, simulated.
struct Strategy {
    std::string name;      ///< "bc_all", or what makes it different from the others: "bce, second phase on chifflot"
    std::string family{};  ///< of the second phase
    PhaseDistributions distributions;
    std::optional<double> lp_ideal{};  ///< where a linear program had a part in it
    SimulationResult simulated{};
    Index moved = 0;  ///< tiles, between the phases
    /// How many would move if the first phase had a distribution made for its shares alone (paper 000, section 4.4).
    std::optional<Index> moved_if_independent{};
    PlannedMemory memory{};
};

/// How strategies are simulated, and how long the planner may look for better ones than the paper's.
struct PlanOptions {
    double budget_seconds = 60;
    Index most_simulations = 0;  ///< 0: as many as the budget lets; a number makes plans that can be made again
    /// Ranks of its tiles, where it has them, are planned for too: in the linear program, its bounds and the weights
    /// of tiles.
    SimulationOptions simulation{};
    /// Simulated before, of the same application and platform and in the same way: they are not simulated again.
    std::vector<Strategy> known{};
    /// Told before each simulation: how many there were, and the best makespan so far.
    std::function<void(Index simulated, double best)> progress{};
};

/// What came of planning.
struct Planned {
    /// The paper's bc_all, bc_fast, 1d1d (or 1d) and lp, with ours beside the last two (1d1d_triangle, lp_triangle),
    /// and lp_constrained, as far as they can be made, and the best of all as "chosen", last.
    std::vector<Strategy> strategies;
    Index simulated = 0;               ///< strategies in all
    double seconds = 0;                ///< spent
    double lower_bound = 0;            ///< of any schedule of these tasks on these nodes, whatever the owners
    std::string why;                   ///< the best one was chosen
    std::vector<std::string> notes{};  ///< why some could not be made

    [[nodiscard]] const Strategy& chosen() const { return strategies.back(); }
    /// The share of the time that a strategy saves, against block-cyclic tiles on the fast nodes as in the paper; where
    /// these could not be made, against the first.
    [[nodiscard]] double gain_of(const Strategy& strategy) const;
};

/// Plans: counts the application's stream, solves the linear program of its phases for all nodes and for choices among
/// node types (a type left out of the second phase, or altogether) and fewer nodes of them, makes distributions by the
/// paper's families and ours, simulates them, best ideals first, within the budget, and varies the shares of the best
/// ones that differ in the nodes they use while time is left. Strategies with names are simulated whatever the budget.
/// Owners whose tiles, with what the run keeps beside them, do not fit into the memory of a node are none of the
/// strategies. Throws Error where none can be made, naming a node and bytes where that is for want of memory.
[[nodiscard]] Planned make_plan(const Application& application, const Platform& platform, const PlanOptions& options);

}  // namespace tesela::plan
