#include "tesela/algs/priorities.hpp"

#include "tesela/algs/tile_size.hpp"

#include <gtest/gtest.h>

namespace tesela::priorities_test {
namespace {

TEST(Priorities, FollowEquationTwoDoubled) {
    const PriorityRule rule(Priorities::critical_path, 10);
    EXPECT_EQ(rule.generate({3, 2}), 2 * 30 - 5);
    EXPECT_EQ(rule.potrf(4), 2 * 3 * 6);
    EXPECT_EQ(rule.trsm(7, 4), 2 * (3 * 6 - 3));
    EXPECT_EQ(rule.syrk(7, 4), 2 * (3 * 6 - 2 * 3));
    EXPECT_EQ(rule.gemm({8, 7}, 4), 2 * (3 * 6 - 3 - 4));
    EXPECT_EQ(rule.solve_trsm(4), 2 * 2 * 6);
    EXPECT_EQ(rule.solve_gemm(6, 4), 2 * (2 * 6 - 2));
}

TEST(Priorities, OfChameleonAreForCholeskyAlone) {
    const PriorityRule rule(Priorities::chameleon, 10);
    EXPECT_EQ(rule.potrf(4), 2 * 10 - 2 * 4);
    EXPECT_EQ(rule.trsm(7, 4), 2 * 10 - 2 * 4 - 7);
    EXPECT_EQ(rule.syrk(7, 4), 2 * 10 - 2 * 4 - 7);
    EXPECT_EQ(rule.gemm({8, 7}, 4), 2 * 10 - 2 * 4 - 8 - 7);
    EXPECT_EQ(rule.generate({3, 2}), 0);
    EXPECT_EQ(rule.solve_trsm(4), 0);
    EXPECT_EQ(rule.solve_gemm(6, 4), 0);
}

TEST(Priorities, FallAlongEveryChainOfDependencies) {
    const Index nb = 12;
    const PriorityRule rule(Priorities::critical_path, nb);
    for (Index k = 0; k + 1 < nb; ++k) {
        EXPECT_GT(rule.potrf(k), rule.potrf(k + 1));
        for (Index i = k + 1; i < nb; ++i) {
            EXPECT_GT(rule.potrf(k), rule.trsm(i, k));
            EXPECT_GT(rule.trsm(i, k), rule.syrk(i, k));
            for (Index j = k + 1; j < i; ++j) EXPECT_GT(rule.trsm(i, k), rule.gemm({i, j}, k));
        }
        EXPECT_GE(rule.syrk(k + 1, k), rule.potrf(k + 1)) << "the update of the next pivot precedes it";
        EXPECT_GT(rule.solve_trsm(k), rule.solve_gemm(k + 1, k));
        EXPECT_GE(rule.solve_gemm(k + 1, k), rule.solve_trsm(k + 1));
    }
}

TEST(Priorities, GenerationComesBeforeTheFirstUseOfItsTile) {
    const Index nb = 12;
    const PriorityRule rule(Priorities::critical_path, nb);
    for (Index i = 0; i < nb; ++i)
        for (Index j = 0; j <= i; ++j) {
            const Index first_use = i == j   ? (i == 0 ? rule.potrf(0) : rule.syrk(i, 0))
                                    : j == 0 ? rule.trsm(i, 0)
                                             : rule.gemm({i, j}, 0);
            EXPECT_GE(rule.generate({i, j}), first_use);
        }
}

TEST(Priorities, OfQrFallAlongItsChainsOfDependencies) {
    const Index panels = 9;
    const QrPriorities rule(Priorities::critical_path, panels);
    for (Index k = 0; k + 1 < panels; ++k) {
        EXPECT_GT(rule.panel(k, 0), rule.panel(k, 1)) << "a tile is added after the one before it";
        EXPECT_GE(rule.panel(k, 1), rule.update(k, k + 1, 1) + 2) << "vectors come before what they update";
        EXPECT_GT(rule.update(k, k + 1, 0), rule.update(k, k + 1, 1));
        EXPECT_GT(rule.update(k, k + 1, 1), rule.update(k, k + 2, 1)) << "the next panel is updated first";
        EXPECT_GE(rule.update(k, k + 1, 1), rule.panel(k + 1, 0) + 2)
            << "an update comes before the panel that needs it";
    }
    for (const Priorities mode : {Priorities::none, Priorities::chameleon}) {
        EXPECT_EQ(QrPriorities(mode, panels).panel(2, 1), 0);
        EXPECT_EQ(QrPriorities(mode, panels).update(2, 4, 1), 0);
    }
}

TEST(Priorities, CanBeSwitchedOff) {
    const PriorityRule rule(Priorities::none, 10);
    EXPECT_EQ(rule.potrf(0), 0);
    EXPECT_EQ(rule.gemm({5, 3}, 1), 0);
    EXPECT_EQ(rule.generate({0, 0}), 0);
}

TEST(AutomaticTileSize, IsAtLeastOneAndNeverLargerThanTheMatrix) {
    for (const Index n : {0, 1, 2, 63, 64, 100, 1000, 100000})
        for (const Index cores : {1, 2, 8, 1000}) {
            const Index tile = automatic_tile_size(n, cores);
            EXPECT_GE(tile, 1);
            EXPECT_LE(tile, std::max<Index>(n, 1));
        }
}

}  // namespace
}  // namespace tesela::priorities_test
