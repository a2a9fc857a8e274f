#include "tesela/pictures/rank_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/pictures/colour.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tesela::rank_map_test {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

std::string filled(ColourMap map, double fraction) { return "fill=\"" + hex(colour_at(map, fraction)) + "\""; }

/// Three tile rows, the last of them short; ranks 4 to 12 below the diagonal, of which one tile is whole at last.
RankMaps example() {
    return {.title = "A & L",
            .tiling = Tiling::square(250, 100),
            .stored = Stored::lower,
            .initial = {.grid = {3, 3}, .ranks = {-1, 0, 0, 4, -1, 0, 8, 12, -1}},
            .last = {.grid = {3, 3}, .ranks = {-1, 0, 0, 6, -1, 0, 4, -1, -1}}};
}

TEST(RankChanges, CountTilesThatAreStoredWholeWithTheirFullRank) {
    EXPECT_EQ(rank_changes(example()).ranks, (std::vector<Index>{0, 0, 0, 2, 0, 0, -4, 50 - 12, 0}));
}

TEST(DrawRankMaps, DrawsRanksInOneScaleAndTheDifferenceInAnother) {
    const std::string picture = draw_rank_maps(example());
    EXPECT_NE(picture.find("A &amp; L"), std::string::npos);
    // 12 is the largest rank of both maps, and so the end of their scale.
    EXPECT_EQ(occurrences(picture, filled(ColourMap::viridis, 1)), 1);
    EXPECT_EQ(occurrences(picture, filled(ColourMap::viridis, 8.0 / 12)), 1);
    EXPECT_EQ(occurrences(picture, filled(ColourMap::viridis, 4.0 / 12)), 2);
    EXPECT_EQ(occurrences(picture, filled(ColourMap::viridis, 6.0 / 12)), 1);
    // From -38 to 38.
    EXPECT_EQ(occurrences(picture, filled(ColourMap::blue_red, 1)), 1);
    EXPECT_EQ(occurrences(picture, filled(ColourMap::blue_red, 0.5 + 2.0 / 76)), 1);
    EXPECT_EQ(occurrences(picture, filled(ColourMap::blue_red, 0.5 - 4.0 / 76)), 1);
    EXPECT_NE(picture.find("mean 8.0, 4 to 12"), std::string::npos);
    EXPECT_NE(picture.find("mean 5.0, 4 to 6"), std::string::npos);
    EXPECT_NE(picture.find("mean 12.0, -4 to 38"), std::string::npos);
}

TEST(DrawRankMaps, MarksTilesThatAreStoredWhole) {
    // Three on the diagonal of each map; beside the last of the second map the tile next to it, as one rectangle.
    EXPECT_EQ(occurrences(draw_rank_maps(example()), "fill=\"#808080\""), 3 * 3 + 1);
}

TEST(DrawRankMaps, DrawsAMatrixWithoutRanks) {
    RankMaps maps = example();
    maps.initial.ranks.assign(9, -1);
    maps.last.ranks.assign(9, -1);
    EXPECT_EQ(occurrences(draw_rank_maps(maps), "all tiles are stored whole"), 3);
}

TEST(DrawRankMaps, RefusesMapsOfAnotherGrid) {
    RankMaps maps = example();
    maps.last.ranks.pop_back();
    EXPECT_THROW((void)draw_rank_maps(maps), Error);
    maps = example();
    maps.tiling = Tiling::square(400, 100);
    EXPECT_THROW((void)draw_rank_maps(maps), Error);
}

}  // namespace
}  // namespace tesela::rank_map_test
