#include "tesela/algs/cholesky.hpp"
#include "tesela/algs/elementwise.hpp"
#include "tesela/algs/gemm.hpp"
#include "tesela/algs/solve.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/graph.hpp"
#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tesela::flow_test {
namespace {

using ::testing::HasSubstr;

double one(const void*, ElementIndex) { return 1; }

struct Recorded {
    RecordingEngine engine;
    Stream s;
    explicit Recorded(Index nodes) : engine(nodes), s(engine) {}
};

Recording record_cholesky(Index tiles, const Distribution& distribution) {
    Recorded r(distribution.nodes());
    const Tiling tiling = Tiling::square(tiles * 4, 4);
    Matrix<double> A(r.s, tiling, distribution, {.stored = Stored::lower});
    generate(r.s, A.view(), {one});
    cholesky(r.s, A);
    return r.engine.take();
}

TEST(Recording, CountsCholeskyTasksAsTheTextbookDoes) {
    const Index n = 9;
    const Recording recording = record_cholesky(n, squarest_block_cyclic({n, n}, 1));
    const auto counts = recording.count_by_kernel();
    EXPECT_EQ(counts.at("dpotrf"), n);
    EXPECT_EQ(counts.at("dtrsm"), n * (n - 1) / 2);
    EXPECT_EQ(counts.at("dsyrk"), n * (n - 1) / 2);
    EXPECT_EQ(counts.at("dgemm"), n * (n - 1) * (n - 2) / 6);
    EXPECT_EQ(counts.at("dgenerate"), n * (n + 1) / 2);
    const auto steps = recording.count_by_step();
    for (Index k = 0; k < n; ++k) {
        const auto step = static_cast<std::int32_t>(k);
        EXPECT_EQ(steps.at({"dpotrf", "cholesky", step}), 1);
        if (k + 1 < n) {
            EXPECT_EQ(steps.at({"dtrsm", "cholesky", step}), n - k - 1);
        }
    }
}

TEST(Recording, FlopsOfCholeskyAreAThirdOfTheCube) {
    const Index tiles = 40;
    const Recording recording = record_cholesky(tiles, squarest_block_cyclic({tiles, tiles}, 1));
    const double n = 4.0 * tiles;
    EXPECT_NEAR(recording.flops() / (n * n * n / 3), 1, 0.01);
}

TEST(Recording, OneNodeSendsNothing) {
    EXPECT_EQ(count_transfers(record_cholesky(8, squarest_block_cyclic({8, 8}, 1))).messages, 0);
}

/// What each node must receive for Cholesky, from the definition: L(k,k) goes to the owners of its column below, L(i,k)
/// to the owners of row i and column i of the trailing matrix.
Index cholesky_messages_by_definition(const Distribution& d) {
    const Index n = d.grid().rows;
    Index messages = 0;
    const auto count = [&](const std::set<Index>& readers, NodeId owner) {
        messages += static_cast<Index>(readers.size()) - (readers.contains(owner.number()) ? 1 : 0);
    };
    for (Index k = 0; k < n; ++k) {
        std::set<Index> column;
        for (Index i = k + 1; i < n; ++i) column.insert(d.owner({i, k}).number());
        count(column, d.owner({k, k}));
        for (Index i = k + 1; i < n; ++i) {
            std::set<Index> readers;
            for (Index j = k + 1; j <= i; ++j) readers.insert(d.owner({i, j}).number());
            for (Index l = i; l < n; ++l) readers.insert(d.owner({l, i}).number());
            count(readers, d.owner({i, k}));
        }
    }
    return messages;
}

RC_GTEST_PROP(Recording, TransfersEqualTheDefinitionForAnyDistribution, ()) {
    const Index tiles = *rc::gen::inRange<Index>(1, 12);
    const Index nodes = *rc::gen::inRange<Index>(1, 80);
    const Distribution d = random_distribution({tiles, tiles}, nodes, *rc::gen::inRange<std::uint64_t>(0, 99));
    const Recording recording = record_cholesky(tiles, d);
    const Transfers transfers = count_transfers(recording);
    RC_ASSERT(transfers.messages == cholesky_messages_by_definition(d));
    RC_ASSERT(transfers.bytes == static_cast<double>(transfers.messages * 4 * 4 * 8));
    const Distribution other = random_distribution({tiles, tiles}, nodes, 1234);
    RC_ASSERT(count_transfers(recording, {{"A", other}}).messages == cholesky_messages_by_definition(other));
}

TEST(Recording, LocalSolveMovesFewerBytesThanClassical) {
    const auto bytes = [](SolveForm form) {
        Recorded r(4);
        const Tiling tiling = Tiling::square(400, 20);
        Matrix<double> L(r.s, tiling, squarest_block_cyclic(tiling.grid(), 4), {.stored = Stored::lower});
        generate(r.s, L.view(), {one});
        Matrix<double> z(r.s, tiling.with_columns(1, 1), along_diagonal(L.distribution(), 1), {.name = "z"});
        generate(r.s, z.view(), {one});
        solve_triangular(r.s, L.lower(), z.view(), {.form = form});
        return count_transfers(r.engine.recording()).bytes;
    };
    EXPECT_LT(10 * bytes(SolveForm::local), bytes(SolveForm::classical));
}

TEST(Recording, AMoveIsOneTransferAndChangesWhereTasksRun) {
    Recorded r(2);
    Matrix<double> A(r.s, Tiling::square(4, 4), Distribution({1, 1}, 2, {0}));
    generate(r.s, A.view(), {one});
    r.s.move(A(0, 0), NodeId{1});
    EXPECT_EQ(A.distribution().owner({0, 0}), NodeId{1});
    cholesky(r.s, A);
    EXPECT_EQ(r.engine.recording().items.back().kind, RecordedItem::Kind::retire);
    const Transfers transfers = count_transfers(r.engine.recording());
    EXPECT_EQ(transfers.messages, 1);
    EXPECT_EQ(transfers.matrix[0 * 2 + 1], 4 * 4 * 8);
}

TEST(Recording, WhatIsDiscardedMovesWithoutBytesAndCannotBeRead) {
    Recorded r(3);
    Matrix<double> A(r.s, Tiling::square(4, 4), Distribution({1, 1}, 3, {0}));
    for (int round = 0; round < 3; ++round) {
        r.s.move(A(0, 0), NodeId{1});
        generate(r.s, A.view(), {one});
        r.s.share(A(0, 0), std::vector{NodeId{2}});
        r.s.move(A(0, 0), NodeId{0});
        r.s.discard(A(0, 0));
        EXPECT_THROW(cholesky(r.s, A), Error);
    }
    const Transfers transfers = count_transfers(r.engine.recording());
    EXPECT_EQ(transfers.messages, 3 * 2);
    EXPECT_EQ(transfers.matrix[1 * 3 + 0], 3 * 4 * 4 * 8);
    EXPECT_EQ(transfers.matrix[0 * 3 + 1], 0);
    r.s.move(A(0, 0), NodeId{2});  // nor does it come back to one that had a copy
    EXPECT_EQ(count_transfers(r.engine.recording()).messages, 3 * 2);
}

TEST(Recording, KnowsWhenAMatrixWasGivenUp) {
    Recorded r(1);
    const auto make = [&](const char* name) {
        return Matrix<double>(r.s, Tiling::square(4, 4), Distribution({1, 1}, 1, {0}), {.name = name});
    };
    const Matrix<double> kept = make("kept");
    {
        const Matrix<double> temporary = make("temporary");
        generate(r.s, temporary.view(), {one});
    }
    generate(r.s, kept.view(), {one});
    EXPECT_EQ(r.engine.recording().grids[0].given_up, RecordedMatrix::kept);
    EXPECT_EQ(r.engine.recording().grids[1].given_up, 1U);
    {
        const Matrix<double> later = make("later");
        const Recording taken = r.engine.take();  // a new one begins, to which this matrix does not belong
        const Matrix<double> first = make("first");
        EXPECT_EQ(taken.grids.size(), 3U);
    }
    ASSERT_EQ(r.engine.recording().grids.size(), 1U);
    EXPECT_EQ(r.engine.recording().grids[0].given_up, 0U);
    EXPECT_EQ(r.engine.recording().nodes, 1);
}

TEST(Recording, AFutureYieldsTheCallersDefault) {
    Recorded r(1);
    Matrix<double> x(r.s, Tiling::square(1, 1), Distribution({1, 1}, 1, {0}));
    generate(r.s, x.view(), {one});
    EXPECT_EQ(r.s.read<double>(x(0, 0), -2.5).get(), -2.5);
}

TEST(Graph, OfCholeskyWithTwoTileRowsIsAChain) {
    const Recording recording = record_cholesky(2, squarest_block_cyclic({2, 2}, 1));
    const TaskGraph graph = dependency_graph(recording);
    std::vector<std::string> names;
    std::vector<std::vector<std::uint32_t>> needs;
    for (std::size_t v = 0; v < recording.items.size(); ++v) {
        if (recording.items[v].kind != RecordedItem::Kind::task) continue;
        names.emplace_back(recording.items[v].kernel->name);
        const auto p = graph.predecessors_of(v);
        needs.emplace_back(p.begin(), p.end());
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"dgenerate", "dgenerate", "dgenerate", "dpotrf", "dtrsm", "dsyrk", "dpotrf"}));
    EXPECT_EQ(needs[3], (std::vector<std::uint32_t>{0}));     // potrf(0,0) after its generation
    EXPECT_EQ(needs[4], (std::vector<std::uint32_t>{1, 3}));  // trsm after generation and potrf
    EXPECT_EQ(needs[5].size(), 2U);                           // syrk after trsm and the generation of (1,1)
    EXPECT_EQ(needs[6].size(), 1U);                           // potrf(1,1) after syrk
}

TEST(Graph, CommutingAccessesDoNotDependOnEachOther) {
    Recorded r(1);
    Matrix<double> A(r.s, Tiling::square(2, 2), Distribution({1, 1}, 1, {0}));
    generate(r.s, A.view(), {one});
    Matrix<double> B(r.s, Tiling::square(2, 2), Distribution({1, 1}, 1, {0}), {.name = "B"});
    generate(r.s, B.view(), {one});
    for (int i = 0; i < 3; ++i)
        r.s.submit(Task::unchecked(Dense<double>::geadd, {{B(0, 0), AccessMode::read}, {A(0, 0), AccessMode::commute}},
                                   GeaddArguments{}));
    r.s.submit(Task::unchecked(Dense<double>::potrf, {{A(0, 0), AccessMode::read_write}}, PivotArguments{}));
    const TaskGraph graph = dependency_graph(r.engine.recording());
    for (std::size_t v = 2; v <= 4; ++v) EXPECT_EQ(graph.predecessors_of(v).size(), 2U);
    EXPECT_EQ(graph.predecessors_of(5).size(), 3U);
}

TEST(Graph, DotNamesEveryTaskAndEdge) {
    const std::string dot = to_dot(record_cholesky(2, squarest_block_cyclic({2, 2}, 1)));
    EXPECT_THAT(dot, HasSubstr("digraph"));
    EXPECT_THAT(dot, HasSubstr("dtrsm\\nA(1,0)"));
    EXPECT_THAT(dot, HasSubstr("t0 -> t3"));
}

TEST(Stream, ATileReadBeforeItWasWrittenIsAnError) {
    InlineEngine engine;
    Stream s(engine);
    Matrix<double> A(s, Tiling::square(4, 2), squarest_block_cyclic({2, 2}, 1));
    EXPECT_THROW(cholesky(s, A), Error);
    EXPECT_THROW(static_cast<void>(gather(s, A.view())), Error);
}

TEST(Stream, AMatrixOverACallersArrayWorksInPlace) {
    InlineEngine engine;
    std::vector<double> array(25, 0);
    for (std::size_t i = 0; i < 5; ++i) array[i * 6] = 9;
    {
        Stream s(engine);
        const Tiling tiling = Tiling::square(5, 2);
        Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1), over_array(array.data(), 5, tiling));
        cholesky(s, A);
        ASSERT_TRUE(s.wait().ok());
    }
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(array[i * 6], 3);
}

TEST(Stream, SumsFromOtherNodesAreAddedBeforeTheTileIsUsed) {
    InlineEngine engine(4);
    Stream s(engine);
    const Tiling tiling = Tiling::square(1, 1);
    Matrix<double> sum(s, tiling, Distribution({1, 1}, 4, {0}), {.name = "sum"});
    Matrix<double> x(s, tiling, Distribution({1, 1}, 4, {3}), {.name = "x"});
    fill(s, sum.view(), {.off_diagonal = 0, .diagonal = 10});
    fill(s, x.view(), {.off_diagonal = 0, .diagonal = 1});
    for (Index node = 0; node < 4; ++node)
        s.submit(Task::unchecked(Dense<double>::geadd, {{x(0, 0), AccessMode::read}, {sum(0, 0), AccessMode::reduce}},
                                 GeaddArguments{})
                     .on(NodeId{node}));
    EXPECT_EQ(s.read<double>(sum(0, 0), 0).get(), 14);
}

TEST(Stream, ATaskThatWritesNothingAndNamesNoNodeIsRefused) {
    InlineEngine engine;
    Stream s(engine);
    Matrix<double> x(s, Tiling::square(1, 1), Distribution({1, 1}, 1, {0}));
    fill(s, x.view(), {});
    EXPECT_THROW(s.submit(Task::unchecked(Dense<double>::laset, {{x(0, 0), AccessMode::read}}, LasetArguments{})),
                 Error);
}

TEST(Matrix, ADistributionForAnotherGridIsRefused) {
    InlineEngine engine;
    Stream s(engine);
    EXPECT_THROW(Matrix<double>(s, Tiling::square(10, 2), squarest_block_cyclic({4, 4}, 1)), Error);
}

TEST(MatrixView, ASubmatrixIsFactorisedAlone) {
    InlineEngine engine;
    Stream s(engine);
    const Tiling tiling = Tiling::square(6, 2);
    Matrix<double> A(s, tiling, squarest_block_cyclic(tiling.grid(), 1));
    generate(s, A.view(), {[](const void*, ElementIndex at) { return at.i == at.j ? 4.0 : 0.0; }});
    cholesky(s, A.view().tiles({1, 1}, {2, 2}));
    const auto all = gather(s, A.view());
    EXPECT_EQ(all[0], 4);
    EXPECT_EQ(all[2 + 2 * 6], 2);
    EXPECT_THROW(static_cast<void>(A.view().tiles({2, 2}, {2, 2})), Error);
}

}  // namespace
}  // namespace tesela::flow_test
