#include "support/qr.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tesela::qr_test {
namespace {

using testing::Contents;
using testing::Family;
using testing::QrCase;

QrOptions any_options() {
    return {
        .reduction = *rc::gen::element(Reduction::automatic, Reduction::flat, Reduction::binary, Reduction::domains),
        .domain = *rc::gen::inRange<Index>(1, 6),
        .priorities = *rc::gen::element(Priorities::critical_path, Priorities::none)};
}

/// Square tiles, or of one column of tiles ones that are higher than wide.
QrCase any_case() {
    QrCase c{.size = {*rc::gen::inRange<Index>(1, 90), *rc::gen::inRange<Index>(1, 90)},
             .options = any_options(),
             .family = *rc::gen::element(Family::block_cyclic, Family::random),
             .seed = *rc::gen::inRange<std::uint64_t>(0, 1000),
             .contents = *rc::gen::element(Contents::independent, Contents::zero_columns, Contents::few_directions)};
    const Index tile = *rc::gen::inRange<Index>(1, 40);
    c.tile = {tile, tile};
    if (*rc::gen::inRange(0, 2) == 0) return c;
    c.size.j = *rc::gen::inRange<Index>(1, 30);
    c.tile = {c.size.j + *rc::gen::inRange<Index>(0, 20), c.size.j};
    c.size.i = *rc::gen::inRange<Index>(1, 250);
    return c;
}

RC_GTEST_PROP(TiledQr, GivesLapacksTriangleAndAnOrthogonalQ, ()) {
    const QrCase c = any_case();
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 7));
    RC_ASSERT(testing::run_qr<double>(engine, c).worst() <= 1);
    RC_ASSERT(testing::run_qr<float>(engine, c).worst() <= 1);
}

RC_GTEST_PROP(TiledQr, OrthonormalColumnsSpanThoseGivenWhateverTheirRank, ()) {
    QrCase c = any_case();
    c.size = {std::max(c.size.i, c.size.j), std::min(c.size.i, c.size.j)};
    c.tile = {std::max(c.tile.i, c.tile.j), std::max(c.tile.i, c.tile.j)};
    RC_LOG() << c.name();
    InlineEngine engine(*rc::gen::inRange<Index>(1, 7));
    RC_ASSERT(testing::run_orthonormalise<double>(engine, c).worst() <= 1);
    RC_ASSERT(testing::run_orthonormalise<float>(engine, c).worst() <= 1);
}

TEST(TiledQr, OfOneElementOneTileOneColumnAndOneRow) {
    InlineEngine engine(2);
    for (const ElementIndex size : {ElementIndex{1, 1}, {30, 30}, {40, 1}, {1, 40}, {7, 40}, {40, 7}})
        for (const ElementIndex tile : {ElementIndex{100, 100}, {8, 8}})
            EXPECT_LE(testing::run_qr<double>(engine, {.size = size, .tile = tile}).worst(), 1)
                << QrCase{.size = size, .tile = tile}.name();
}

TEST(TiledQr, OfColumnsThatRepeatHasAnOrthogonalQ) {
    InlineEngine engine(3);
    // Every three columns leave rounding errors of those before them: 1e-16, 1e-32, … 1e-320.
    for (const Index tile : {2, 5, 30}) {
        const QrCase c{.size = {85, 75}, .tile = {tile, tile}, .seed = 371, .contents = Contents::few_directions};
        EXPECT_LE(testing::run_qr<double>(engine, c).worst(), 1) << tile;
        EXPECT_LE(testing::run_orthonormalise<double>(engine, c).worst(), 1) << tile;
    }
}

TEST(TiledQr, OfZerosHasAnOrthogonalQ) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::uniform({50, 20}, {12, 12});
    const Matrix<double> Y(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    fill(s, Y.view(), {});
    const Matrix<double> R = orthonormalise(s, Y.view());
    EXPECT_LE(testing::from_orthonormal(50, 20, gather(s, Y.view())), 1e-13);
    for (const double r : gather(s, R.view())) EXPECT_EQ(r, 0);
    EXPECT_TRUE(s.wait().ok());
}

TEST(TiledQr, OfAnEmptyMatrixIsDoneAtOnce) {
    InlineEngine engine;
    Stream s(engine);
    const Matrix<double> A(s, Tiling::square(0, 5), Distribution({0, 0}, 1, {}));
    EXPECT_EQ(qr(s, A.view()).panels(), 0);
    EXPECT_TRUE(s.wait().ok());
}

TEST(TiledQr, OfPartOfAMatrixLeavesTheRestAsItIs) {
    InlineEngine engine(3);
    Stream s(engine);
    const Tiling tiling = Tiling::square(60, 10);
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 3));
    generate(s, A.view(), {testing::dominant_element});
    const std::vector<double> before = gather(s, A.view());
    const MatrixView<double> part = A.tiles({1, 2}, {5, 3});
    const auto original = gather(s, part);
    const QrFactors<double> factors = qr(s, part);
    const Matrix<double> R(s, tiling_of_r(part), squarest_block_cyclic({3, 3}, 3), {.name = "R"});
    const Matrix<double> Q(s, Tiling::uniform({50, 30}, {10, 10}), squarest_block_cyclic({5, 3}, 3), {.name = "Q"});
    copy_r(s, factors, R.view());
    form_q(s, factors, Q.view());
    const auto product = testing::reference_product<double>({50, 30}, 30, gather(s, Q.view()), gather(s, R.view()));
    EXPECT_LE(largest_difference(product, original), testing::tolerance<double>(60, 16));
    const std::vector<double> after = gather(s, A.view());
    for (Index j = 0; j < 60; ++j)
        for (Index i = 0; i < 60; ++i)
            if (i < 10 || j < 20 || j >= 50) {
                EXPECT_EQ(after[static_cast<std::size_t>(i + j * 60)], before[static_cast<std::size_t>(i + j * 60)]);
            }
}

TEST(TiledQr, RefusesWhatItCannotFactoriseBeforeAnythingIsSubmitted) {
    RecordingEngine engine(2);
    Stream s(engine);
    const auto matrix = [&](ElementIndex size, ElementIndex tile) {
        const Tiling tiling = Tiling::uniform(size, tile);
        return Matrix<double>(s, tiling, squarest_block_cyclic(tiling.grid(), 2));
    };
    const Matrix<double> wide_tiles = matrix({40, 20}, {4, 10});
    const Matrix<double> high_tiles = matrix({40, 20}, {20, 10});
    const Matrix<double> square = matrix({20, 20}, {10, 10});
    EXPECT_THROW((void)qr(s, wide_tiles.view()), Error);
    EXPECT_THROW((void)qr(s, high_tiles.view()), Error);
    EXPECT_THROW((void)qr(s, square.transposed()), Error);
    EXPECT_THROW((void)qr(s, square.lower()), Error);
    EXPECT_THROW((void)qr(s, square.view(), {.reduction = Reduction::domains, .domain = 0}), Error);
    EXPECT_THROW((void)orthonormalise(s, matrix({10, 30}, {10, 10}).view()), Error);
    EXPECT_EQ(engine.take().task_count(), 0);
}

TEST(TiledQr, RefusesProductsThatDoNotFit) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::uniform({30, 20}, {10, 10});
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    fill(s, A.view(), {.off_diagonal = 0, .diagonal = 1});
    const QrFactors<double> factors = qr(s, A.view());
    const Tiling other = Tiling::uniform({30, 20}, {15, 5});
    const Matrix<double> C(s, other, squarest_block_cyclic(other.grid(), 1));
    EXPECT_THROW(multiply_q(s, factors, Op::none, C.view()), Error);
    EXPECT_THROW(form_q(s, factors, C.view()), Error);
    EXPECT_THROW(copy_r(s, factors, C.view()), Error);
    EXPECT_THROW(multiply_q(s, factors, Op::none, A.transposed()), Error);
}

/// The stream of a QR of a tall matrix with one column of tiles, rows of tiles dealt out to nodes in turn.
Recording recorded_tall(Index nodes, Index rows_of_tiles, const QrOptions& options = {}) {
    RecordingEngine engine(nodes);
    Stream s(engine);
    const Tiling tiling = Tiling::uniform({rows_of_tiles * 100, 10}, {100, 10});
    const Matrix<double> A(s, tiling, block_cyclic(tiling.grid(), {.p = nodes, .q = 1}));
    fill(s, A.view(), {});
    (void)qr(s, A.view(), options);
    return engine.take();
}

TEST(TiledQr, OfATallMatrixSendsOneTrianglePerNodeAlongATree) {
    for (const Index nodes : {2, 3, 4, 8, 16}) {
        const Recording recording = recorded_tall(nodes, 4 * nodes);
        const std::vector<Transfer> transfers = list_transfers(recording);
        EXPECT_EQ(static_cast<Index>(transfers.size()), nodes - 1);
        std::map<Index, Index> received;
        for (const Transfer& message : transfers) {
            EXPECT_EQ(message.bytes, 10 * 10 * sizeof(double));
            ++received[message.to];
        }
        Index levels = 0;
        for (Index reach = 1; reach < nodes; reach *= 2) ++levels;
        EXPECT_EQ(received[0], levels) << "what the last triangle waits for";
    }
}

TEST(TiledQr, CountsAsManyOperationsAsLapackNeeds) {
    RecordingEngine engine(1);
    Stream s(engine);
    const Tiling tiling = Tiling::square(640, 64);
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    fill(s, A.view(), {});
    (void)qr(s, A.view(), {.reduction = Reduction::flat});
    const double flops = engine.take().flops();
    EXPECT_NEAR(flops / (4.0 / 3 * 640 * 640 * 640), 1, 1e-6);
}

}  // namespace
}  // namespace tesela::qr_test
