#include "support/temporary_directory.hpp"
#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/metrics.hpp"
#include "tesela/io/json_file.hpp"
#include "tesela/mds/planning.hpp"
#include "tesela/plan/plan_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <numeric>

namespace tesela::plan::mds_planning_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Platform lille(const std::string& nodes) {
    return choose_nodes(read_json_file(std::string(TESELA_PLATFORM_DIR) + "/grid5000-lille-gsl.json").get<Platform>(),
                        nodes);
}

Application scaling(Index tiles, const Platform& platform) {
    return mds::planned_scaling({.points = tiles * 640, .tile = 640, .columns = 1000}, platform);
}

StepCounts counts_of(const Application& application, Index nodes) {
    return count_steps(recorded(application, nodes), application.steps);
}

TEST(MdsSteps, AreWhatAllReadersReadAtATimeAndCorrectionsComeLast) {
    const StepCounts counts = counts_of(scaling(6, lille("1che+1cho")), 2);  // 36 tiles by 10 readers
    EXPECT_EQ(counts.steps, 4);
    std::map<std::string, std::size_t> types;
    for (std::size_t t = 0; t < counts.types.size(); ++t) types[counts.types[t].kernel] = t;
    ASSERT_EQ(types.size(), 4U);
    for (Index s = 0; s < 4; ++s) {
        const Index tiles = s < 3 ? 10 : 6;
        EXPECT_EQ(counts.count(s, types["dread"]), tiles);
        EXPECT_EQ(counts.count(s, types["dgram"]), tiles);
        EXPECT_EQ(counts.count(s, types["dgemm"]), 2 * tiles);
        EXPECT_EQ(counts.count(s, types["dcentre"]), s < 3 ? 0 : 36);
    }
    EXPECT_EQ(counts.types[types["dread"]].part, Part::first);
    EXPECT_EQ(counts.types[types["dread"]].resource, "reader");
    for (const char* kernel : {"dgram", "dgemm", "dcentre"}) EXPECT_EQ(counts.types[types[kernel]].part, Part::second);
}

TEST(MdsSteps, ThereAreNotMoreThanTheProgramCanBeSolvedFor) {
    EXPECT_LE(counts_of(scaling(60, lille("1che+1cho")), 2).steps, 250);
}

TEST(MdsSteps, RowsAreThereWhenTheirLastTileHasBeenRead) {
    const Application application = scaling(6, lille("1che+1cho"));
    RecordingEngine recorder(2);
    const Distribution any = squarest_block_cyclic({6, 6}, 2);
    application.submit(recorder, {any, any});
    EXPECT_THAT(last_steps_of_rows(recorder.recording(), application.steps, 6), ElementsAre(0, 1, 1, 2, 2, 3));
}

TEST(MdsPlans, HaveTheRowsOfThePaperAndTheBestOfThem) {
    const Platform nodes = lille("2cle+1cho");
    const Application application = scaling(16, nodes);
    const Planned planned = make_plan(application, nodes, {.budget_seconds = 60, .most_simulations = 20});
    std::vector<std::string> names;
    for (const Strategy& strategy : planned.strategies) {
        names.push_back(strategy.name);
        EXPECT_GE(strategy.simulated.makespan, planned.chosen().simulated.makespan);
        EXPECT_GE(strategy.simulated.makespan, planned.lower_bound * (1 - 1e-9)) << strategy.name;
    }
    EXPECT_THAT(names, ElementsAre("bc_all", "bc_fast", "1d", "lp", "lp_constrained", "chosen"));
    EXPECT_THAT(planned.notes, ElementsAre());
    // Section 5.5: in "1d" the rows are read by turns.
    EXPECT_EQ(planned.strategies[2].distributions.first, block_cyclic({16, 16}, {.p = 3, .q = 1}));
    // Section 4.4: what "lp" reads is counted in rows, and as few tiles as can be move.
    for (const std::size_t k : {std::size_t{3}, std::size_t{4}}) {
        const PhaseDistributions& made = planned.strategies[k].distributions;
        for (const Index tiles : tile_counts(made.first, Stored::full)) EXPECT_EQ(tiles % 16, 0);
        const Moves moves = count_moves(made.first, made.second, Stored::full);
        EXPECT_EQ(moves.moved, moves.minimum);
        for (Index i = 0; i < 16; ++i)
            for (Index j = 1; j < 16; ++j) EXPECT_EQ(made.second.owner({i, j}), made.second.owner({i, 0}));
    }
    const Plan plan = to_plan(application, nodes, planned);
    EXPECT_EQ(plan.application, "mds");
    const Plan again = plan_from_json(nlohmann::json::parse(to_json(plan).dump()), "plan.json");
    EXPECT_EQ(again.distributions, plan.distributions);
    EXPECT_EQ(again.makespan, plan.makespan);
    EXPECT_EQ(again.lp_ideal, plan.lp_ideal);
}

TEST(MdsPlans, TheLastRowsAreForNodesWithShortChains) {
    // 40 products of 640 x 640 x 500 after each other take 0.56 s on a core of che and 63 ms on a GTX 1080.
    const Platform nodes = lille("3che+3chi");
    const Planned planned = make_plan(scaling(40, nodes), nodes, {.budget_seconds = 0});
    const auto last_of_che = [&](std::size_t strategy) {
        const Distribution& owners = planned.strategies[strategy].distributions.second;
        for (Index i = owners.grid().rows; i-- > 0;)
            if (owners.owner({i, 0}).number() < 3) return i;
        return Index{-1};
    };
    const Index plain = last_of_che(3);
    ASSERT_GT(plain, 0);
    const Index constrained = last_of_che(4);
    EXPECT_LT(constrained, plain);
    EXPECT_GT(constrained, 0);  // the first rows make up for it
}

TEST(MdsPlans, WhereLinksAreSlowTilesStayWhereTheyAreRead) {
    Platform nodes = lille("2cle+1cho");
    for (NodeType& type : nodes.node_types) type.nic.bandwidth = 125e6;
    const Planned planned = make_plan(scaling(16, nodes), nodes, {.budget_seconds = 60, .most_simulations = 40});
    EXPECT_EQ(planned.chosen().moved, 0);
    EXPECT_THAT(planned.why, HasSubstr("tiles stay"));
    for (const std::size_t k : {std::size_t{2}, std::size_t{3}}) {
        EXPECT_GT(planned.strategies[k].moved, 0);
        EXPECT_LT(planned.chosen().simulated.makespan, 0.7 * planned.strategies[k].simulated.makespan);
    }
}

TEST(MdsPlans, ReadersAreThoseOfAllNodes) {
    Platform nodes = lille("2cle+1cho");
    for (NodeType& type : nodes.node_types) type.limits["reader"] = 0;
    EXPECT_THAT(message_of<Error>([&] { (void)scaling(8, nodes); }), HasSubstr("has a reader"));
    nodes.node_types[0].limits["reader"] = 1;
    nodes.node_types[1].limits["reader"] = 9;             // the stream itself takes 5 at most
    EXPECT_EQ(counts_of(scaling(7, nodes), 3).steps, 7);  // 49 tiles by 1 + 1 + 5
}

TEST(MdsPlans, PanelsAreNotPlannedFor) {
    EXPECT_THAT(message_of<Error>([&] {
                    (void)mds::planned_scaling({.points = 1280, .tile = 640, .panel_tiles = 2}, lille("2chi"));
                }),
                HasSubstr("not in panels"));
}

/// What a step of overlap takes on four Chifflets, each row of the matrix on one node.
SimulationResult simulated_step(StreamingStep step) {
    SimulatedEngine engine(lille("4chi"));
    Stream stream(engine);
    const Distribution owners = block_cyclic({24, 24}, {.p = 4, .q = 1});
    mds::submit_scaling(stream, {.points = 24 * 640, .tile = 640, .columns = 1000, .step = step},
                        {read_owners(step, owners), owners});
    return engine.result();
}

TEST(SimulatedScaling, StepsOfOverlapGainWhatTheyAreFor) {
    const SimulationResult async = simulated_step(StreamingStep::async);
    const SimulationResult commute = simulated_step(StreamingStep::commute);
    const SimulationResult read_order = simulated_step(StreamingStep::read_order);
    EXPECT_GT(simulated_step(StreamingStep::sync).makespan, 1.2 * read_order.makespan);
    // The product need not wait for what centring needs.
    EXPECT_GT(async.critical_path, 1.5 * commute.critical_path);
    EXPECT_LT(commute.makespan, async.makespan);
    // Tiles stay where they are read: three quarters of 24 x 24 of 3.3 MB did not.
    EXPECT_GT(commute.bytes, read_order.bytes + 0.7 * 24 * 24 * 640 * 640 * 8);
}

TEST(SimulatedScaling, EqualPartsOfTheFileAreReadUntilReadersCompute) {
    const Distribution owners = block_cyclic({8, 8}, {.p = 4, .q = 1});
    EXPECT_EQ(read_owners(StreamingStep::read_order, owners), owners);
    const Distribution parts = read_owners(StreamingStep::commute, owners);
    for (Index i = 0; i < 8; ++i) EXPECT_EQ(parts.owner({i, 3}), NodeId{i / 2});
}

TEST(Recipes, OfOneDimensionSayWhoReads) {
    const Platform nodes = lille("2cle+1cho");
    const PlannedMatrix matrix{.tiles = {10, 10}, .tile = 640, .operation = Operation::product};
    Recipe recipe{.family = "1d", .second = {1, 1, 8}, .first = {0.35, 0.35, 0.3}};
    EXPECT_THAT(tile_counts(distributions_of(recipe, matrix, nodes).first, Stored::full), ElementsAre(35, 35, 30));
    recipe.owners = FirstOwners::shares_of_rows;
    EXPECT_THAT(tile_counts(distributions_of(recipe, matrix, nodes).first, Stored::full),
                Each(::testing::ResultOf([](Index tiles) { return tiles % 10; }, 0)));
    recipe.owners = FirstOwners::rows_by_turns;
    EXPECT_EQ(distributions_of(recipe, matrix, nodes).first, block_cyclic({10, 10}, {.p = 3, .q = 1}));
    recipe.family = "1d_constrained";
    EXPECT_THAT(message_of<Error>([&] { (void)distributions_of(recipe, matrix, nodes); }),
                HasSubstr("1d_constrained needs to know when rows are ready"));
}

}  // namespace
}  // namespace tesela::plan::mds_planning_test
