#include "tesela/geo/folds.hpp"

#include "tesela/base/error.hpp"
#include "unit/geo/meuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tesela::geo::folds_test {
namespace {

using ::testing::ElementsAre;

std::map<Index, Index> sizes(const Folds& folds) {
    std::map<Index, Index> result;
    for (const Index fold : folds.of) ++result[fold];
    return result;
}

TEST(Folds, RandomOnesAreAsLargeAsEachOtherAndFollowTheSeed) {
    const Folds folds = random_folds(155, 10, 4);
    const auto counts = sizes(folds);
    EXPECT_EQ(counts.size(), 10U);
    for (const auto& [fold, count] : counts) EXPECT_TRUE(count == 15 || count == 16) << fold;
    EXPECT_EQ(random_folds(155, 10, 4).of, folds.of);
    EXPECT_NE(random_folds(155, 10, 5).of, folds.of);
    EXPECT_FALSE(std::ranges::is_sorted(folds.of));
    EXPECT_THROW((void)random_folds(155, 1, 4), Error);
    EXPECT_THROW((void)random_folds(155, 156, 4), Error);
}

TEST(Folds, BlocksAreTheCellsOfAGridThatHaveObservations) {
    const Observations square{.coordinates = {{0, 1, 9, 10, 4.9, 5.1}, {0, 10, 0, 10, 4.9, 4.9}}, .values = {}};
    Observations data = square;
    data.values.assign(6, 1.0);
    EXPECT_THAT(block_folds(data, Metric::euclidean, {2, 2}).of, ElementsAre(0, 1, 2, 3, 0, 2));
    // The middle column of three has the last two.
    EXPECT_THAT(block_folds(data, Metric::euclidean, {3, 1}).of, ElementsAre(0, 0, 2, 2, 1, 1));
    const Folds meuse = block_folds(tesela::testing::meuse(), Metric::euclidean, {4, 4});
    EXPECT_EQ(sizes(meuse).size(), static_cast<std::size_t>(meuse.count));
    EXPECT_LT(meuse.count, 16);  // the samples lie along a river
    EXPECT_THROW((void)block_folds(data, Metric::euclidean, {1, 1}), Error);
    EXPECT_THROW((void)block_folds(data, Metric::euclidean, {4}), Error);
}

TEST(Folds, BlocksGoAcrossTheDateLine) {
    Observations data{.coordinates = {{178, 179, -179, -178}, {0, 1, 0, 1}}, .values = {1, 2, 3, 4}};
    EXPECT_THAT(block_folds(data, Metric::great_circle, {2, 1}).of, ElementsAre(0, 0, 1, 1));
}

TEST(Folds, StandOneAfterTheOtherInTheOrderOfTheObservations) {
    const FoldOrder order = by_folds({.of = {2, 0, 1, 0, 2}, .count = 3});
    EXPECT_THAT(order.order, ElementsAre(1, 3, 2, 0, 4));
    EXPECT_THAT(order.begins, ElementsAre(0, 2, 3, 5));
}

}  // namespace
}  // namespace tesela::geo::folds_test
