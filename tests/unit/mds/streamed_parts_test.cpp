// The parts of a streamed matrix by themselves: its memory, its reading and its borders.
#include "tesela/mds/internal/borders.hpp"
#include "tesela/mds/internal/tile_reading.hpp"

#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/tasks.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tesela::streamed_parts_test {
namespace {

/// Ten rows of tiles on two nodes in turns, of which the last four are kept, and read by panels of four tiles.
StreamedSpec two_nodes() {
    const Tiling tiling = Tiling::square(95, 10);
    const Distribution rows = tabulate(tiling.grid(), 2, [](Index i, Index) { return i % 2; });
    return {.tiling = tiling,
            .stored = Stored::lower,
            .read = rows,
            .compute = rows,
            .columns = 3,
            .resident_rows = 4,
            .passing_rows = 2,
            .reading = {.panel_tiles = 4, .slots = 2}};
}

TEST(ResidentTiles, RowsThatAreNotKeptFollowEachOtherInTheMemoryOfTheirNode) {
    RecordingEngine engine(2);
    Stream s(engine);
    const ResidentTiles tiles(s, two_nodes());
    EXPECT_FALSE(tiles.whole());
    const auto memory = [&](Index i) { return tiles.tile(i, 0).matrix; };
    EXPECT_EQ(memory(0), memory(4));
    EXPECT_EQ(memory(1), memory(5));
    EXPECT_NE(memory(0), memory(2));
    EXPECT_NE(memory(0), memory(1));
    for (Index i = 6; i < 10; ++i)
        for (Index k = 0; k < i; ++k) EXPECT_NE(memory(i), memory(k));
    for (Index i = 0; i < 10; ++i) EXPECT_EQ(tiles.tile(i, 0).owner(), NodeId{i % 2});
}

TEST(ResidentTiles, PanelsAreUsedAgainFromTheirStepOnButThatOfTheLastRow) {
    RecordingEngine engine(2);
    Stream s(engine);
    StreamedSpec spec = two_nodes();
    const ResidentTiles again(s, spec);
    const auto place = [](const ResidentTiles& tiles, Index i) { return tiles.panel(i, 0).index.j; };
    EXPECT_EQ(place(again, 0), place(again, 4));
    EXPECT_NE(place(again, 0), place(again, 2));
    EXPECT_NE(place(again, 1), place(again, 0));
    for (Index i = 0; i < 9; ++i) EXPECT_NE(place(again, i), place(again, 9));
    spec.step = StreamingStep::async;
    spec.resident_rows = 10;
    const ResidentTiles once(s, spec);
    EXPECT_TRUE(once.whole());
    for (Index i = 1; i < 10; ++i) EXPECT_EQ(place(once, i), place(once, i - 1) + 1);
}

TEST(TileReading, ARowIsReadInPanelsWhoseTilesAreTaken) {
    RecordingEngine engine(2);
    {
        Stream s(engine);
        const StreamedSpec spec = two_nodes();
        const ResidentTiles tiles(s, spec);
        TileReading(s, spec, tiles).read_row(5);
        EXPECT_TRUE(s.wait().ok());
    }
    std::vector<std::string> kernels;
    const Recording recording = engine.take();
    for (const RecordedItem& item : recording.items) {
        kernels.emplace_back(item.kernel->name);
        EXPECT_EQ(item.node, 1);
        EXPECT_EQ(item.step, 5);
        EXPECT_EQ(item.priority, 5);
        EXPECT_EQ(item.resource != 0, kernels.back() == "dread");
    }
    EXPECT_THAT(kernels,
                ::testing::ElementsAre("dread", "dtake", "dtake", "dtake", "dtake", "dread", "dtake", "dtake"));
}

TEST(Borders, ProductsAreCorrectedByTheMeansOfWhatWasAdded) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(6, 3);
    const Distribution all = one_dimensional(tiling.grid(), {1.0});
    const StreamedSpec spec{
        .tiling = tiling, .read = all, .compute = all, .rule = BorderRule::means, .columns = 2, .resident_rows = 2};
    Borders borders(s, spec);
    const ResidentTiles tiles(s, spec);
    // Column j of H is 1 + j in its first half and 3 + j below: its mean is 2 + j.
    generate(s, tiles.whole()->view(), [](Index i, Index j) { return static_cast<double>(j) + (i < 3 ? 1.0 : 3.0); });
    borders.begin();
    for (Index i = 0; i < 2; ++i) borders.add(i, tiles);
    borders.finish();
    const std::vector<double> means = gather(s, borders.sums(BorderSide::cols).view());
    for (std::size_t j = 0; j < 6; ++j) EXPECT_DOUBLE_EQ(means[j], 2.0 + static_cast<double>(j));
    // Vᵀ·X of ones is -Σ(2 + j) = -27, which U brings to each row of a product.
    const Matrix<double> X = borders.beside(BorderSide::cols, "X", 2);
    const Matrix<double> Y = borders.beside(BorderSide::rows, "Y", 2);
    fill(s, X.view(), {.off_diagonal = 1, .diagonal = 1});
    fill(s, Y.view(), {.off_diagonal = 30, .diagonal = 30});
    borders.weigh(BorderSide::cols, X);
    for (Index i = 0; i < 2; ++i) borders.correct(BorderSide::rows, i, Y);
    for (const double y : gather(s, Y.view())) EXPECT_DOUBLE_EQ(y, 3);
    // Centred tiles need no more correction, and have ±1 in each place.
    borders.centre(tiles);
    borders.correct(BorderSide::rows, 0, Y);
    for (const double y : gather(s, Y.view())) EXPECT_DOUBLE_EQ(y, 3);
    const Scalar<double> squares(s);
    s.submit(tasks::laset({}, squares.tile()));
    for (Index i = 0; i < 2; ++i) borders.add_squares(i, tiles, squares);
    EXPECT_DOUBLE_EQ(squares.value(s).get(), 36);
}

}  // namespace
}  // namespace tesela::streamed_parts_test
