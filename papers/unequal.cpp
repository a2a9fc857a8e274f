#include "experiments.hpp"
#include "harness/choice.hpp"
#include "harness/engine_options.hpp"
#include "harness/part_table.hpp"
#include "shared/bessel.hpp"
#include "shared/gsl_kernel.hpp"
#include "shared/some_observations.hpp"

#include "tesela/autoplan/running_plan.hpp"
#include "tesela/base/environment.hpp"
#include "tesela/base/error.hpp"
#include "tesela/base/median.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/geo/fit.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/geo/specimens.hpp"
#include "tesela/io/output_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

namespace tesela::bench {
namespace {

using autoplan::RunningPlan;

struct UnequalOptions {
    Index n = 4000;
    std::vector<Index> gsl_nodes{};
    int rounds = 9;
    Index halve_at = 0;  ///< 0: never
    std::string table;
    std::string name = "nodes as they are";
    EngineOptions engine;
};

void add_unequal_options(CLI::App& command, UnequalOptions& options) {
    command.add_option("--n", options.n, "Points")->capture_default_str();
    command.add_option("--gsl-nodes", options.gsl_nodes, "Nodes that generate with GSL's Bessel function, as 0,1")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--rounds", options.rounds, "Evaluations of each strategy; the middle one counts")
        ->capture_default_str();
    command.add_option("--halve-at", options.halve_at,
                       "Instead: the first node loses half its processor time at this evaluation of 60; exit code 1 if "
                       "evaluations take more than 1.1 times those of a fresh plan five later");
    command.add_option("--table", options.table, "CSV file for the results; rows of other cases stay");
    command.add_option("--case", options.name, "With --table: what to call these nodes there")->capture_default_str();
    add_engine_options(command, options.engine);
}

constexpr auto planned_overlap = geo::Overlap::order;
constexpr double plan_seconds = 5;
constexpr Index warm_up_evaluations = 12;  ///< in which the plan is corrected before anything is compared
constexpr Index followed_evaluations = 60;

/// Measured medians that are closer than this are not told apart.
constexpr double tie = 0.05;

/// A likelihood and the plan for it, on the nodes of this run.
class PlannedContest {
public:
    PlannedContest(StarpuEngine& engine, const UnequalOptions& options)
        : engine_(engine),
          options_(options),
          stream_(engine),
          plan_(engine, planning()),
          likelihood_(stream_, some_observations(options.n), {}, first_options()) {}

    /// Seconds of an evaluation, until the last node has ended it.
    double evaluate() {
        const geo::LikelihoodValue value =
            likelihood_.evaluate({.sigma2 = 1, .range = 0.1, .smoothness = 1.23, .nugget = 0.1});
        require_done(value.status);
        return engine_.max(likelihood_.seconds());
    }
    /// With owners of its own: the first evaluation touches their memory.
    double evaluate_with(const plan::PhaseDistributions& owners) {
        likelihood_.redistribute(owners.second, owners.first);
        evaluate();
        return evaluate();
    }
    /// The plan as it is after so many evaluations.
    void warm_up() {
        for (Index k = 0; k < warm_up_evaluations; ++k) {
            evaluate();
            correct(k + 1);
        }
    }
    /// The plan looks at the last of so many evaluations.
    void correct(Index evaluations) {
        plan_.correct({.evaluations = evaluations,
                       .seconds = likelihood_.seconds(),
                       .give = [&](const plan::PhaseDistributions& owners) {
                           likelihood_.redistribute(owners.second, owners.first);
                       }});
    }
    [[nodiscard]] RunningPlan& plan() { return plan_; }

private:
    [[nodiscard]] autoplan::RunningPlanOptions planning() const {
        const geo::PlannedEvaluation evaluation{
            .points = options_.n, .tile = tile_size(0, options_.n, engine_), .overlap = planned_overlap};
        autoplan::RunningPlanOptions with{
            .program = {.application = planned_evaluation(evaluation),
                        .as_run = [evaluation](const Platform& nodes) { return as_run(evaluation, nodes); },
                        .usual_evaluations = geo::usual_evaluations},
            .budget_seconds = plan_seconds,
            .specimens = joined({calibration::specimens(), geo::specimens()})};
        if (!options_.engine.quiet) with.tell = [](const std::string& line) { fmt::print(stderr, "plan: {}\n", line); };
        return with;
    }
    [[nodiscard]] geo::LikelihoodOptions first_options() const {
        const plan::PhaseDistributions& owners = plan_.owners();
        geo::LikelihoodOptions result{.tile = tile_size(0, options_.n, engine_),
                                      .distribution = owners.second,
                                      .generation = owners.first,
                                      .overlap = planned_overlap};
        if (std::ranges::find(options_.gsl_nodes, engine_.this_node().number()) != options_.gsl_nodes.end())
            result.generator = &gsl_kernel;
        return result;
    }

    StarpuEngine& engine_;
    const UnequalOptions& options_;
    GslErrorsOff gsl_;
    Stream stream_;
    RunningPlan plan_;
    geo::Likelihood likelihood_;
};

/// What a strategy took, and what the simulator had said.
struct MeasuredStrategy {
    std::string name;
    plan::PhaseDistributions owners;
    double predicted = 0;
    std::vector<double> seconds{};
};

bool is_block_cyclic(const MeasuredStrategy& one) { return one.name.starts_with("bc_"); }

double measured_of(const std::vector<MeasuredStrategy>& all, const std::string& name) {
    const auto found = std::ranges::find(all, name, &MeasuredStrategy::name);
    return found == all.end() ? std::numeric_limits<double>::infinity() : median(found->seconds);
}

/// Of all numbers of nodes that it may use.
double best_block_cyclic(const std::vector<MeasuredStrategy>& all) {
    double best = std::numeric_limits<double>::infinity();
    for (const MeasuredStrategy& one : all)
        if (is_block_cyclic(one)) best = std::min(best, median(one.seconds));
    return best;
}

/// What the planner has, the plan as it was corrected, and block-cyclic on the fastest one, two, … nodes.
std::vector<MeasuredStrategy> contenders(PlannedContest& contest) {
    // What is expected of "auto" may have been measured: all are to be predicted alike.
    const plan::PhaseDistributions owners = contest.plan().owners();
    std::vector<MeasuredStrategy> all{
        {.name = "auto", .owners = owners, .predicted = contest.plan().predicted(owners)}};
    for (const RunningPlan::Proposal& p : contest.plan().proposals())
        if (p.name != "bc_fast") all.push_back({.name = p.name, .owners = p.owners, .predicted = p.seconds});
    const std::vector<Index> fastest = contest.plan().fastest_first();
    const GridSize tiles = all.front().owners.second.grid();
    for (Index count = 1; count < static_cast<Index>(fastest.size()); ++count) {
        const Distribution on =
            plan::on_nodes(squarest_block_cyclic(tiles, count), fastest, static_cast<Index>(fastest.size()));
        const plan::PhaseDistributions both{.first = on, .second = on};
        all.push_back(
            {.name = fmt::format("bc_{}", count), .owners = both, .predicted = contest.plan().predicted(both)});
    }
    return all;
}

/// Pairs whose medians differ by more than a tie, and how many of them the simulator has the other way round.
struct StrategyRanking {
    int pairs = 0;
    int wrong = 0;
};
StrategyRanking ranking_of(const std::vector<MeasuredStrategy>& all) {
    StrategyRanking ranking;
    for (const MeasuredStrategy& a : all)
        for (const MeasuredStrategy& b : all) {
            if (median(a.seconds) * (1 + tie) > median(b.seconds)) continue;
            ++ranking.pairs;
            if (a.predicted > b.predicted) ++ranking.wrong;
        }
    return ranking;
}

/// A row of the table: seconds of an evaluation with a strategy, or at a time.
Row unequal_row(const StarpuEngine& engine, const UnequalOptions& options, const std::string& name, double measured,
                const Row& predicted) {
    return {{"case", options.name},
            {"n", options.n},
            {"nodes", engine.node_count()},
            {"gsl_nodes", fmt::format("{}", fmt::join(options.gsl_nodes, " "))},
            {"strategy", name},
            {"measured", measured},
            {"predicted", predicted}};
}

/// On the first node, if a table was asked for.
void write_unequal_rows(const StarpuEngine& engine, const UnequalOptions& options, const std::vector<Row>& rows) {
    if (!options.table.empty() && engine.is_first()) PartTable(options.table, "case", rows).write();
}

/// Throws Error on all nodes if the first cannot write the table: before the work, which takes minutes.
void require_table(StarpuEngine& engine, const std::string& table) {
    std::string problem;
    if (!table.empty() && engine.is_first()) try {
            if (std::filesystem::exists(table) && !std::filesystem::is_regular_file(table))
                throw Error("cannot write {}: it is not a file", table);
            const OutputFile probe(table);
        } catch (const std::exception& error) {
            problem = error.what();
        }
    problem = engine.gather(problem).front();
    if (!problem.empty()) throw Error("{}", problem);
}

Report compare_on_unequal_nodes(StarpuEngine& engine, const UnequalOptions& options) {
    PlannedContest contest(engine, options);
    contest.warm_up();
    std::vector<MeasuredStrategy> all = contenders(contest);
    for (int round = 0; round < options.rounds; ++round)
        for (std::size_t k = 0; k < all.size(); ++k) {
            // Each after another one in the next round.
            MeasuredStrategy& one = all[round % 2 == 0 ? k : all.size() - 1 - k];
            one.seconds.push_back(contest.evaluate_with(one.owners));
        }
    Row strategies = Row::object();
    std::vector<Row> rows;
    for (const MeasuredStrategy& one : all) {
        strategies[one.name] = {{"measured", median(one.seconds)}, {"predicted", one.predicted}};
        rows.push_back(unequal_row(engine, options, one.name, median(one.seconds), one.predicted));
    }
    write_unequal_rows(engine, options, rows);
    const double cyclic = best_block_cyclic(all);
    const StrategyRanking ranking = ranking_of(all);
    return {
        .figures = {{"n", options.n},
                    {"nodes", engine.node_count()},
                    {"gsl_nodes", options.gsl_nodes},
                    {"strategies", strategies},
                    {"pairs_that_differ", ranking.pairs}},
        .checks = {at_most("the planned run over the best block-cyclic one", measured_of(all, "chosen") / cyclic, 0.9),
                   at_most("the automatic run over the best block-cyclic one", measured_of(all, "auto") / cyclic, 0.9),
                   at_most("pairs that the simulator has the other way round", ranking.wrong, 0)}};
}

/// Halves the number that the file of a quota begins with, of version 1 or 2 of control groups; false where it cannot.
bool halve(const std::string& path) {
    double quota = 0;
    std::ifstream(path) >> quota;
    std::ofstream file(path);
    file << static_cast<long long>(quota / 2) << std::flush;
    double now = 0;
    std::ifstream(path) >> now;
    return quota > 0 && now < 0.6 * quota;
}

/// The processor time of the first node, halved.
void halve_quota(Engine& engine) {
    const auto path = environment("QUOTA_FILE");
    const bool done = !engine.is_first() || (path && halve(*path));
    if (engine.min(done ? 1 : 0) == 0)
        throw Error("the quota of node 0 cannot be halved: run it by bench/cluster/run.sh with QUOTAS");
}

Report follow_change(StarpuEngine& engine, const UnequalOptions& options) {
    std::vector<double> taken;
    std::optional<plan::PhaseDistributions> last;
    {
        PlannedContest contest(engine, options);
        for (Index k = 0; k < followed_evaluations; ++k) {
            if (k == options.halve_at) halve_quota(engine);
            taken.push_back(contest.evaluate());
            contest.correct(k + 1);
        }
        last = contest.plan().owners();
    }
    PlannedContest fresh(engine, options);  // measured anew, with the time that is left
    fresh.warm_up();
    const plan::PhaseDistributions owners = fresh.plan().owners();
    std::vector<double> with_fresh;
    std::vector<double> with_last;
    for (int round = 0; round < options.rounds; ++round) {
        with_fresh.push_back(fresh.evaluate_with(owners));
        with_last.push_back(fresh.evaluate_with(*last));
    }
    const auto from = taken.begin() + options.halve_at;
    const double fresh_seconds = median(with_fresh);
    const double after = median({from + 5, taken.end()});
    const Row times{{"seconds_before", median({taken.begin() + 1, from})},
                    {"seconds_of_the_next_five", median({from, from + 5})},
                    {"seconds_after", after},
                    {"seconds_with_a_fresh_plan", fresh_seconds},
                    {"seconds_with_the_last_owners_beside_it", median(with_last)}};
    std::vector<Row> rows;
    for (const auto& [name, seconds] : times.items())
        rows.push_back(unequal_row(engine, options, name.substr(name.find('_') + 1), seconds.get<double>(), nullptr));
    write_unequal_rows(engine, options, rows);
    return {.figures = {{"n", options.n}, {"times", times}, {"evaluations", taken}},
            .checks = {at_most("from the fifth evaluation after the change on, over a fresh plan",
                               after / fresh_seconds, 1.1)}};
}

/// Evaluations of a likelihood on nodes that differ: strategies by measured nodes in turn, beside what the simulator
/// expects of them; or how soon a plan follows a node that has become slower.
Report measure_unequal(const UnequalOptions& options) {
    if (options.rounds < 1) throw Error("--rounds must be at least 1");
    if (options.halve_at != 0 && (options.halve_at < 2 || options.halve_at + 6 > followed_evaluations))
        throw Error("--halve-at must leave two evaluations of the {} before it and six after it", followed_evaluations);
    if (!options.gsl_nodes.empty() && !has_gsl()) throw Error("this program was built without GSL");
    const auto engine = start_engine(options.engine);
    require_table(*engine, options.table);
    for (const Index node : options.gsl_nodes)
        if (node < 0 || node >= engine->node_count())
            throw Error("--gsl-nodes names node {}, and there are {} nodes", node, engine->node_count());
    return options.halve_at == 0 ? compare_on_unequal_nodes(*engine, options) : follow_change(*engine, options);
}

}  // namespace

Experiment unequal() {
    return experiment("unequal",
                      "Likelihood evaluations on nodes that differ, by strategies of the planner in turn; exit code 1 "
                      "if the plan does not gain a tenth over block-cyclic. Needs mpirun, and bench/cluster/run.sh for "
                      "nodes that differ",
                      add_unequal_options, measure_unequal);
}

}  // namespace tesela::bench
