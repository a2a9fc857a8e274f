#include "support/compressed_redistribution.hpp"
#include "support/compressed.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/algs/redistribute.hpp"
#include "tesela/base/error.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/kernels/compressed_segment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tesela::compressed_redistribution_test {
namespace {

using testing::any_compressed_move;
using testing::CompressedCase;
using testing::CompressedMove;
using testing::CovarianceOfPoints;
using testing::owners;

RC_GTEST_PROP(CompressedRedistribution, IsTheSourceToTheAccuracyOfTheTarget, ()) {
    InlineEngine engine(3);
    const CompressedMove m = any_compressed_move();
    RC_LOG() << m.name();
    RC_ASSERT(testing::run_compressed_move<double>(engine, m) <= 1);
    RC_ASSERT(testing::run_compressed_move<float>(engine, m) <= 1);
}

/// A covariance on some tiles, and the same redistributed.
struct Moved {
    RankMap ranks_before, ranks_after;
    std::vector<double> before, after;
};

Moved move_covariance(const CompressedCase& c, const Tiling& to, const Compression& compression) {
    const CovarianceOfPoints covariance(c);
    InlineEngine engine(4);
    Stream s(engine);
    const Tiling from = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, from, owners("random:1", from.grid(), 4), testing::compressed_options(c, "A", Stored::lower));
    Matrix<double> B(s, to, owners("random:2", to.grid(), 4),
                     {.name = "B", .stored = Stored::lower, .compression = compression});
    generate(s, A.view(), covariance);
    redistribute(s, A.view(), B.view());
    Moved moved{tile_ranks(s, A), tile_ranks(s, B), gather(s, A.lower()), gather(s, B.lower())};
    EXPECT_TRUE(s.wait().ok());
    return moved;
}

constexpr CompressedCase ragged{.n = 370, .tile = 60, .accuracy = 1e-6, .dense_band = 2};

TEST(CompressedRedistribution, LeavesTilesAsTheyAreWhereTilingsAreEqual) {
    for (const double finer : {1e-6, 1e-9, 0.0}) {
        const Moved moved =
            move_covariance(ragged, Tiling::square(ragged.n, ragged.tile), {.accuracy = finer, .dense_band = 2});
        EXPECT_EQ(moved.ranks_after.ranks, moved.ranks_before.ranks);
        EXPECT_EQ(moved.after, moved.before);
    }
}

TEST(CompressedRedistribution, TakesSmallerRanksWhereTheTargetIsCoarser) {
    const Tiling tiling = Tiling::square(ragged.n, ragged.tile);
    const Moved moved = move_covariance(ragged, tiling, {.accuracy = 1e-2, .dense_band = 2});
    for (std::size_t k = 0; k < moved.ranks_before.ranks.size(); ++k) {
        if (moved.ranks_before.ranks[k] == dense_rank) continue;
        EXPECT_LE(moved.ranks_after.ranks[k], moved.ranks_before.ranks[k]);
    }
    EXPECT_LT(summarise_ranks(moved.ranks_after, tiling, Stored::lower).bytes,
              summarise_ranks(moved.ranks_before, tiling, Stored::lower).bytes);
    EXPECT_LE(testing::largest_tile_error(moved.before, moved.after, tiling), 1e-2);
}

TEST(CompressedRedistribution, GivesAboutTheRanksOfTheMatrixGeneratedOnTheOtherTiles) {
    for (const Index tile : {30, 45, 100, 185}) {
        const Tiling to = Tiling::square(ragged.n, tile);
        const Moved moved = move_covariance(ragged, to, {.accuracy = 1e-5, .dense_band = 1});
        EXPECT_LE(testing::largest_tile_error(moved.before, moved.after, to), 1e-5);
        CompressedCase there = ragged;
        there.tile = tile;
        there.accuracy = 1e-5;
        there.dense_band = 1;
        const Moved generated = move_covariance(there, to, {.accuracy = 1e-5, .dense_band = 1});
        for (std::size_t k = 0; k < moved.ranks_after.ranks.size(); ++k) {
            const Index here = moved.ranks_after.ranks[k];
            const Index best = generated.ranks_before.ranks[k];
            if (here == dense_rank || best == dense_rank) continue;
            EXPECT_LE(here, best + 2 + best / 5) << "tiles of " << tile;
        }
    }
}

TEST(CompressedRedistribution, LetsAFactorisationGoOnTheOtherTiles) {
    const CompressedCase c{.n = 300, .tile = 64, .accuracy = 1e-8};
    const CovarianceOfPoints covariance(c);
    InlineEngine engine(2);
    Stream s(engine);
    const Tiling from = Tiling::square(c.n, 37);
    const Tiling to = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, from, owners("random:1", from.grid(), 2), testing::compressed_options(c, "A", Stored::lower));
    Matrix<double> B(s, to, owners("random:2", to.grid(), 2), testing::compressed_options(c, "B", Stored::lower));
    generate(s, A.view(), covariance);
    redistribute(s, A.view(), B.view());
    cholesky(s, B);
    ASSERT_TRUE(s.wait().ok());
    // The errors of generation and of redistribution.
    EXPECT_LE(testing::factor_error(c, covariance.dense(), gather(s, B.lower())), 2);
}

/// Streams of a redistribution, recorded.
struct Recorded {
    std::vector<Transfer> messages;
    std::map<const Kernel*, Index> tasks;
};

Recorded record(const Tiling& from, const Tiling& to, const std::vector<std::int32_t>& from_owners,
                const std::vector<std::int32_t>& to_owners) {
    RecordingEngine engine(2);
    Stream s(engine);
    const MatrixOptions options{.compression = Compression{.accuracy = 1e-3, .dense_band = 0}};
    Matrix<double> A(s, from, Distribution(from.grid(), 2, from_owners), options);
    Matrix<double> B(s, to, Distribution(to.grid(), 2, to_owners), options);
    generate(s, A.view(), {testing::smooth_element});
    redistribute(s, A.view(), B.view(), {.batch = 0});
    Recorded recorded{.messages = list_transfers(engine.recording()), .tasks = {}};
    for (const RecordedItem& item : engine.recording().items) ++recorded.tasks[item.kernel];
    return recorded;
}

TEST(CompressedRedistribution, SendsWholeTilesWhereTheirSegmentsWouldBeMore) {
    // One tile of 40, cut in four for one node: each segment would have its rows of U and of V.
    const Recorded one_node = record(Tiling::square(40, 40), Tiling::square(40, 20), {0}, {1, 1, 1, 1});
    EXPECT_EQ(one_node.messages.size(), 1U);
    EXPECT_EQ(one_node.tasks.count(&CompressedSegments<double>::cut), 0U);
    // The other node gets one of four, and its rows of U and V alone travel.
    const Recorded a_quarter = record(Tiling::square(40, 40), Tiling::square(40, 20), {0}, {0, 0, 1, 0});
    ASSERT_EQ(a_quarter.messages.size(), 1U);
    EXPECT_EQ(a_quarter.messages.front().bytes, 20 * 20 * 8);  // at most
    EXPECT_EQ(a_quarter.tasks.at(&CompressedSegments<double>::cut), 1);
    EXPECT_EQ(a_quarter.tasks.at(&CompressedSegments<double>::place), 4);
}

TEST(CompressedRedistribution, SendsNothingButTheTileWhereTilingsAreEqual) {
    const Tiling tiling = Tiling::uniform({30, 70}, {30, 10});
    const Recorded recorded = record(tiling, tiling, {0, 0, 1, 1, 0, 0, 1}, {0, 1, 0, 1, 1, 1, 1});
    EXPECT_EQ(recorded.messages.size(), 4U);
    EXPECT_EQ(recorded.tasks.at(&CompressedSegments<double>::place), 7);
    EXPECT_EQ(recorded.tasks.count(&CompressedSegments<double>::cut), 0U);
}

TEST(CompressedRedistribution, ToOtherOwnersInPlaceKeepsTilesAsTheyAre) {
    const CovarianceOfPoints covariance(ragged);
    InlineEngine engine(3);
    Stream s(engine);
    const Tiling tiling = Tiling::square(ragged.n, ragged.tile);
    Matrix<double> A(s, tiling, owners("random:1", tiling.grid(), 3),
                     testing::compressed_options(ragged, "A", Stored::lower));
    generate(s, A.view(), covariance);
    const RankMap ranks = tile_ranks(s, A);
    const std::vector<double> before = gather(s, A.lower());
    const Distribution other = owners("random:7", tiling.grid(), 3);
    redistribute(s, A.view(), other);
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index j = 0; j <= i; ++j) EXPECT_EQ(A.distribution().owner({i, j}), other.owner({i, j}));
    EXPECT_EQ(tile_ranks(s, A).ranks, ranks.ranks);
    EXPECT_EQ(gather(s, A.lower()), before);
}

TEST(CompressedRedistribution, IsRefusedWhereThatOfElementsIs) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(20, 5);
    const MatrixOptions options{.compression = Compression{.accuracy = 1e-3}};
    Matrix<double> A(s, tiling, owners("1d", tiling.grid(), 1), options);
    Matrix<double> B(s, tiling, owners("1d", tiling.grid(), 1), options);
    EXPECT_THROW(redistribute(s, A.view(), B.view()), Error);  // nothing wrote A
    generate(s, A.view(), {testing::smooth_element});
    EXPECT_THROW(redistribute(s, A.view(), B.view(), {.to_offset = {1, 0}}), Error);
    EXPECT_THROW(redistribute(s, A.view(), A.view(), {.size = {7, 7}, .to_offset = {3, 3}}), Error);
    EXPECT_NO_THROW(redistribute(s, A.view(), B.view()));
}

}  // namespace
}  // namespace tesela::compressed_redistribution_test
