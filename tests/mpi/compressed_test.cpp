#include "support/compressed.hpp"
#include "support/shared_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tesela {
namespace {

using testing::CompressedCase;
using testing::Decay;
using testing::engine;

RC_GTEST_PROP(Nodes, CompressedCholeskyIsTheFactorToTheAccuracy, ()) {
    const CompressedCase c{
        .n = *rc::gen::inRange<Index>(1, 300),
        .tile = *rc::gen::inRange<Index>(10, 80),
        .dimensions = *rc::gen::inRange<Index>(1, 4),
        .decay = *rc::gen::element(Decay::exponential, Decay::matern_three_halves, Decay::squared_exponential),
        .accuracy = *rc::gen::element(1e-2, 1e-4, 1e-8, 1e-12, 0.0),
        .dense_band = *rc::gen::inRange<Index>(1, 4),
        .seed = *rc::gen::inRange<std::uint64_t>(1, 1000),
        .factor = {.lookahead = *rc::gen::inRange<Index>(0, 4), .diagonal_tile = *rc::gen::inRange<Index>(0, 40)}};
    RC_LOG() << c.name();
    RC_ASSERT(testing::run_compressed_cholesky(engine(), c).worst() <= 1);
}

TEST(Nodes, MoveCompressedTilesAndGoOn) {
    const CompressedCase c{.n = 400, .tile = 50, .accuracy = 1e-6};
    const testing::CovarianceOfPoints covariance(c);
    Stream s(engine());
    const Tiling tiling = Tiling::square(c.n, c.tile);
    const Index nodes = engine().node_count();
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), nodes, 1),
                     testing::compressed_options(c, "A", Stored::lower));
    generate(s, A.view(), covariance);
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j <= i; ++j) s.move(A(i, j), NodeId{(i + j) % nodes});
    cholesky(s, A);
    ASSERT_TRUE(s.wait().ok());
    EXPECT_LE(testing::factor_error(c, covariance.dense(), gather(s, A.lower())), 1);
}

}  // namespace
}  // namespace tesela
