#include "support/cases.hpp"
#include "support/shared_engine.hpp"
#include "tesela/flow/inline_engine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

namespace tesela::reductions_test {
namespace {

using testing::engine;

Distribution on_node(Index node) { return {{1, 1}, engine().node_count(), {static_cast<std::int32_t>(node)}}; }

Task add(const Matrix<double>& x, const Matrix<double>& to) {
    return {Dense<double>::geadd, {}, read(x(0, 0)), reduce(to(0, 0))};
}

/// A sum over an array of the caller's on one node, to which every node adds an x of 1.
struct Sum {
    Index nodes = engine().node_count();
    NodeId home{nodes - 1};
    std::vector<double> array{10, 10, -1, 10, 10, -1};  // 2 x 2 with a leading dimension of 3
    Stream s{engine()};
    Matrix<double> x{s, Tiling::square(2, 2), on_node(0), {.name = "x"}};
    std::unique_ptr<Matrix<double>> sum = std::make_unique<Matrix<double>>(
        s, Tiling::square(2, 2), on_node(home.number()), over_array(array.data(), 3, Tiling::square(2, 2)));

    Sum() { fill(s, x.view(), {.off_diagonal = 1, .diagonal = 1}); }
    void add_from_all() {
        for (Index node = 0; node < nodes; ++node) s.submit(add(x, *sum).on(NodeId{node}));
    }
    /// What the array must hold on this node.
    [[nodiscard]] std::vector<double> expected(Index rounds) const {
        const double value = engine().this_node() == home ? 10 + static_cast<double>(nodes * rounds) : 10;
        return {value, value, -1, value, value, -1};
    }
};

TEST(Reductions, AreInTheCallersArrayAfterAWait) {
    Sum t;
    for (Index round = 1; round <= 3; ++round) {
        t.add_from_all();
        ASSERT_TRUE(t.s.wait().ok());
        EXPECT_EQ(t.array, t.expected(round));
    }
}

TEST(Reductions, AreInTheCallersArrayWhenTheMatrixHasGone) {
    Sum t;
    t.add_from_all();
    t.sum.reset();
    EXPECT_EQ(t.array, t.expected(1));
    EXPECT_TRUE(t.s.wait().ok());
}

/// Takes longer the earlier it is in the stream, so that later tasks come first where nothing holds them back.
KernelResult add_slowly(const double& value, TileSpan<double> sum) noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds(value > 1 ? 500 : 10));
    sum(0, 0) += value;
    return {};
}
const auto slow_sum_kernel = make_kernel<add_slowly>("slow_sum");

TEST(Reductions, InOrderAddInTheOrderOfTheStreamOnEveryNode) {
    Stream s(engine(), {.sums = Sums::in_order});
    const Index nodes = engine().node_count();
    const Matrix<double> sum(s, Tiling::square(1, 1), on_node(0), {.name = "sum"});
    fill(s, sum.view(), {});
    // 1e16 first swallows the ones, one after the other; added last, it would not.
    double expected = 0;
    for (Index node = 0; node < nodes; ++node) {
        double partial = 0;
        for (int k = 0; k < 40; ++k) {
            const double value = k == 0 ? 1e16 : 1;
            s.submit(Task(slow_sum_kernel, value, reduce(sum(0, 0))).on(NodeId{node}));
            partial += value;
        }
        expected += partial;
    }
    EXPECT_EQ(s.read(sum(0, 0)).get(), expected);
}

TEST(Reductions, AreAddedBeforeATileMovesAndAfterIt) {
    Sum t;
    t.add_from_all();
    t.s.move((*t.sum)(0, 0), NodeId{0});
    t.add_from_all();
    EXPECT_EQ(gather(t.s, t.sum->view()), (std::vector<double>(4, 10 + 2 * static_cast<double>(t.nodes))));
    t.s.move((*t.sum)(0, 0), t.home);
    t.add_from_all();
    t.sum.reset();
    EXPECT_EQ(t.array, t.expected(3));
    EXPECT_TRUE(t.s.wait().ok());
}

TEST(Reductions, AreLostWhereTheTileIsOverwritten) {
    Sum t;
    t.add_from_all();
    fill(t.s, t.sum->view(), {.off_diagonal = 5, .diagonal = 5});
    EXPECT_EQ(gather(t.s, t.sum->view()), std::vector<double>(4, 5));
    EXPECT_TRUE(t.s.wait().ok());
}

/// Matrices come and go with sums that nobody has asked for; most come to the address of the one before.
void make_and_leave_sums(Engine& on) {
    const Index nodes = on.node_count();
    Stream s(on);
    const Tiling tiling = Tiling::square(3, 3);
    const auto owner = [&](Index node) {
        return Distribution({1, 1}, nodes, {static_cast<std::int32_t>(node % nodes)});
    };
    Matrix<double> x(s, tiling, owner(1), {.name = "x"});
    fill(s, x.view(), {.off_diagonal = 1, .diagonal = 1});
    for (Index k = 0; k < 30; ++k) {
        Matrix<double> a(s, tiling, owner(k), {.name = "a"});
        fill(s, a.view(), {.off_diagonal = 2, .diagonal = 2});
        EXPECT_EQ(gather(s, a.view()), std::vector<double>(9, 2)) << "matrix " << k;
        for (Index node = 0; node < nodes; ++node) s.submit(add(x, a).on(NodeId{node}));
    }
    EXPECT_TRUE(s.wait().ok());
}

TEST(Reductions, AreNotInheritedByANewMatrixAtTheSameAddress) {
    make_and_leave_sums(engine());
    InlineEngine oracle(4);
    make_and_leave_sums(oracle);
}

TEST(Reductions, OfAMatrixThatOutlivesItsStreamAreInItsArray) {
    std::vector<double> array{10};
    const Tiling tiling = Tiling::square(1, 1);
    const Index nodes = engine().node_count();
    Stream outer(engine());
    Matrix<double> sum(outer, tiling, on_node(0), over_array(array.data(), 1, tiling));
    {
        Stream inner(engine());
        Matrix<double> x(inner, tiling, on_node(nodes - 1), {.name = "x"});
        fill(inner, x.view(), {.off_diagonal = 1, .diagonal = 1});
        for (Index node = 0; node < nodes; ++node) inner.submit(add(x, sum).on(NodeId{node}));
    }
    EXPECT_EQ(array[0], engine().is_first() ? 10 + static_cast<double>(nodes) : 10);
    EXPECT_TRUE(outer.wait().ok());
}

}  // namespace
}  // namespace tesela::reductions_test
