#include "tesela/algs/reduction_tree.hpp"

#include "tesela/base/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tesela::reduction_tree_test {
namespace {

using Merge = ReductionTree::Merge;
using ::testing::ElementsAre;

std::vector<PanelTile> tiles_of(const std::vector<Index>& owners, Index first_row = 0) {
    std::vector<PanelTile> tiles;
    for (const Index owner : owners)
        tiles.push_back({.row = first_row + static_cast<Index>(tiles.size()), .owner = NodeId{owner}});
    return tiles;
}

TEST(ReductionTree, FlatAddsAllToTheFirst) {
    const ReductionTree tree = reduction_tree(tiles_of({0, 1, 0}, 4), {.reduction = Reduction::flat});
    EXPECT_THAT(tree.domains, ElementsAre(ElementsAre(4, 5, 6)));
    EXPECT_TRUE(tree.merges.empty());
}

TEST(ReductionTree, BinaryMergesByPairs) {
    const ReductionTree tree = reduction_tree(tiles_of({0, 0, 0, 0, 0}), {.reduction = Reduction::binary});
    EXPECT_EQ(tree.domains.size(), 5U);
    EXPECT_THAT(tree.merges, ElementsAre(Merge{0, 1, 0}, Merge{2, 3, 0}, Merge{0, 2, 1}, Merge{0, 4, 2}));
}

TEST(ReductionTree, DomainsAreOfSoManyTiles) {
    const ReductionTree tree =
        reduction_tree(tiles_of({0, 0, 0, 0, 0}), {.reduction = Reduction::domains, .domain = 2});
    EXPECT_THAT(tree.domains, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
    EXPECT_THAT(tree.merges, ElementsAre(Merge{0, 1, 0}, Merge{0, 2, 1}));
    EXPECT_EQ(tree.longest_domain(), 2);
}

TEST(ReductionTree, AutomaticMergesWithinNodesFirst) {
    const ReductionTree tree =
        reduction_tree(tiles_of({7, 3, 7, 3, 7, 3, 7, 3}), {.reduction = Reduction::automatic, .domains_per_node = 2});
    EXPECT_THAT(tree.domains, ElementsAre(ElementsAre(0, 2), ElementsAre(4, 6), ElementsAre(1, 3), ElementsAre(5, 7)));
    EXPECT_THAT(tree.merges, ElementsAre(Merge{0, 1, 0}, Merge{2, 3, 0}, Merge{0, 2, 1}));
}

TEST(ReductionTree, TilesThatHoldNoTriangleLeadNoDomain) {
    auto tiles = tiles_of({0, 1, 1});
    tiles[2].height = PanelTile::Height::less;
    EXPECT_THAT(reduction_tree(tiles, {}).domains, ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
    tiles[1].height = PanelTile::Height::less;
    EXPECT_THAT(reduction_tree(tiles, {}).domains, ElementsAre(ElementsAre(0, 1, 2)));
    tiles[0].height = PanelTile::Height::less;
    EXPECT_EQ(reduction_tree(tiles, {}).head(0), 0) << "the diagonal leads whatever its height";
}

TEST(ReductionTree, RefusesDomainsOfNothing) {
    EXPECT_THROW((void)reduction_tree(tiles_of({0}), {.reduction = Reduction::domains, .domain = 0}), Error);
    EXPECT_THROW((void)reduction_tree(tiles_of({0}), {.domains_per_node = 0}), Error);
}

RC_GTEST_PROP(ReductionTree, HasEveryTileOnceAndEndsInTheFirst, ()) {
    const auto owners = *rc::gen::nonEmpty(rc::gen::container<std::vector<Index>>(rc::gen::inRange<Index>(0, 5)));
    auto tiles = tiles_of(owners, 3);
    for (PanelTile& tile : tiles)
        tile.height = *rc::gen::element(PanelTile::Height::full, PanelTile::Height::full, PanelTile::Height::less);
    const ReductionRule rule{
        .reduction = *rc::gen::element(Reduction::automatic, Reduction::flat, Reduction::binary, Reduction::domains),
        .domain = *rc::gen::inRange<Index>(1, 5),
        .domains_per_node = *rc::gen::inRange<Index>(1, 5)};
    const ReductionTree tree = reduction_tree(tiles, rule);
    std::set<Index> rows;
    for (const auto& domain : tree.domains)
        for (const Index row : domain) RC_ASSERT(rows.insert(row).second);
    RC_ASSERT(rows.size() == tiles.size());
    RC_ASSERT(tree.head(0) == 3);
    // Each triangle but the first is merged once, and what it is merged into is still there and not in use.
    std::set<Index> gone;
    std::set<std::pair<Index, Index>> busy;
    for (const Merge& merge : tree.merges) {
        RC_ASSERT(!gone.contains(merge.into) && gone.insert(merge.from).second);
        RC_ASSERT(busy.insert({merge.level, merge.into}).second && busy.insert({merge.level, merge.from}).second);
    }
    RC_ASSERT(gone.size() + 1 == tree.domains.size() && !gone.contains(0));
}

}  // namespace
}  // namespace tesela::reduction_tree_test
