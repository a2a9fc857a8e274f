#include "support/compressed.hpp"
#include "support/compressed_redistribution.hpp"
#include "support/shared_engine.hpp"
#include "tesela/algs/ranks.hpp"
#include "tesela/base/largest_difference.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tesela::compressed_test {
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
        .precision = *rc::gen::element(FactorPrecision::full, FactorPrecision::as_needed),
        .seed = *rc::gen::inRange<std::uint64_t>(1, 1000),
        .factor = {.diagonal_tile = *rc::gen::inRange<Index>(0, 40)}};
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

TEST(Nodes, CompressedTilesAreInDoublePrecisionAlsoAfterThoseOfAnotherMatrixWereNot) {
    for (const auto precision : {FactorPrecision::as_needed, FactorPrecision::full}) {
        const CompressedCase c{.n = 400, .tile = 50, .accuracy = 1e-2, .precision = precision};
        Stream s(engine());
        const Tiling tiling = Tiling::square(c.n, c.tile);
        const Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), engine().node_count()),
                               testing::compressed_options(c, "A", Stored::lower));
        generate(s, A.view(), testing::CovarianceOfPoints(c));
        const std::vector<Index> singles = tile_ranks(s, A).singles;
        EXPECT_EQ(std::ranges::any_of(singles, [](Index n) { return n > 0; }), precision == FactorPrecision::as_needed);
        ASSERT_TRUE(s.wait().ok());
    }
}

// ------------------------------------------------------------------ bytes

/// Bytes that every node has been sent so far.
std::vector<double> received_bytes() {
    const auto nodes = static_cast<std::size_t>(engine().node_count());
    std::vector<double> received(nodes, 0);
    const std::vector<StarpuEngine::Sent> sent = engine().sent();
    for (std::size_t to = 0; to < sent.size(); ++to) received[to] = static_cast<double>(sent[to].bytes);
    for (double& bytes : received) {
        double sum = 0;
        for (const double part : engine().gather(bytes)) sum += part;
        bytes = sum;
    }
    return received;
}

/// What every node receives while something runs.
template <class Work>
std::vector<double> received_by(const Work& work) {
    engine().barrier();
    const std::vector<double> before = received_bytes();
    work();
    engine().barrier();
    std::vector<double> received = received_bytes();
    for (std::size_t node = 0; node < received.size(); ++node) received[node] -= before[node];
    return received;
}

/// A tile as it travels: U, V and the rank, or all elements of one that is always stored so.
double bytes_of(const Attachment& matrix, TileIndex tile, const RankMap& ranks) {
    const TileShape shape = matrix.shape(tile);
    const double all = 8.0 * static_cast<double>(shape.rows * shape.cols);
    if (!matrix.compressible(tile)) return all;
    const auto at = static_cast<std::size_t>(tile.i * ranks.grid.cols + tile.j);
    if (ranks.ranks[at] == dense_rank) return all + 8;
    const auto sides = static_cast<double>(shape.rows + shape.cols);
    const auto columns = static_cast<double>(ranks.ranks[at]);
    const auto singles = static_cast<double>(ranks.singles[at]);
    return 8 * std::ceil(sides * (8 * (columns - singles) + 4 * singles) / 8) + 8;  // in whole words
}

/// The nodes that use tile (i, k) of a factor: those of the tiles of its column if it is on the diagonal, otherwise
/// those of the tiles in row i and column i that are updated with it.
std::set<Index> users_of(const Distribution& owners, TileIndex tile) {
    const Index nt = owners.grid().rows;
    std::set<Index> users;
    if (tile.i == tile.j)
        for (Index i = tile.i + 1; i < nt; ++i) users.insert(owners.owner({i, tile.j}).number());
    else
        for (Index l = tile.j + 1; l < nt; ++l)
            users.insert(owners.owner({std::max(l, tile.i), std::min(l, tile.i)}).number());
    return users;
}

/// What every node receives in a factorisation, and what it should.
struct ReceivedBytes {
    std::vector<double> received, expected;
    double all = 0;
    double dense = 0;
    double singles = 0;  ///< share of columns in single precision
    std::vector<double> factor;
};
ReceivedBytes bytes_of_cholesky(const CompressedCase& c) {
    const Index nodes = engine().node_count();
    const testing::CovarianceOfPoints covariance(c);
    Stream s(engine());
    const Tiling tiling = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), nodes, 5),
                     testing::compressed_options(c, "A", Stored::lower));
    generate(s, A.view(), covariance);
    EXPECT_TRUE(s.wait().ok());
    ReceivedBytes result;
    result.received = received_by([&] {
        cholesky(s, A);
        EXPECT_TRUE(s.wait().ok());
    });
    const RankMap ranks = tile_ranks(s, A);
    result.singles = summarise_ranks(ranks, tiling, Stored::lower).singles;
    result.expected.assign(static_cast<std::size_t>(nodes), 0);
    for (Index i = 0; i < tiling.grid().rows; ++i)
        for (Index k = 0; k <= i; ++k)
            for (const Index user : users_of(A.distribution(), {i, k})) {
                if (NodeId{user} == A.distribution().owner({i, k})) continue;
                result.expected[static_cast<std::size_t>(user)] += bytes_of(A.matrix(), {i, k}, ranks);
                result.dense += static_cast<double>(A.matrix().bytes({i, k}));
            }
    for (const double bytes : result.received) result.all += bytes;
    result.factor = gather(s, A.lower());
    return result;
}

const CompressedCase rough{.n = 500, .tile = 48, .accuracy = 1e-4};
const CompressedCase smooth{
    .n = 600, .tile = 50, .decay = Decay::squared_exponential, .accuracy = 1e-6, .dense_band = 2};

TEST(Nodes, CompressedCholeskySendsTheBytesOfTheRanksAndNoMore) {
    for (const CompressedCase& c : {rough, smooth}) {
        const ReceivedBytes bytes = bytes_of_cholesky(c);
        EXPECT_EQ(bytes.received, bytes.expected) << c.name();
        EXPECT_LE(bytes.all, 0.9 * bytes.dense) << c.name();  // so that ranks are seen at all
    }
}

TEST(Nodes, CompressedCholeskySendsColumnsInSinglePrecisionAsSuch) {
    for (CompressedCase c : {rough, smooth}) {
        const double in_double_precision = bytes_of_cholesky(c).all;
        c.precision = FactorPrecision::as_needed;
        const ReceivedBytes bytes = bytes_of_cholesky(c);
        EXPECT_EQ(bytes.received, bytes.expected) << c.name();
        EXPECT_GT(bytes.singles, 0.1) << c.name();
        if (engine().node_count() > 1) {
            EXPECT_LT(bytes.all, in_double_precision) << c.name();
        }
    }
}

// ------------------------------------------------------------------ LU and products

/// What every node should receive where `users` says which nodes use a tile.
template <class Users>
void expect_bytes(const Matrix<double>& A, const RankMap& ranks, std::vector<double>& expected, const Users& users) {
    const GridSize grid = A.tiling().grid();
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j)
            for (const Index user : users(TileIndex{i, j}))
                if (NodeId{user} != A.distribution().owner({i, j}))
                    expected[static_cast<std::size_t>(user)] += bytes_of(A.matrix(), {i, j}, ranks);
}

std::set<Index> owners_in(const Distribution& owners, TileIndex begin, TileIndex end) {
    std::set<Index> all;
    for (Index i = begin.i; i < end.i; ++i)
        for (Index j = begin.j; j < end.j; ++j) all.insert(owners.owner({i, j}).number());
    return all;
}

const CompressedCase ragged{.n = 330, .tile = 48, .accuracy = 1e-5};
const CompressedCase even{.n = 320, .tile = 40, .decay = Decay::squared_exponential, .accuracy = 1e-7, .dense_band = 2};
const CompressedCase in_single_precision{.n = 307,
                                         .tile = 50,
                                         .decay = Decay::matern_three_halves,
                                         .accuracy = 1e-4,
                                         .precision = FactorPrecision::as_needed};

TEST(Nodes, CompressedLuIsThatOfTheMatrixAndSendsTheBytesOfItsRanks) {
    const Index nodes = engine().node_count();
    for (const CompressedCase& c : {ragged, even, in_single_precision}) {
        const testing::UnevenCovariance value{testing::CovarianceOfPoints(c)};
        std::vector<double> a;
        for (Index j = 0; j < c.n; ++j)
            for (Index i = 0; i < c.n; ++i) a.push_back(value(i, j));
        Stream s(engine());
        const Tiling tiling = Tiling::square(c.n, c.tile);
        const Index nt = tiling.grid().rows;
        Matrix<double> A(s, tiling, random_distribution(tiling.grid(), nodes, 5),
                         testing::compressed_options(c, "A", Stored::full));
        generate(s, A.view(), value);
        ASSERT_TRUE(s.wait().ok());
        const std::vector<double> received = received_by([&] {
            lu(s, A);
            ASSERT_TRUE(s.wait().ok());
        });
        const RankMap ranks = tile_ranks(s, A);
        std::vector<double> expected(static_cast<std::size_t>(nodes), 0);
        const Distribution& owners = A.distribution();
        expect_bytes(A, ranks, expected, [&](TileIndex t) {
            std::set<Index> users;
            if (t.i >= t.j) users.merge(owners_in(owners, {t.i, t.j + 1}, {t.i + 1, nt}));
            if (t.i <= t.j) users.merge(owners_in(owners, {t.i + 1, t.j}, {nt, t.j + 1}));
            return users;
        });
        EXPECT_EQ(received, expected) << c.name();
        EXPECT_GT(summarise_ranks(ranks, tiling, Stored::full).compressed, nt) << c.name();
        const double error = testing::tile_error_over(c, a, testing::product_of_factors(gather(s, A.view()), c.n),
                                                      [](TileIndex t) { return std::min(t.i, t.j) + 1; });
        EXPECT_LE(error, 1) << c.name();
        EXPECT_GT(error, 1e-4) << c.name();  // compression is seen
    }
}

TEST(Nodes, CompressedProductIsThatOfItsFactorsAndSendsTheBytesOfTheirRanks) {
    const Index nodes = engine().node_count();
    for (const CompressedCase& c : {ragged, even, in_single_precision}) {
        const testing::UnevenCovariance value{testing::CovarianceOfPoints(c)};
        Stream s(engine());
        const Tiling tiling = Tiling::square(c.n, c.tile);
        const GridSize grid = tiling.grid();
        const auto matrix = [&](const char* name, std::uint64_t seed) {
            return Matrix<double>(s, tiling, random_distribution(grid, nodes, seed),
                                  testing::compressed_options(c, name, Stored::full));
        };
        const Matrix<double> A = matrix("A", 5);
        const Matrix<double> B = matrix("B", 6);
        const Matrix<double> C = matrix("C", 7);
        generate(s, A.view(), value);
        generate(s, B.view(), [&](Index i, Index j) { return value(j, i); });
        ASSERT_TRUE(s.wait().ok());
        const std::vector<double> received = received_by([&] {
            gemm(s, A, B, C);
            ASSERT_TRUE(s.wait().ok());
        });
        std::vector<double> expected(static_cast<std::size_t>(nodes), 0);
        const Distribution& owners = C.distribution();
        expect_bytes(A, tile_ranks(s, A), expected, [&](TileIndex t) {
            return owners_in(owners, {t.i, 0}, {t.i + 1, grid.cols});
        });
        expect_bytes(B, tile_ranks(s, B), expected, [&](TileIndex t) {
            return owners_in(owners, {0, t.j}, {grid.rows, t.j + 1});
        });
        EXPECT_EQ(received, expected) << c.name();
        const std::vector<double> reference =
            testing::product_of(gather(s, A.view()), gather(s, B.view()), c.n);  // as they are stored
        const double error =
            testing::tile_error_over(c, reference, gather(s, C.view()), [&](TileIndex) { return grid.cols; });
        EXPECT_LE(error, 1) << c.name();
        EXPECT_GT(error, 1e-4) << c.name();
    }
}

// ------------------------------------------------------------------ redistribution

RC_GTEST_PROP(Nodes, CompressedRedistributionIsTheSourceToTheAccuracyOfTheTarget, ()) {
    const testing::CompressedMove m = testing::any_compressed_move();
    RC_LOG() << m.name();
    RC_ASSERT(testing::run_compressed_move<double>(engine(), m) <= 1);
    RC_ASSERT(testing::run_compressed_move<float>(engine(), m) <= 1);
}

TEST(Nodes, CompressedTilesAreRedistributedAsTheyAreWithTheBytesOfTheirRanks) {
    const CompressedCase c{.n = 430, .tile = 60, .accuracy = 1e-6, .dense_band = 2};
    const testing::CovarianceOfPoints covariance(c);
    Stream s(engine());
    const Tiling tiling = Tiling::square(c.n, c.tile);
    const Index nodes = engine().node_count();
    Matrix<double> A(s, tiling, random_distribution(tiling.grid(), nodes, 1),
                     testing::compressed_options(c, "A", Stored::lower));
    Matrix<double> B(s, tiling, random_distribution(tiling.grid(), nodes, 2),
                     testing::compressed_options(c, "B", Stored::lower));
    generate(s, A.view(), covariance);
    const RankMap ranks = tile_ranks(s, A);
    const std::vector<double> before = gather(s, A.lower());
    ASSERT_TRUE(s.wait().ok());

    std::vector<double> expected(static_cast<std::size_t>(nodes), 0);
    const auto expect = [&](const Distribution& from, const Distribution& to) {
        std::ranges::fill(expected, 0);
        for (Index i = 0; i < tiling.grid().rows; ++i)
            for (Index j = 0; j <= i; ++j)
                if (from.owner({i, j}) != to.owner({i, j}))
                    expected[static_cast<std::size_t>(to.owner({i, j}).number())] +=
                        bytes_of(A.matrix(), {i, j}, ranks);
    };
    expect(A.distribution(), B.distribution());
    const std::vector<double> copied = received_by([&] {
        redistribute(s, A.view(), B.view());
        ASSERT_TRUE(s.wait().ok());
    });
    EXPECT_EQ(copied, expected);
    EXPECT_EQ(tile_ranks(s, B).ranks, ranks.ranks);
    EXPECT_EQ(gather(s, B.lower()), before);

    // In place: other owners, and the tiles with them.
    const Distribution other = random_distribution(tiling.grid(), nodes, 3);
    expect(B.distribution(), other);
    const std::vector<double> moved = received_by([&] {
        redistribute(s, B.view(), other);
        ASSERT_TRUE(s.wait().ok());
    });
    EXPECT_EQ(moved, expected);
    EXPECT_EQ(tile_ranks(s, B).ranks, ranks.ranks);
    EXPECT_EQ(gather(s, B.lower()), before);
}

TEST(Nodes, SegmentsOfCompressedTilesTravelWithTheirRowsOfUAndV) {
    if (engine().node_count() < 2) GTEST_SKIP() << "one node";
    // A tile of rank 1 and order 200 on node 0; node 1 gets a quarter of it: 100 rows of U, 100 of V, and the rank.
    Stream s(engine());
    const Tiling from = Tiling::square(200, 200);
    const Tiling to = Tiling::square(200, 100);
    const MatrixOptions options{.compression = Compression{.accuracy = 1e-8, .dense_band = 0}};
    const Index nodes = engine().node_count();
    Matrix<double> A(s, from, Distribution(from.grid(), nodes, {0}), options);
    Matrix<double> B(s, to, Distribution(to.grid(), nodes, {0, 0, 1, 0}), options);
    generate(s, A.view(), [](Index i, Index j) { return static_cast<double>((i + 1) * (j + 2)); });
    ASSERT_TRUE(s.wait().ok());
    const std::vector<double> received = received_by([&] {
        redistribute(s, A.view(), B.view());
        ASSERT_TRUE(s.wait().ok());
    });
    EXPECT_EQ(received[1], 8 * (100 + 100) * 1 + 8);
    for (const Index rank : tile_ranks(s, B).ranks) EXPECT_EQ(rank, 1);
}

TEST(Nodes, CompressedMatrixIsFactoredAfterItWasCutAnew) {
    const CompressedCase c{.n = 400, .tile = 64, .accuracy = 1e-7};
    const testing::CovarianceOfPoints covariance(c);
    Stream s(engine());
    const Index nodes = engine().node_count();
    const Tiling from = Tiling::square(c.n, 37);
    const Tiling to = Tiling::square(c.n, c.tile);
    Matrix<double> A(s, from, random_distribution(from.grid(), nodes, 1),
                     testing::compressed_options(c, "A", Stored::lower));
    Matrix<double> B(s, to, random_distribution(to.grid(), nodes, 2),
                     testing::compressed_options(c, "B", Stored::lower));
    generate(s, A.view(), covariance);
    redistribute(s, A.view(), B.view());
    cholesky(s, B);
    ASSERT_TRUE(s.wait().ok());
    EXPECT_LE(testing::factor_error(c, covariance.dense(), gather(s, B.lower())), 2);
}

}  // namespace
}  // namespace tesela::compressed_test
