#include "support/qr.hpp"
#include "support/shared_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela::qr_test {
namespace {

using testing::Contents;
using testing::engine;
using testing::Family;
using testing::QrCase;

// Every node draws the same cases and gathers the same values, so all agree on what fails.

QrCase any_case() {
    const Index tile = *rc::gen::inRange<Index>(10, 60);
    return {.size = {*rc::gen::inRange<Index>(1, 180), *rc::gen::inRange<Index>(1, 180)},
            .tile = {tile, tile},
            .options = {.reduction = *rc::gen::element(Reduction::automatic, Reduction::flat, Reduction::binary,
                                                       Reduction::domains),
                        .domain = *rc::gen::inRange<Index>(1, 5)},
            .family = *rc::gen::element(Family::block_cyclic, Family::random),
            .seed = *rc::gen::inRange<std::uint64_t>(0, 1000),
            .contents = *rc::gen::element(Contents::independent, Contents::zero_columns, Contents::few_directions)};
}

RC_GTEST_PROP(Nodes, QrEqualsLapack, ()) {
    const QrCase c = any_case();
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_qr<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_qr<float>(engine(), c).worst() <= 1);
}

RC_GTEST_PROP(Nodes, ColumnsOfATallMatrixBecomeOrthonormal, ()) {
    QrCase c = any_case();
    c.size = {*rc::gen::inRange<Index>(40, 800), *rc::gen::inRange<Index>(1, 40)};
    c.tile = {40 + *rc::gen::inRange<Index>(0, 40), c.size.j};
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_orthonormalise<double>(engine(), c).worst() <= 1);
    RC_ASSERT(testing::run_orthonormalise<float>(engine(), c).worst() <= 1);
}

TEST(Nodes, QrKeepsNoCopiesOfTiles) {
    Stream s(engine());
    const Tiling tiling = Tiling::square(384, 32);
    const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine().node_count()));
    double owned = 0;
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j < tiling.grid().cols; ++j)
            if (A(i, j).owner() == engine().this_node()) owned += 32 * 32 * 8;
    ASSERT_TRUE(s.wait().ok());
    const double before = engine().memory_use().in_use;
    generate(s, A.view(), {testing::dominant_element});
    { const QrFactors<double> factors = qr(s, A.view()); }
    ASSERT_TRUE(s.wait().ok());
    EXPECT_LE(engine().memory_use().in_use - before, owned);
}

}  // namespace
}  // namespace tesela::qr_test
