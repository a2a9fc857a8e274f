#include "support/cases.hpp"
#include "support/mds.hpp"
#include "support/shared_engine.hpp"
#include "tesela/base/environment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace tesela::algorithms_test {
namespace {

using testing::Case;
using testing::engine;
using testing::Family;

// Every node draws the same cases and gathers the same values, so all agree on what fails.

Case any_case(Index largest) {
    return {.n = *rc::gen::inRange<Index>(1, largest),
            .tile = *rc::gen::inRange<Index>(10, 90),
            .family = *rc::gen::element(Family::block_cyclic, Family::random),
            .seed = *rc::gen::inRange<std::uint64_t>(0, 1000),
            .form = *rc::gen::element(SolveForm::local, SolveForm::classical),
            .priorities = *rc::gen::element(Priorities::critical_path, Priorities::none),
            .right_hand_sides = *rc::gen::inRange<Index>(1, 4),
            .diagonal_tile = *rc::gen::inRange<Index>(0, 50)};
}

RC_GTEST_PROP(Nodes, CholeskyEqualsLapack, ()) {
    const Case c = any_case(250);
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_cholesky<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_cholesky<float>(engine(), c).worst() <= 1);
}

RC_GTEST_PROP(Nodes, LuEqualsLapack, ()) {
    const Case c = any_case(160);
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_lu<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_lu<float>(engine(), c).worst() <= 1);
}

RC_GTEST_PROP(Nodes, GramMatrixOfDistancesAndItsProductAreThoseOfThePoints, ()) {
    const testing::MdsCase c{.points = *rc::gen::inRange<Index>(1, 150),
                             .tile = *rc::gen::inRange<Index>(5, 60),
                             .columns = *rc::gen::inRange<Index>(1, 80),
                             .seed = *rc::gen::inRange<std::uint64_t>(0, 1000)};
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_mds(engine(), c) <= 1);
}

TEST(Nodes, AreAsManyAsWereStarted) {
    // Under the launcher of another MPI every process would be alone.
    if (const auto started = environment("TESELA_TESTED_NODES")) {
        EXPECT_EQ(std::to_string(engine().node_count()), *started);
    }
}

TEST(Nodes, CholeskyOfOrder1500EqualsLapack) {
    const Case c{.n = 1500, .tile = 190, .family = Family::block_cyclic};
    EXPECT_LE(testing::run_cholesky<double>(engine(), c).worst(), 1);
    const Case r{.n = 1499, .tile = 200, .family = Family::random, .seed = 5, .form = SolveForm::classical};
    EXPECT_LE(testing::run_cholesky<float>(engine(), r).worst(), 1);
}

TEST(Nodes, LuOfOrder1500EqualsLapack) {
    const Case c{.n = 1500, .tile = 190, .family = Family::block_cyclic};
    EXPECT_LE(testing::run_lu<double>(engine(), c).worst(), 1);
    const Case r{.n = 1499, .tile = 200, .family = Family::random, .seed = 5, .form = SolveForm::classical};
    EXPECT_LE(testing::run_lu<float>(engine(), r).worst(), 1);
}

TEST(Nodes, MoreNodesThanTiles) { EXPECT_LE(testing::run_cholesky<double>(engine(), {.n = 5, .tile = 50}).worst(), 1); }

double indefinite_at(const void* pivot, ElementIndex at) {
    if (at.i != at.j) return 0;
    return at.i == *static_cast<const Index*>(pivot) ? -1 : 4;
}

RC_GTEST_PROP(Nodes, AllLearnTheFirstBadPivotAndGoOn, ()) {
    const Index n = *rc::gen::inRange<Index>(1, 150);
    const Index pivot = *rc::gen::inRange<Index>(0, n);
    Stream s(engine());
    const Tiling tiling = Tiling::square(n, 16);
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), engine().node_count(), 3));
    generate(s, A.view(), {indefinite_at, &pivot});
    cholesky(s, A);
    RC_ASSERT(s.wait() == (Status{Failure::not_positive_definite, pivot}));
    generate(s, A.view(), {testing::spd_element});
    cholesky(s, A);
    RC_ASSERT(s.wait().ok());
}

TEST(Nodes, MemoryOfCopiesIsFreedWhenTheyAreRetired) {
    Stream s(engine());
    const Tiling tiling = Tiling::square(512, 32);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine().node_count()), {.stored = Stored::lower});
    double owned = 0;
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j <= i; ++j)
            if (A(i, j).owner() == engine().this_node()) owned += 32 * 32 * 8;
    ASSERT_TRUE(s.wait().ok());
    const double before = engine().memory_use().in_use;
    generate(s, A.view(), {testing::spd_element});
    cholesky(s, A);
    ASSERT_TRUE(s.wait().ok());
    EXPECT_LE(engine().memory_use().in_use - before, owned);
}

RC_GTEST_PROP(Nodes, ValuesFollowMovesAndRemoteWrites, ()) {
    const Index nodes = engine().node_count();
    Stream s(engine());
    Matrix<double> x(s, Tiling::square(3, 3), Distribution({1, 1}, nodes, {0}), {.name = "x"});
    Matrix<double> unit(s, Tiling::square(3, 3), Distribution({1, 1}, nodes, {0}), {.name = "unit"});
    fill(s, x.view(), {});
    fill(s, unit.view(), {.off_diagonal = 1, .diagonal = 1});
    double expected = 0;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
    for (const int step : steps) {
        const NodeId where{*rc::gen::inRange<Index>(0, nodes)};
        if (step == 0) s.move(x(0, 0), where);
        if (step == 1) s.move(unit(0, 0), where);
        if (step == 2) s.retire(unit(0, 0));
        if (step == 3) {
            // Runs on a node that may own neither tile.
            s.submit(Task::unchecked(Dense<double>::geadd,
                                     {{unit(0, 0), AccessMode::read}, {x(0, 0), AccessMode::read_write}},
                                     GeaddArguments{})
                         .on(where));
            expected += 1;
        }
    }
    const std::vector<double> values = gather(s, x.view());
    RC_ASSERT(s.wait().ok());
    RC_ASSERT(values == std::vector<double>(9, expected));
}

TEST(Nodes, ASumOverNodesIsTheSameEverywhere) {
    const Index nodes = engine().node_count();
    Stream s(engine());
    const Tiling tiling = Tiling::uniform({100, 1}, {7, 1});
    Matrix<double> z(s, tiling, random_distribution(tiling.grid(), nodes, 11), {.name = "z"});
    generate(s, z.view(), {[](const void*, ElementIndex at) { return static_cast<double>(at.i); }});
    Matrix<double> sum(s, Tiling::square(1, 1), Distribution({1, 1}, nodes, {static_cast<std::int32_t>(nodes - 1)}));
    dot(s, z.view(), z.view(), sum.view());
    EXPECT_EQ(s.read<double>(sum(0, 0), 0).get(), 99.0 * 100.0 * 199.0 / 6.0);
    EXPECT_TRUE(s.wait().ok());
}

TEST(Nodes, TokensTravelBetweenNodesWithoutStoppingTheStream) {
    const Index nodes = engine().node_count();
    Stream s(engine());
    const Token token(s, NodeId{0});
    Matrix<double> x(s, Tiling::square(1, 1), Distribution({1, 1}, nodes, {static_cast<std::int32_t>(nodes - 1)}));
    static const Kernel nothing{"nothing", nullptr, [](const KernelCall&) noexcept -> KernelResult { return {}; }};
    s.submit(Task::unchecked(nothing, {{token.ref(), AccessMode::write}}));
    for (int i = 0; i < 10; ++i) {
        s.submit(Task::unchecked(nothing, {{token.ref(), AccessMode::read}, {x(0, 0), AccessMode::write}}));
        s.submit(Task::unchecked(nothing, {{token.ref(), AccessMode::read_write}}).on(NodeId{i % nodes}));
    }
    EXPECT_TRUE(s.wait().ok());
}

TEST(Nodes, AMatrixOverCallersArraysIsReadFromItsOwners) {
    const Index n = 60;
    std::vector<double> array = testing::dense<double>({n, n}, {testing::spd_element});
    Stream s(engine());
    const Tiling tiling = Tiling::square(n, 13);
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), engine().node_count(), 2),
                     over_array(array.data(), n, tiling));
    cholesky(s, A);
    const auto factor = gather(s, A.lower());
    ASSERT_TRUE(s.wait().ok());
    std::vector<double> expected = testing::dense<double>({n, n}, {testing::spd_element});
    testing::reference_cholesky<double>(n, expected);
    EXPECT_LE(largest_difference(factor, expected), testing::tolerance<double>(n));
}

}  // namespace
}  // namespace tesela::algorithms_test
