#include "tesela/plan/planner.hpp"

#include "support/temporary_directory.hpp"
#include "tesela/algs/operation.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/kernels/tile.hpp"
#include "tesela/plan/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

namespace tesela::plan::planner_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Platform platform(const std::string& name, const std::string& nodes) {
    return choose_nodes(read_json_file(std::string(TESELA_PLATFORM_DIR) + "/" + name + ".json").get<Platform>(), nodes);
}

Application geo(Index tiles) { return geo::planned_evaluation({.points = tiles * 960, .tile = 960}); }

StepCounts counts_of(const Application& application, Index nodes) {
    return count_steps(recorded(application, nodes), application.steps);
}

TEST(StepCounts, AreThoseOfGenerationAndCholesky) {
    const StepCounts counts = counts_of(geo(7), 1);
    EXPECT_EQ(counts.steps, 7);
    std::map<std::string, Index> tasks;
    for (const TaskType& type : counts.types) tasks[type.kernel] = type.tasks;
    EXPECT_EQ(tasks,
              (std::map<std::string, Index>{{"dcmg", 28}, {"dpotrf", 7}, {"dtrsm", 21}, {"dsyrk", 21}, {"dgemm", 35}}));
    // Anti-diagonals 2s and 2s + 1: tile (0,0) and (1,0) in step 0.
    for (std::size_t t = 0; t < counts.types.size(); ++t) {
        Index all = 0;
        for (Index s = 0; s < counts.steps; ++s) all += counts.count(s, t);
        EXPECT_EQ(all, counts.types[t].tasks);
        EXPECT_EQ(counts.types[t].part == Part::first, counts.types[t].kernel == "dcmg");
    }
    EXPECT_EQ(counts.count(0, 0), 2);
}

TEST(StepCounts, AllTasksOfATypeTogetherAreWhatTheyAre) {
    // 2000 rows in tiles of 960: the last ones have 80.
    RecordingEngine recorder(1);
    const Application application = geo::planned_evaluation({.points = 2000, .tile = 960});
    const Distribution any = squarest_block_cyclic(application.matrix.tiles, 1);
    application.submit(recorder, {any, any});
    const StepCounts counts = count_steps(recorder.recording(), application.steps);
    std::map<std::string, double> flops;
    for (const RecordedItem& item : recorder.recording().items)
        if (item.kind == RecordedItem::Kind::task && application.steps(recorder.recording(), item))
            flops[item.kernel->name] += item.cost.flops;
    for (const TaskType& type : counts.types)
        EXPECT_NEAR(type.work.flops * static_cast<double>(type.tasks) / flops[type.kernel], 1, 1e-12) << type.kernel;
}

TEST(StepCounts, ARuleOfTheApplicationsOwnIsFollowed) {
    RecordingEngine recorder(1);
    Stream s(recorder);
    run_operation(s, Operation::lu, Tiling::square(40, 10), squarest_block_cyclic({4, 4}, 1));
    const StepRule by_step = [](const Recording&, const RecordedItem& task) {
        return std::optional(PlannedStep{Part::second, task.step});
    };
    const StepCounts counts = count_steps(recorder.recording(), by_step);
    EXPECT_EQ(counts.steps, 4);
    EXPECT_THROW((void)count_steps(recorder.recording(), [](const auto&, const auto&) { return std::nullopt; }), Error);
    EXPECT_THROW((void)count_steps(recorder.recording(),
                                   [](const auto&, const auto&) { return std::optional(PlannedStep{.step = -1}); }),
                 Error);
}

struct PaperScenario {
    Platform nodes = platform("sdumont-gsl", "2sdc+2sdg");
    Application application = geo(50);
    StepCounts counts = counts_of(application, 4);
    PhaseModel model{.counts = counts, .groups = resource_groups(nodes, counts)};
    PhaseSolution solution = solve_phases(model);
};

// Section 4.4 of paper 000: [318, 319, 319, 319] tiles in the generation and [60, 60, 565, 590] in the factorization.
TEST(Planner, ThePapersScenarioGeneratesEquallyAndFactorsOnGpus) {
    const PaperScenario paper;
    ASSERT_EQ(paper.solution.outcome, lp::Outcome::optimal);
    EXPECT_LE(paper.solution.certificate.gap, 1e-6);
    const Recipe recipe{.family = "1d1d_triangle",
                        .second = phase_powers(paper.model, paper.solution, Part::second, 4),
                        .first = phase_powers(paper.model, paper.solution, Part::first, 4)};
    const PhaseDistributions made = distributions_of(recipe, paper.application.matrix, paper.nodes);
    const std::vector<Index> first = tile_counts(made.first, Stored::lower);
    const std::vector<Index> second = tile_counts(made.second, Stored::lower);
    EXPECT_LE(std::ranges::max(first) - std::ranges::min(first), 2);
    EXPECT_EQ(std::accumulate(first.begin(), first.end(), Index{0}), 1275);
    EXPECT_LT(std::max(second[0], second[1]), std::min(second[2], second[3]) / 3);
    const Moves moves = count_moves(made.first, made.second, Stored::lower);
    EXPECT_EQ(moves.moved, moves.minimum);
    // Distributions that know nothing of each other move far more.
    const Moves independent = count_moves(squarest_block_cyclic({50, 50}, 4), made.second, Stored::lower);
    EXPECT_LT(moves.moved, 0.7 * static_cast<double>(independent.moved));
}

/// Tiles of rank 24 but for the diagonal, as those of a smooth covariance: 1/40 of the tile.
RankModel low_ranks() {
    return {[](std::string_view matrix, TileIndex tile) {
        return matrix == geo::planned_matrix && tile.i != tile.j ? Index{24} : dense_rank;
    }};
}

TEST(StepCounts, WithRanksCountTheWorkThatIsLeft) {
    const Application application = geo(7);
    const StepCounts counts = count_steps(recorded(application, 1), application.steps, low_ranks());
    std::map<std::string, double> ratios;
    for (const TaskType& type : counts.types) ratios[type.kernel] = type.ratio;
    // All covariances are computed; products of low rank are 36·nb·k² of 2·nb³ operations.
    EXPECT_DOUBLE_EQ(ratios["dcmg"], 1);
    EXPECT_DOUBLE_EQ(ratios["dpotrf"], 1);
    EXPECT_DOUBLE_EQ(ratios["dsyrk"], 24 / 960.0 + 4 * std::pow(24 / 960.0, 2));
    EXPECT_DOUBLE_EQ(ratios["dtrsm"], 24 / 960.0);
    EXPECT_DOUBLE_EQ(ratios["dgemm"], 18 * std::pow(24 / 960.0, 2));
    for (std::size_t t = 0; t < counts.types.size(); ++t) {
        double all = 0;
        for (Index s = 0; s < counts.steps; ++s) all += counts.amount(s, t);
        EXPECT_NEAR(all, counts.types[t].amount(), 1e-9 * all);
    }
    EXPECT_EQ(counts.count(0, 0), 2);
}

/// The ideal time of one phase alone.
double ideal_of(PhaseModel model, Part part) {
    StepCounts& counts = model.counts;
    std::vector<double> amounts;
    for (Index s = 0; s < counts.steps; ++s)
        for (std::size_t t = 0; t < counts.types.size(); ++t)
            amounts.push_back(counts.types[t].part == part ? counts.amount(s, t) : 0);
    counts.amounts = std::move(amounts);
    return solve_phases(model).ideal;
}

// The future work of paper 000: updates shrink and generation does not, so more of the time is generation's, and less
// of the second phase is for GPUs alone.
TEST(Planner, WithRanksGenerationIsHeavierAgainstTheRest) {
    const PaperScenario dense;
    StepCounts counts = count_steps(recorded(dense.application, 4), dense.application.steps, low_ranks());
    const PhaseModel model{.counts = counts, .groups = resource_groups(dense.nodes, counts)};
    const PhaseSolution solution = solve_phases(model);
    ASSERT_EQ(solution.outcome, lp::Outcome::optimal);
    // One phase after the other is a plan too, and all covariances are computed: this lies between.
    const double generation = ideal_of(model, Part::first);
    const double rest = ideal_of(model, Part::second);
    EXPECT_GE(solution.ideal, generation);
    EXPECT_LE(solution.ideal, generation + rest);
    EXPECT_NEAR(generation, ideal_of(dense.model, Part::first), 1e-6 * generation);
    EXPECT_LT(generation + rest, dense.solution.ideal);
    EXPECT_GT(solution.first_ends.back() / solution.ideal, dense.solution.first_ends.back() / dense.solution.ideal);
    const std::vector<double> before = phase_powers(dense.model, dense.solution, Part::second, 4);
    const std::vector<double> after = phase_powers(model, solution, Part::second, 4);
    EXPECT_NEAR(std::accumulate(after.begin(), after.end(), 0.0), 1, 1e-9);
    EXPECT_GT(after[0] + after[1], before[0] + before[1]);  // nodes without GPUs
}

TEST(Planner, WithRanksOfTilesStoredWholeThePlanIsThatWithoutRanks) {
    const Platform nodes = platform("sdumont-gsl", "2sdc+2sdg");
    const Application application = geo(12);
    PlanOptions options{.budget_seconds = 1000, .most_simulations = 8};
    const Planned without = make_plan(application, nodes, options);
    options.simulation.ranks = {[](std::string_view, TileIndex) { return dense_rank; }};
    const Planned with = make_plan(application, nodes, options);
    EXPECT_EQ(with.lower_bound, without.lower_bound);
    ASSERT_EQ(with.strategies.size(), without.strategies.size());
    for (std::size_t k = 0; k < with.strategies.size(); ++k) {
        EXPECT_EQ(with.strategies[k].lp_ideal, without.strategies[k].lp_ideal);
        EXPECT_EQ(with.strategies[k].distributions, without.strategies[k].distributions);
        EXPECT_EQ(with.strategies[k].simulated.makespan, without.strategies[k].simulated.makespan);
    }
}

TEST(Planner, PlansForRanksAreSimulatedWithThemAndKeepToTheirBound) {
    const Platform nodes = platform("sdumont-gsl", "2sdc+2sdg");
    const Application application = geo(16);
    PlanOptions options{.budget_seconds = 1000, .most_simulations = 12};
    const Planned dense = make_plan(application, nodes, options);
    options.simulation.ranks = low_ranks();
    const Planned low = make_plan(application, nodes, options);
    EXPECT_LE(low.lower_bound, dense.lower_bound);
    for (const Strategy& strategy : low.strategies)
        EXPECT_GE(strategy.simulated.makespan, low.lower_bound * (1 - 1e-9)) << strategy.name;
    EXPECT_LT(low.chosen().simulated.makespan, dense.chosen().simulated.makespan);
    EXPECT_NE(low.chosen().distributions, dense.chosen().distributions);
}

TEST(Recipe, FamiliesByWeightShareTheWeightsThatRanksLeave) {
    const Platform nodes = platform("sdumont-gsl", "4sdc");
    PlannedMatrix matrix{.tiles = {24, 24}, .tile = 960};
    matrix.density = synthetic_density(24, {.delta = 40});
    const Recipe recipe{.family = "bce", .second = {1, 1, 1, 1}};
    const TileMap weights = tile_weights({.operation = Operation::cholesky, .density = matrix.density});
    const auto imbalance = [&](const PlannedMatrix& of) {
        return summarise_loads(node_loads(distributions_of(recipe, of, nodes).second, weights)).max_over_ideal;
    };
    PlannedMatrix whole = matrix;
    whole.density = {};
    EXPECT_LT(imbalance(matrix), imbalance(whole));
}

TEST(Planner, PlansAreNoWorseThanThePapersAndComeFromTheirFileAsTheyWere) {
    const Platform nodes = platform("sdumont-gsl", "2sdc+2sdg");
    const Application application = geo(20);
    const Planned planned = make_plan(application, nodes, {.budget_seconds = 3});
    std::vector<std::string> names;
    for (const Strategy& strategy : planned.strategies) {
        names.push_back(strategy.name);
        EXPECT_GE(strategy.simulated.makespan, planned.chosen().simulated.makespan);
        EXPECT_GE(strategy.simulated.makespan, planned.lower_bound * (1 - 1e-9)) << strategy.name;
    }
    EXPECT_THAT(names, ElementsAre("bc_all", "bc_fast", "1d1d", "1d1d_triangle", "lp", "lp_triangle", "lp_constrained",
                                   "chosen"));
    EXPECT_GE(planned.simulated, 7);
    const Plan plan = to_plan(application, nodes, planned);
    const Plan again = plan_from_json(nlohmann::json::parse(to_json(plan).dump()), "plan.json");
    EXPECT_EQ(again.distributions, plan.distributions);
    EXPECT_EQ(again.nodes, plan.nodes);
    EXPECT_EQ(again.makespan, plan.makespan);
    EXPECT_EQ(again.lp_ideal, plan.lp_ideal);
}

TEST(Planner, EqualNodesArePlannedForToo) {
    const Planned planned = make_plan(geo(8), platform("sdumont-gsl", "2sdc"), {.budget_seconds = 0});
    EXPECT_EQ(planned.strategies.size(), 8U);
    EXPECT_EQ(planned.simulated, 7);
    EXPECT_LE(planned.chosen().simulated.makespan, planned.strategies.front().simulated.makespan);
}

/// Nodes without and with GPUs in turns, each of a type of its own, with memory for so many times the tiles of geo(12);
/// 0: it is not known.
Platform with_memory(const std::vector<double>& parts) {
    const Platform kinds = platform("sdumont-gsl", "1sdc+1sdg");
    const double matrix = 12 * 13 / 2 * 960.0 * 960 * sizeof(double);
    Platform result{.name = "unequal", .node_types = {}, .subnets = {}};
    for (std::size_t n = 0; n < parts.size(); ++n) {
        NodeType& type = result.node_types.emplace_back(kinds.node_types[n % 2]);
        type.name = "type" + std::to_string(n);
        type.subnet.clear();
        type.memory = parts[n] * matrix;
    }
    return result;
}

struct UnequalMemory {
    std::vector<double> parts;
    bool fits;
};

TEST(Planner, NoPlanIsOverTheMemoryOfANodeAndWhereNoneFitsOneLineSaysWhoNeedsWhat) {
    const std::vector<UnequalMemory> cases{
        {{2, 2, 2, 2}, true},         {{0.5, 0.5, 0.5, 0.5}, true}, {{0.1, 0.1, 0.1, 0.1}, false},
        {{0.25, 0.25, 0.25}, false},  {{1.5, 0.1, 0.1}, true},      {{0.1, 1.5, 0.1, 1.5}, true},
        {{0.3, 0.9, 0.6, 0.3}, true}, {{0.05, 0.05, 0.8, 1}, true}, {{0, 0.2, 0.2}, true},
        {{0.4, 0.15, 0.3}, false},
    };
    const Application application = geo(12);
    for (const auto& [parts, fits] : cases) {
        const Platform nodes = with_memory(parts);
        SCOPED_TRACE(::testing::PrintToString(parts));
        if (!fits) {
            const std::string said =
                message_of<Error>([&] { (void)make_plan(application, nodes, {.budget_seconds = 0}); });
            EXPECT_THAT(said, ::testing::ContainsRegex("node [0-9] .type[0-9]. needs [0-9.]+ .iB for its tiles( and "
                                                       "copies of other nodes. tiles)? and has"));
            EXPECT_THAT(said, ::testing::Not(HasSubstr("\n")));
            continue;
        }
        const Planned planned = make_plan(application, nodes, {.budget_seconds = 1000, .most_simulations = 12});
        TileMap bytes(application.matrix.tiles);
        for (Index i = 0; i < 12; ++i)
            for (Index j = 0; j <= i; ++j) bytes[{i, j}] = 960.0 * 960 * sizeof(double);
        for (const Strategy& strategy : planned.strategies) {
            EXPECT_EQ(strategy.memory.first, node_loads(strategy.distributions.first, bytes));
            EXPECT_EQ(strategy.memory.second, node_loads(strategy.distributions.second, bytes));
            EXPECT_EQ(strategy.memory.peak, strategy.simulated.memory_peak);
            for (std::size_t n = 0; n < parts.size(); ++n) {
                if (parts[n] == 0) continue;
                for (const auto& needed : {strategy.memory.first, strategy.memory.second, strategy.memory.peak})
                    EXPECT_LE(needed[n], nodes.node_types[n].memory) << strategy.name << ", node " << n;
            }
        }
        const bool known = std::ranges::find(parts, 0.0) == parts.end();
        EXPECT_EQ(
            std::ranges::count_if(
                planned.notes, [](const std::string& note) { return note.find("no memory of") != std::string::npos; }),
            known ? 0 : 1);
    }
}

TEST(Planner, OneOfManyNodesIsAChoice) {
    const Tiling tiling = Tiling::square(4 * 960, 960);
    const Application application{
        .name = "cholesky",
        .matrix = {.tiles = tiling.grid(), .tile = 960, .operation = Operation::cholesky, .name = operation_matrix},
        .submit =
            [=](Engine& engine, const PhaseDistributions& owners) {
                Stream stream(engine);
                run_operation(stream, Operation::cholesky, tiling, owners.second);
            },
        .steps = by_antidiagonals({.first = {}, .second = {"cholesky"}}, operation_matrix)};
    const Planned planned =
        make_plan(application, platform("sdumont-gsl", "8sdc"), {.budget_seconds = 1000, .most_simulations = 40});
    EXPECT_THAT(planned.why, HasSubstr("all on 1 sdc"));
    const Plan plan = to_plan(application, platform("sdumont-gsl", "8sdc"), planned);
    EXPECT_EQ(plan.second_nodes.size(), 1U);
    const double alone =
        make_plan(application, platform("sdumont-gsl", "1sdc"), {.budget_seconds = 0}).chosen().simulated.makespan;
    EXPECT_LE(planned.chosen().simulated.makespan, 1.01 * alone);
}

// The best start uses the cle too, and what it is varied to takes 8 % longer than the plan without it.
TEST(Planner, ANodeThatIsOfNoUseMakesNoPlanWorse) {
    const auto planned = [](const char* nodes) {
        return make_plan(geo(13), platform("grid5000-lille-gsl", nodes),
                         {.budget_seconds = 1000, .most_simulations = 300});
    };
    const Planned all = planned("1cle+1chi+1cho");
    EXPECT_LE(all.chosen().simulated.makespan, 1.001 * planned("1chi+1cho").chosen().simulated.makespan);
    EXPECT_THAT(all.why, HasSubstr(", first phase on chi and cho, second phase on cho, varied: "));
}

TEST(Planner, FastNodesAreThoseOfTheMostPowerfulPartitionUnlessItIsASingleNode) {
    EXPECT_THAT(fast_nodes(platform("grid5000-lille-gsl", "2che+2chi+2cho"), 960), ElementsAre(4, 5));
    EXPECT_THAT(fast_nodes(platform("grid5000-lille-gsl", "2che+2chi+1cho"), 960), ElementsAre(2, 3));
    EXPECT_THAT(fast_nodes(platform("grid5000-lille-gsl", "3che"), 960), ElementsAre(0, 1, 2));
}

/// Tiles of the nodes in both phases by the linear program, sorted.
std::vector<Index> sorted_counts(const Platform& nodes) {
    const Application application = geo(50);
    const PhaseModel model = [&] {
        PhaseModel made{.counts = counts_of(application, node_count(nodes))};
        made.groups = resource_groups(nodes, made.counts);
        return made;
    }();
    const PhaseSolution solution = solve_phases(model);
    const Index count = node_count(nodes);
    const PhaseDistributions owners = distributions_of({.family = "1d1d_triangle",
                                                        .second = phase_powers(model, solution, Part::second, count),
                                                        .first = phase_powers(model, solution, Part::first, count)},
                                                       application.matrix, nodes);
    std::vector<Index> counts;
    for (const Distribution& phase : {owners.first, owners.second}) {
        std::vector<Index> of_phase = tile_counts(phase, Stored::lower);
        std::ranges::sort(of_phase);
        counts.insert(counts.end(), of_phase.begin(), of_phase.end());
    }
    return counts;
}

TEST(Planner, CountsOfTilesDoNotDependOnHowNodesAreNumberedThoughTheirCoresAreTwins) {
    Platform turned = platform("sdumont-gsl", "2sdc+2sdg");
    const std::vector<Index> counts = sorted_counts(turned);
    std::ranges::reverse(turned.node_types);
    const std::vector<Index> again = sorted_counts(turned);
    ASSERT_EQ(counts.size(), again.size());
    for (std::size_t k = 0; k < counts.size(); ++k) EXPECT_LE(std::abs(counts[k] - again[k]), 1);
}

TEST(Planner, SaysWhereARuleKnowsFewTasks) {
    Application application = geo(5);
    application.steps = by_antidiagonals({.first = {"generate"}, .second = {"misspelt"}}, "Sigma");
    const Planned planned = make_plan(application, platform("sdumont-gsl", "1sdc+1sdg"), {.budget_seconds = 0});
    EXPECT_THAT(planned.notes, ::testing::Contains(HasSubstr("knows no task of the second phase")));
    EXPECT_THAT(planned.notes, ::testing::Contains(HasSubstr("tasks: plans are for these")));
}

TEST(Planner, AnApplicationWithMoreTasksThanCanBeSimulatedIsRefused) {
    Application application{.name = "lu", .matrix = {.tiles = {420, 420}, .tile = 10, .operation = Operation::lu}};
    EXPECT_NO_THROW(require_simulable(application));  // 420³/3 = 24.7 million
    application.matrix.tiles = {430, 430};
    EXPECT_THAT(message_of<Error>([&] { require_simulable(application); }),
                HasSubstr("430 x 430 tiles make about 27 million tasks"));
    application.matrix.operation = Operation::cholesky;  // half as many
    EXPECT_NO_THROW(require_simulable(application));
    application.tasks = 26e6;  // it knows better
    EXPECT_THROW(require_simulable(application), Error);
}

TEST(Planner, GainsAreCountedAgainstBlockCyclicOnTheFastNodes) {
    const auto strategy = [](const char* name, double makespan) {
        return Strategy{.name = name, .distributions = {}, .simulated = {.makespan = makespan}};
    };
    Planned planned{.strategies = {strategy("bc_all", 8), strategy("bc_fast", 4), strategy("lp", 3)}};
    EXPECT_DOUBLE_EQ(planned.gain_of(planned.chosen()), 0.25);
    planned.strategies.erase(planned.strategies.begin() + 1);  // where it could not be made
    EXPECT_DOUBLE_EQ(planned.gain_of(planned.chosen()), 0.625);
}

TEST(Plans, OfOtherNodesOrTilesAreRefusedWithTheDifference) {
    const Platform nodes = platform("sdumont-gsl", "2sdc");
    const Application application = geo(6);
    const Plan plan = to_plan(application, nodes, make_plan(application, nodes, {.budget_seconds = 0}));
    const auto refused = [&](const PlanUse& use) {
        return message_of<Error>([&] { require_fits(plan, use, "plan.json"); });
    };
    const std::vector<Index> workers{plan.nodes[0].cores, plan.nodes[1].cores};
    EXPECT_NO_THROW(require_fits(plan, {.application = "geo", .tiles = {6, 6}, .workers = workers}, "plan.json"));
    EXPECT_THAT(refused({.application = "geo", .tiles = {6, 6}, .workers = {22}}),
                HasSubstr("for 2 nodes of sdumont-gsl, and this run has 1"));
    EXPECT_THAT(refused({.application = "lu", .tiles = {6, 6}, .workers = workers}),
                HasSubstr("a plan for geo, and this is lu"));
    EXPECT_THAT(refused({.application = "geo", .tiles = {7, 7}, .workers = workers}),
                HasSubstr("6 x 6 tiles of 960, and this matrix has 7 x 7"));
    EXPECT_THAT(refused({.application = "geo", .tiles = {6, 6}, .workers = {workers[0], 3}}),
                HasSubstr("a node 1 of type sdc with"));
    const Platform gpus = platform("sdumont-gsl", "2sdg");
    EXPECT_THAT(message_of<Error>([&] {
                    require_fits(to_plan(application, gpus, make_plan(application, gpus, {.budget_seconds = 0})),
                                 {.application = "geo", .tiles = {6, 6}, .workers = workers}, "plan.json");
                }),
                HasSubstr("with 2 GPUs, and runs use cores alone yet"));
    nlohmann::json json = nlohmann::json::parse(to_json(plan).dump());
    EXPECT_EQ(to_json(plan_from_json(json, "p.json")).dump(), to_json(plan).dump());
    json["phases"]["first"]["nodes"] = 7;
    EXPECT_THAT(message_of<Error>([&] { (void)plan_from_json(json, "p.json"); }),
                HasSubstr("p.json is not a plan that tesela plan wrote"));
    json.erase("phases");
    EXPECT_THAT(message_of<Error>([&] { (void)plan_from_json(json, "p.json"); }), HasSubstr("phases is missing"));
}

}  // namespace
}  // namespace tesela::plan::planner_test
