#pragma once

#include "tesela/calibration/calibrate.hpp"
#include "tesela/plan/node_speeds.hpp"
#include "tesela/plan/planner.hpp"
#include "tesela/starpu/engine.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::autoplan {

/// What is evaluated again and again on the nodes at hand.
struct PlannedProgram {
    /// The stream of an evaluation under any owners.
    plan::Application application;
    /// How an evaluation is simulated on a platform so that it is as the engine runs it.
    std::function<SimulationOptions(const Platform&)> as_run;
    /// Evaluations that a run is thought to make in all: what a change of owners must pay for.
    Index usual_evaluations = 0;
};

/// The program between two evaluations.
struct Progress {
    Index evaluations = 0;  ///< so far
    double seconds = 0;     ///< that the last of them took on this node
    /// Gives its tiles to other owners, for the evaluations to come.
    std::function<void(const plan::PhaseDistributions& owners)> give;
};

/// What is planned for the nodes at hand, and how long that may take.
struct RunningPlanOptions {
    PlannedProgram program;
    double budget_seconds = 10;
    /// Calls of the kernels that an evaluation may use: those that it does use are timed.
    std::vector<Specimen> specimens{};
    /// The nodes, by number, where they are known; none: they are measured.
    std::vector<calibration::MeasuredNode> nodes{};
    /// Where measurements of nodes are kept from run to run; empty: nowhere.
    std::string cache_folder{};
    /// Told while nodes are measured (see CalibrationOptions), and on the first node before each simulation (see
    /// PlanOptions).
    std::function<void(Index done, Index of, const std::string& next)> measuring{};
    std::function<void(Index simulated, double best)> planning{};
    /// Told on the first node what was chosen and why, and of every decision that follows.
    std::function<void(const std::string& line)> tell{};
};

/// A plan for the nodes that a program finds itself on (`--plan auto`): it measures them, or takes what was measured of
/// the same ones before, plans on the first node and tells the others. While evaluations run it compares what kernels
/// take with what it counted on, and gives tiles to other owners where the evaluations still to come pay for that.
/// Every node makes one, and calls all its functions at the same points.
class RunningPlan {
public:
    /// Throws Error where no plan can be made.
    RunningPlan(StarpuEngine& engine, RunningPlanOptions options);

    /// By node as the engine numbers them.
    [[nodiscard]] const plan::PhaseDistributions& owners() const { return *owners_; }
    /// What was chosen and why, for people: the nodes, the strategy, and what to expect.
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
    /// Seconds of an evaluation by the simulator, now.
    [[nodiscard]] double expected_seconds() const { return expected_seconds_; }

    /// A strategy of the planner's for these nodes as they are now known.
    struct Proposal {
        std::string name;
        plan::PhaseDistributions owners;  ///< by node as the engine numbers them
        double seconds = 0;               ///< of an evaluation, by the simulator
    };
    /// All of them, that which is chosen last: for who wants to compare.
    [[nodiscard]] std::vector<Proposal> proposals();

    /// What the simulator expects of an evaluation with other owners.
    [[nodiscard]] double predicted(const plan::PhaseDistributions& owners) const;
    /// Numbers of the nodes, by what they do in products.
    [[nodiscard]] std::vector<Index> fastest_first() const;

    /// What became of a look at the nodes.
    enum class Outcome : std::uint8_t { as_planned, kept, changed, reverted };
    /// To be called before an evaluation. Looks at some evaluations together. Where kernels were not as fast as
    /// thought, and not alike so, plans again; the program gets new owners if that pays. Where evaluations take longer
    /// with these than before, it gets the old ones back, and is left alone for longer. `tell` is told, and an event,
    /// "plan", goes into the trace, as for the first plan.
    Outcome correct(const Progress& progress);

private:
    struct Decision;
    void find_nodes();
    void measure(const std::vector<Specimen>& used);
    [[nodiscard]] Decision first_decision() const;
    [[nodiscard]] Decision next_decision(Index left) const;
    /// What all nodes together have seen since the last look.
    struct Look {
        double seconds = 0;  ///< of an evaluation: the middle one
        std::vector<std::vector<plan::KernelSpeed>> nodes{};
    };
    [[nodiscard]] Look look();
    [[nodiscard]] bool was_better_before(const Look& look) const;
    Outcome revert(const Progress& progress, const Look& look);
    Outcome plan_again(const Progress& progress, const Look& look);
    void give(const Progress& progress, plan::PhaseDistributions owners);
    void tell(Outcome outcome, double before, const std::vector<std::string>& lines) const;
    [[nodiscard]] plan::Planned plan_for(const Platform& platform, double budget) const;
    [[nodiscard]] const plan::Application& application() const { return options_.program.application; }
    [[nodiscard]] Index tile() const { return application().matrix.tile; }

    StarpuEngine& engine_;
    RunningPlanOptions options_;
    std::vector<calibration::MeasuredNode> nodes_;  ///< each as it is thought to be, by node
    std::string where_from_;                        ///< what is known of them, in words
    std::optional<plan::PhaseDistributions> owners_;
    double expected_seconds_ = 0;
    std::vector<std::string> lines_;
    /// Since the last look: how many evaluations there were then, what kernels had done, and what evaluations took.
    Index looked_at_ = 0;
    std::vector<KernelUse> seen_;
    std::vector<double> taken_;
    /// The owners before the last change, as long as that is on trial, and what evaluations took with them.
    struct Before {
        plan::PhaseDistributions owners;
        double seconds = 0;
    };
    std::optional<Before> before_;
    bool doubted_ = false;  ///< whether kernels were not as fast as thought at the last look
    Index evaluations_ = 0;
    Index patience_ = 2;  ///< evaluations from look to look, at least
};

}  // namespace tesela::autoplan
