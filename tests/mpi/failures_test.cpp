#include "support/cases.hpp"
#include "support/shared_engine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tesela::failures_test {
namespace {

using testing::engine;

KernelCost no_cost(std::span<const TileShape>, const void*) noexcept { return {}; }
KernelResult run_failure(const KernelCall&) noexcept { return {Failure::not_positive_definite, 5}; }
const Kernel failure{"failure", no_cost, run_failure};

/// A tile on each node: x on the first, y on the last; both have values, and the stream has waited.
struct TwoTiles {
    Stream s{engine()};
    NodeId first{0};
    NodeId last{engine().node_count() - 1};
    Matrix<double> x = on(first, "x");
    Matrix<double> y = on(last, "y");

    TwoTiles() {
        fill(s, x.view(), {.off_diagonal = 3, .diagonal = 7});
        fill(s, y.view(), {.off_diagonal = 100, .diagonal = 200});
        EXPECT_TRUE(s.wait().ok());
    }
    Matrix<double> on(NodeId node, const char* name) {
        return {s,
                Tiling::square(2, 2),
                Distribution({1, 1}, engine().node_count(), {static_cast<std::int32_t>(node.number())}),
                {.name = name}};
    }
    /// On the node that is going to send x; it should be known there by then.
    void fail() {
        s.submit(Task::unchecked(failure, {{y(0, 0), AccessMode::read_write}}).on(first));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    void add_x_to_y() {
        s.submit(Task::unchecked(Dense<double>::geadd, {{x(0, 0), AccessMode::read}, {y(0, 0), AccessMode::read_write}},
                                 GeaddArguments{}));
    }
    void set_y() { fill(s, y.view(), {.off_diagonal = 100, .diagonal = 200}); }
};

const std::vector<double> sum{207, 103, 103, 207};

TEST(Failures, ATileThatAFailedStreamOnlyReadHasItsValueOnEveryNodeAfterwards) {
    TwoTiles t;
    t.fail();
    t.add_x_to_y();  // brings a copy of x to the last node
    EXPECT_EQ(t.s.wait().failure, Failure::not_positive_definite);
    t.set_y();
    t.add_x_to_y();
    EXPECT_EQ(gather(t.s, t.y.view()), sum);
    EXPECT_TRUE(t.s.wait().ok());
}

TEST(Failures, ATileThatAFailedStreamMovedHasItsValueAfterwards) {
    TwoTiles t;
    t.fail();
    t.s.move(t.x(0, 0), t.last);
    EXPECT_EQ(t.s.wait().failure, Failure::not_positive_definite);
    t.set_y();
    t.add_x_to_y();
    EXPECT_EQ(gather(t.s, t.y.view()), sum);
    EXPECT_TRUE(t.s.wait().ok());
}

TEST(Failures, WhatAFailedStreamNeverWroteIsNotReadInTheNextRound) {
    TwoTiles t;
    const Matrix<double> z = t.on(t.first, "z");
    t.fail();
    t.add_x_to_y();
    // The task waits for the one that fails, so it never runs: z has no memory.
    t.s.submit(Task::unchecked(Dense<double>::geadd, {{t.y(0, 0), AccessMode::read}, {z(0, 0), AccessMode::write}},
                               GeaddArguments{.alpha = 1, .beta = 0}));
    EXPECT_EQ(t.s.wait().failure, Failure::not_positive_definite);
    EXPECT_THROW((void)gather(t.s, z.view()), Error);
    EXPECT_TRUE(t.s.wait().ok());
    fill(t.s, z.view(), {.off_diagonal = 1, .diagonal = 1});
    EXPECT_EQ(gather(t.s, z.view())[0], 1);
}

}  // namespace
}  // namespace tesela::failures_test
