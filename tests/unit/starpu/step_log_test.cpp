#include "tesela/starpu/internal/step_log.hpp"

#include "tesela/kernels/dense.hpp"
#include "tesela/starpu/internal/attachment.hpp"
#include "tesela/starpu/internal/shared.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tesela::starpu::step_log_test {
namespace {

MatrixSpec spec(const std::string& name = "A", Index tile = 2) {
    const Tiling tiling = Tiling::square(4, tile);
    const auto tiles = static_cast<std::size_t>(tiling.grid().count());
    return {.name = name,
            .tiling = tiling,
            .distribution = Distribution(tiling.grid(), 2, std::vector<std::int32_t>(tiles))};
}

class Steps : public ::testing::Test {
protected:
    std::unique_ptr<StarpuAttachment> attach(MatrixSpec of, std::int64_t first_datum = 0) {
        return std::make_unique<StarpuAttachment>(std::move(of), shared, first_datum);
    }
    [[nodiscard]] Task fill(double value, TileIndex tile, AccessMode mode = AccessMode::write) const {
        return Task::unchecked(Dense<double>::laset, {{{A.get(), tile}, mode}}, LasetArguments{.off_diagonal = value});
    }
    /// Its first fill, with the tile seen in some way.
    [[nodiscard]] Task seen(TileView view) const {
        Task task = fill(0, {0, 0});
        task.accesses[0].view = view;
        return task;
    }
    [[nodiscard]] Exchange exchange(Index from, Index message_bytes = 100) const {
        const Tiling& tiling = A->tiling();
        return {.from = A.get(),
                .to = B.get(),
                .overlay = std::make_shared<const Overlay>(OverlayProblem{
                    .from = tiling, .to = tiling, .from_offset = {from, 0}, .to_offset = {}, .size = {2, 2}}),
                .options = {.message_bytes = message_bytes}};
    }
    using Add = std::function<void(StepLog&)>;
    static std::uint64_t trail_after(const Add& add) {
        StepLog log;
        add(log);
        return log.trail(log.count()).value_or(0);
    }
    [[nodiscard]] std::string text_after(const Add& add) const {
        StepLog log;
        add(log);
        return log.recall(log.count(), names).text;
    }

    Shared shared{.nodes = 2};
    std::unique_ptr<StarpuAttachment> A = attach(spec());
    std::unique_ptr<StarpuAttachment> B = attach(spec("B"), 4);
    TileNames names;
};

TEST_F(Steps, DifferWhereNodesDoDifferentThings) {
    const std::vector<Add> different{[&](StepLog& log) {
                                         log.add(fill(0, {0, 0}));
                                     },
                                     [&](StepLog& log) {
                                         log.add(fill(1, {0, 0}));
                                     },
                                     [&](StepLog& log) {
                                         log.add(fill(0, {0, 1}));
                                     },
                                     [&](StepLog& log) {
                                         log.add(fill(0, {0, 0}, AccessMode::read_write));
                                     },
                                     [&](StepLog& log) {
                                         log.add(fill(0, {0, 0}).on(NodeId{1}));
                                     },
                                     [&](StepLog& log) {
                                         const Access written{{A.get(), {0, 0}}, AccessMode::write};
                                         log.add(Task::unchecked(Dense<double>::scale, {written}, ScaleArguments{}));
                                     },
                                     [&](StepLog& log) { log.add(seen({.op = Op::transpose})); },
                                     [&](StepLog& log) { log.add(seen({.part = Part::lower})); },
                                     [&](StepLog& log) { log.add(seen({.part = Part::lower, .diagonal = 1})); },
                                     [&](StepLog& log) {
                                         log.add(TileStep::retire, {A.get(), {0, 0}});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::discard, {A.get(), {0, 0}});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::fetch, {A.get(), {0, 0}});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::fetch, {A.get(), {1, 0}});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::move, {A.get(), {0, 0}}, std::array{0});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::move, {A.get(), {0, 0}}, std::array{1});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::share, {A.get(), {0, 0}}, std::array{0, 1});
                                     },
                                     [&](StepLog& log) {
                                         log.add(TileStep::share, {A.get(), {0, 0}}, std::array{0, 0});
                                     },
                                     [&](StepLog& log) { log.add(exchange(0)); },
                                     [&](StepLog& log) { log.add(exchange(1)); },
                                     [&](StepLog& log) { log.add(exchange(0, 200)); }};
    for (std::size_t a = 0; a < different.size(); ++a)
        for (std::size_t b = 0; b < different.size(); ++b)
            EXPECT_EQ(trail_after(different[a]) == trail_after(different[b]), a == b) << a << " and " << b;
}

TEST_F(Steps, DifferWhereMatricesThatComeDo) {
    std::vector<MatrixSpec> different{spec(), spec("B"), spec("A", 4), spec("A", 1)};
    different.push_back(spec());
    different.back().distribution.set_owner({1, 0}, NodeId{1});
    different.push_back(spec());
    different.back().type = ElementType::f32;
    different.push_back(spec());
    different.back().stored = Stored::lower;
    different.push_back(spec());
    different.back().memory = [](TileIndex) { return TileMemory{}; };
    for (const double accuracy : {0.1, 0.2}) {
        different.push_back(spec());
        different.back().compression = Compression{.accuracy = accuracy};
    }
    const auto trail_with = [&](const MatrixSpec& of) {
        return trail_after([&](StepLog& log) { log.add(*attach(of)); });
    };
    for (std::size_t a = 0; a < different.size(); ++a)
        for (std::size_t b = 0; b < different.size(); ++b)
            EXPECT_EQ(trail_with(different[a]) == trail_with(different[b]), a == b) << a << " and " << b;
}

TEST_F(Steps, AreToldInWords) {
    names.add(*A);
    names.add(*B);
    EXPECT_EQ(text_after([&](StepLog& log) {
                  log.add(fill(0, {1, 0}).on(NodeId{1}));
              }),
              "submits dlaset on A(1, 0) for node 1");
    EXPECT_EQ(text_after([&](StepLog& log) {
                  log.add(TileStep::move, {B.get(), {1, 1}}, std::array{1});
              }),
              "moves B(1, 1) to node 1");
    EXPECT_EQ(text_after([&](StepLog& log) { log.add(exchange(0)); }), "redistributes A to B");
    EXPECT_EQ(text_after([&](StepLog& log) { log.add(*B); }), "makes matrix B of 4 x 4 doubles in 2 x 2 tiles");
    names.gone(*A);
    EXPECT_EQ(names.tile(A->datum({1, 1})), "A(1, 1)");  // for a while
    EXPECT_EQ(names.tile(100), "a tile of a matrix that is gone");
}

TEST_F(Steps, AreRememberedForAWhile) {
    StepLog log;
    EXPECT_EQ(log.trail(0), 0U);
    std::vector<std::uint64_t> trails;
    for (int k = 0; k < 40'000; ++k) {
        ASSERT_EQ(log.add(fill(k, {0, 0})), trails.size() + 1);
        trails.push_back(log.trail(trails.size() + 1).value_or(0));
    }
    const std::uint64_t oldest = log.recall(0, names).oldest;
    EXPECT_GT(oldest, 20'000U);
    EXPECT_FALSE(log.trail(oldest - 1));
    EXPECT_FALSE(log.trail(40'001));
    for (std::uint64_t step = oldest; step <= 40'000; ++step) ASSERT_EQ(log.trail(step), trails[step - 1]);
}

}  // namespace
}  // namespace tesela::starpu::step_log_test
