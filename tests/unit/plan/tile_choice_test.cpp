#include "tesela/plan/tile_choice.hpp"

#include "tesela/apps/geo/planning.hpp"
#include "tesela/base/error.hpp"
#include "tesela/io/json_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tesela::plan {
namespace {

using ::testing::Each;
using ::testing::Ge;

Platform two_and_two() {
    return choose_nodes(read_json_file(std::string(TESELA_PLATFORM_DIR) + "/sdumont-gsl.json").get<Platform>(),
                        "2sdc+2sdg");
}

TileChoice choose(Index points, std::vector<Index> tiles, double budget = 60) {
    return choose_tile([&](Index tile) { return geo::planned_evaluation({.points = points, .tile = tile}); },
                       std::move(tiles), two_and_two(), {.budget_seconds = budget});
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
    const TileChoice choice = choose(9600, {480, 960, 2400}, 0);
    ASSERT_EQ(choice.tried.size(), 1U);
    EXPECT_EQ(choice.tile, 2400);
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
}  // namespace tesela::plan
