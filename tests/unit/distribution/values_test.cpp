#include "tesela/base/error.hpp"
#include "tesela/distribution/catalogue.hpp"
#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/distribution/tiling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <nlohmann/json.hpp>

#include <numeric>

namespace tesela::values_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

RC_GTEST_PROP(Tiling, UniformTilesPartitionTheMatrix, ()) {
    const Index m = *rc::gen::inRange<Index>(0, 1000);
    const Index n = *rc::gen::inRange<Index>(0, 1000);
    const Index tile = *rc::gen::inRange<Index>(1, 300);
    const Tiling tiling = Tiling::uniform({m, n}, {tile, tile});
    RC_ASSERT(tiling.size() == (ElementIndex{m, n}));
    Index rows = 0;
    for (Index i = 0; i < tiling.grid().rows; ++i) {
        RC_ASSERT(tiling.row_begin(i) == rows);
        RC_ASSERT(tiling.rows(i) >= 1 && tiling.rows(i) <= tile);
        rows += tiling.rows(i);
    }
    RC_ASSERT(rows == m);
    RC_ASSERT(tiling.grid().rows == ceil_div(m, tile));
}

TEST(Tiling, CutsThatDoNotIncreaseAreRefused) {
    EXPECT_THROW(static_cast<void>(Tiling::from_cuts({0, 3, 3}, {0, 1})), Error);
    EXPECT_THROW(static_cast<void>(Tiling::from_cuts({1, 3}, {0, 1})), Error);
    EXPECT_THROW(static_cast<void>(Tiling::square(5, 0)), Error);
    EXPECT_THROW(static_cast<void>(Tiling::square(-1, 2)), Error);
}

TEST(Tiling, AnEnormousTileIsOneTileWithoutOverflow) {
    const Tiling tiling = Tiling::square(5, std::numeric_limits<Index>::max());
    EXPECT_EQ(tiling.grid(), (GridSize{1, 1}));
}

TEST(BlockCyclic, FollowsItsFormulaWithSuperTiles) {
    const Distribution d = block_cyclic({12, 12}, {.p = 2, .q = 3, .super_rows = 2, .super_cols = 1});
    for (Index i = 0; i < 12; ++i)
        for (Index j = 0; j < 12; ++j) EXPECT_EQ(d.owner({i, j}), NodeId{(i / 2 % 2) * 3 + j % 3});
}

TEST(BlockCyclic, TheSquarestGridHasTheNodesAsked) {
    EXPECT_EQ(squarest_block_cyclic({4, 4}, 12), block_cyclic({4, 4}, {.p = 3, .q = 4}));
    EXPECT_EQ(squarest_block_cyclic({4, 4}, 7), block_cyclic({4, 4}, {.p = 1, .q = 7}));
    EXPECT_THROW(static_cast<void>(squarest_block_cyclic({4, 4}, 0)), Error);
}

RC_GTEST_PROP(RandomDistribution, IsAFunctionOfSeedAndTileAlone, ()) {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Index nodes = *rc::gen::inRange<Index>(1, 9);
    const Distribution small = random_distribution({5, 6}, nodes, seed);
    const Distribution large = random_distribution({9, 11}, nodes, seed);
    for (Index i = 0; i < 5; ++i)
        for (Index j = 0; j < 6; ++j) RC_ASSERT(small.owner({i, j}) == large.owner({i, j}));
}

RC_GTEST_PROP(Distribution, SurvivesJson, ()) {
    const GridSize grid{*rc::gen::inRange<Index>(0, 8), *rc::gen::inRange<Index>(0, 8)};
    const Distribution d = random_distribution(grid, *rc::gen::inRange<Index>(1, 9), 5);
    RC_ASSERT(nlohmann::json::parse(nlohmann::json(d).dump()).get<Distribution>() == d);
}

TEST(Distribution, BadJsonNamesTheField) {
    const auto read = [](const char* text) { return [text] { nlohmann::json::parse(text).get<Distribution>(); }; };
    EXPECT_THAT(read("[]"), ThrowsMessage<Error>(HasSubstr("format")));
    EXPECT_THAT(read(R"({"format": "tesela-distribution", "version": 9})"),
                ThrowsMessage<Error>(HasSubstr("version 9")));
    EXPECT_THAT(read(R"({"format": "tesela-distribution", "version": 1, "rows": 1, "cols": 1, "nodes": 1})"),
                ThrowsMessage<Error>(HasSubstr("owners")));
    EXPECT_THAT(
        read(R"({"format": "tesela-distribution", "version": 1, "rows": 1, "cols": 1, "nodes": 1, "owners": [[3]]})"),
        ThrowsMessage<Error>(HasSubstr("owner 3")));
    EXPECT_THAT(
        read(R"({"format": "tesela-distribution", "version": 1, "rows": 1, "cols": 2, "nodes": 1, "owners": [[0]]})"),
        ThrowsMessage<Error>(HasSubstr("2 numbers")));
    EXPECT_THAT(read(R"({"format": 1, "version": 1})"), ThrowsMessage<Error>(HasSubstr("format")));
}

TEST(Distribution, NumbersOfAFileThatAreTooLargeAreNamedNotWrapped) {
    const auto read = [](const char* field, const nlohmann::json& value) {
        nlohmann::json json = Distribution({1, 1}, 1, {0});
        json[field] = value;
        return [json] { (void)json.get<Distribution>(); };
    };
    EXPECT_THAT(read("owners", nlohmann::json::parse("[[4294967296]]")),
                ThrowsMessage<Error>(HasSubstr("owner 4294967296")));
    EXPECT_THAT(read("version", 18446744073709551615U), ThrowsMessage<Error>(HasSubstr("version")));
    EXPECT_THAT(read("nodes", 1'000'000'000'000), ThrowsMessage<Error>(HasSubstr("\"nodes\" must be at most")));
    nlohmann::json no_rows = Distribution({0, 1}, 1, {});
    no_rows["cols"] = 1'000'000'000'000;
    EXPECT_THAT([&] { (void)no_rows.get<Distribution>(); }, ThrowsMessage<Error>(HasSubstr("\"cols\" must be")));
}

TEST(Distribution, OwnersThatDoNotFitAreRefused) {
    EXPECT_THROW(Distribution({2, 2}, 2, {0, 1, 0}), Error);
    EXPECT_THROW(Distribution({1, 2}, 2, {0, 2}), Error);
    EXPECT_THROW(Distribution({1, 1}, 0, {0}), Error);
}

TEST(MakeDistribution, ReadsWhatTheCommandLineTakes) {
    EXPECT_EQ(make_distribution("block_cyclic:2x3", {6, 6}, 6), block_cyclic({6, 6}, {.p = 2, .q = 3}));
    EXPECT_EQ(make_distribution("block_cyclic", {6, 6}, 6), squarest_block_cyclic({6, 6}, 6));
    EXPECT_EQ(make_distribution("random:7", {6, 6}, 4), random_distribution({6, 6}, 4, 7));
    for (const char* text : {"", "hexagonal", "block_cyclic:2", "block_cyclic:2x2", "block_cyclic:ax3", "random:x"})
        EXPECT_THROW(static_cast<void>(make_distribution(text, {6, 6}, 6)), Error) << text;
}

TEST(AlongDiagonal, FollowsTheOwnersOfTheDiagonal) {
    const Distribution d = random_distribution({6, 6}, 4, 1);
    const Distribution column = along_diagonal(d, 2);
    for (Index i = 0; i < 6; ++i) {
        EXPECT_EQ(column.owner({i, 0}), d.owner({i, i}));
        EXPECT_EQ(column.owner({i, 1}), d.owner({i, i}));
    }
    EXPECT_THROW(static_cast<void>(along_diagonal(random_distribution({2, 3}, 2, 1), 1)), Error);
}

}  // namespace
}  // namespace tesela::values_test
