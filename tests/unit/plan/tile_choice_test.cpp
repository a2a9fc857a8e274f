#include "tesela/plan/tile_choice.hpp"

#include "tesela/base/error.hpp"
#include "tesela/geo/planning.hpp"
#include "tesela/io/json_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace tesela::plan::tile_choice_test {
namespace {

using ::testing::Each;
using ::testing::Ge;

Platform two_and_two() {
    return choose_nodes(read_json_file(std::string(TESELA_PLATFORM_DIR) + "/sdumont-gsl.json").get<Platform>(),
                        "2sdc+2sdg");
}

/// A tile size takes so many seconds for each cube of tiles, whatever the machine.
TileChoice choose(Index points, std::vector<Index> tiles, double budget = 60, double seconds_per_task = 0) {
    double now = 1000;
    const auto application = [&](Index tile) {
        now += seconds_per_task * std::pow(static_cast<double>(points) / static_cast<double>(tile), 3);
        return geo::planned_evaluation({.points = points, .tile = tile});
    };
    return choose_tile(application, std::move(tiles), two_and_two(), {.budget_seconds = budget}, [&] { return now; });
}

TEST(TileChoice, IsTheShortestOfThoseTried) {
    const TileChoice choice = choose(19200, usual_tiles(19200));
    ASSERT_GE(choice.tried.size(), 3U);
    double best = 0;
    for (const TriedTile& one : choice.tried)
        if (one.tile == choice.tile) best = one.makespan;
    std::vector<double> makespans;
    for (const TriedTile& one : choice.tried) makespans.push_back(one.makespan);
    EXPECT_THAT(makespans, Each(Ge(best)));
    // Neither one tile per node nor tiles that GPUs cannot use well.
    EXPECT_LT(choice.tile, 4800);
    EXPECT_GT(choice.tile, 160);
}

TEST(TileChoice, TriesAtLeastOneHoweverLittleTimeThereIs) {
    const TileChoice choice = choose(9600, {480, 960, 2400}, 0, 1);
    ASSERT_EQ(choice.tried.size(), 1U);
    EXPECT_EQ(choice.tile, 2400);
}

// Each size takes 2.4 or 3.4 times as long as the last: one more would be over the share.
TEST(TileChoice, BeginsNoSizeThatWouldTakeWhatIsForOwners) {
    for (const double budget : {5.0, 20.0, 60.0}) {
        const TileChoice choice = choose(9600, {320, 480, 640, 960, 1280, 1920}, budget, 0.001);
        EXPECT_GE(choice.tried.size(), 3U) << budget;
        EXPECT_LT(choice.tried.size(), 6U) << budget;
        EXPECT_LE(choice.seconds, 0.4 * budget);
        EXPECT_GT(choice.seconds, 0.05 * budget);
    }
}

TEST(TileChoice, StrategiesOfTheChosenTileAreNotSimulatedAgain) {
    const TileChoice choice = choose(9600, {960, 1920});
    Application application = geo::planned_evaluation({.points = 9600, .tile = choice.tile});
    Index submitted = 0;
    application.submit = [&submitted, submit = application.submit](Engine& engine, const PhaseDistributions& owners) {
        ++submitted;
        submit(engine, owners);
    };
    PlanOptions options{.budget_seconds = 0};
    const Planned again = make_plan(application, two_and_two(), options);
    const Index all = std::exchange(submitted, 0);
    options.known = choice.strategies;
    const Planned planned = make_plan(application, two_and_two(), options);
    EXPECT_EQ(submitted, all - 7);
    EXPECT_EQ(planned.simulated, again.simulated);
    EXPECT_EQ(planned.chosen().simulated.makespan, again.chosen().simulated.makespan);
    EXPECT_EQ(planned.chosen().distributions, again.chosen().distributions);
}

// Large tiles divide worse among nodes: of 5000 points in tiles of 960 one node has more than its memory.
TEST(TileChoice, PassesOverSizesThatMemoryHasNoRoomFor) {
    Platform platform = two_and_two();
    const auto choose_with = [&](double memory) {
        for (NodeType& type : platform.node_types) type.memory = memory;
        return choose_tile([](Index tile) { return geo::planned_evaluation({.points = 5000, .tile = tile}); },
                           {250, 960}, platform, {.budget_seconds = 60});
    };
    EXPECT_EQ(choose_with(1e9).tried.size(), 2U);
    const TileChoice choice = choose_with(55e6);
    EXPECT_EQ(choice.tile, 250);
    EXPECT_EQ(choice.tried.size(), 1U);
    EXPECT_THROW((void)choose_with(20e6), Error);
}

TEST(TileChoice, StopsWhereSmallerTilesAreClearlyWorse) {
    const TileChoice choice = choose(9600, {40, 60, 960});
    EXPECT_EQ(choice.tile, 960);
    EXPECT_EQ(choice.tried.size(), 2U);  // 40 would be worse still
}

TEST(TileChoice, OffersSizesWithEnoughTilesAndNotTooMany) {
    for (const Index tile : usual_tiles(100'000)) {
        EXPECT_GE(100'000 / tile, 4);
        EXPECT_LE(100'000 / tile, 200);
    }
    EXPECT_EQ(usual_tiles(10), std::vector<Index>{2});
    EXPECT_EQ(usual_tiles(1'000'000), std::vector<Index>{2560});
    EXPECT_THROW((void)choose(100, {}), Error);
}

}  // namespace
}  // namespace tesela::plan::tile_choice_test
