#include "tesela/pictures/owner_map.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/pictures/colour.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tesela::owner_map_test {
namespace {

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

OwnerMap example(Stored stored) {
    return {.title = "2 x 3 & more",
            .distribution = block_cyclic({6, 6}, {.p = 2, .q = 3}),
            .stored = stored,
            .loads = {6, 6, 6, 6, 6, 6},
            .ideal = {6, 6, 6, 6, 6, 12}};
}

TEST(DrawOwnerMap, DrawsEveryStoredTileInTheColourOfItsOwner) {
    const std::string all = draw_owner_map(example(Stored::full)), lower = draw_owner_map(example(Stored::lower));
    // Each node has 6 of 36 tiles, a swatch and a bar.
    for (Index node = 0; node < 6; ++node)
        EXPECT_EQ(occurrences(all, "fill=\"" + hex(categorical_colour(node)) + "\""), 6 + 2) << node;
    EXPECT_EQ(occurrences(all, "<rect"), occurrences(lower, "<rect") + 15);
    EXPECT_NE(all.find("2 x 3 &amp; more"), std::string::npos);
    EXPECT_NE(all.find("6 (0.500)"), std::string::npos);
}

TEST(DrawOwnerMap, TellsNodesApartByNumberWhereColoursRepeat) {
    const OwnerMap many{
        .title = "", .distribution = block_cyclic({8, 8}, {.p = 8, .q = 8}), .loads = std::vector<double>(64, 1.0)};
    EXPECT_EQ(occurrences(draw_owner_map(many), ">63<"), 2);  // in its tile and in the legend
}

TEST(DrawOwnerMap, JoinsEqualNeighboursOfALargeMap) {
    const OwnerMap large{.title = "", .distribution = block_cyclic({200, 200}, {.p = 2, .q = 1}), .loads = {1, 1}};
    EXPECT_LT(occurrences(draw_owner_map(large), "<rect"), 210);
}

TEST(DrawOwnerMap, RefusesLoadsThatDoNotFit) {
    OwnerMap map = example(Stored::full);
    map.loads.pop_back();
    EXPECT_THROW((void)draw_owner_map(map), Error);
    map = example(Stored::full);
    map.names = {"one"};
    EXPECT_THROW((void)print_owner_map(map, {}), Error);
}

TEST(PrintOwnerMap, WritesNumbersWithoutColours) {
    const OwnerMap map{.title = "two", .distribution = Distribution({2, 3}, 2, {0, 1, 0, 1, 1, 0}), .loads = {2, 4}};
    EXPECT_EQ(print_owner_map(map, {.colours = TerminalStyle::Colours::none}),
              "two\n 0 1 0\n 1 1 0\n\n"
              "0 ####################                     2\n"
              "1 ######################################## 4\n");
}

TEST(PrintOwnerMap, FitsTheTerminal) {
    for (const Index n : {10, 40, 41, 80, 300}) {
        const OwnerMap map{.title = "", .distribution = random_distribution({n, n}, 3, 1), .loads = {1, 1, 1}};
        const std::string text = print_owner_map(map, {.columns = 80});
        std::string first = text.substr(0, text.find('\n'));
        std::size_t characters = 0;
        for (std::size_t at = 0; at < first.size(); ++at) {
            if (first[at] == '\x1b')
                at = first.find('m', at);  // a colour takes no room
            else if ((static_cast<unsigned char>(first[at]) & 0xC0) != 0x80)
                ++characters;
        }
        EXPECT_LE(characters, 80U) << n;
        EXPECT_GE(characters, 20U) << n;
    }
}

}  // namespace
}  // namespace tesela::owner_map_test
