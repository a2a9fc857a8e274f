#include "support/cases.hpp"
#include "support/redistribution.hpp"
#include "support/shared_engine.hpp"

#include <gtest/gtest.h>

namespace tesela::fewer_nodes_test {
namespace {

using testing::engine;

// Matrices whose distributions know fewer nodes than the run has.

Distribution over(Index nodes, GridSize grid, std::uint64_t seed) { return random_distribution(grid, nodes, seed); }

std::vector<Index> node_counts() {
    std::vector<Index> counts{1};
    for (const Index nodes : {engine().node_count() / 2, engine().node_count() - 1})
        if (nodes > 1) counts.push_back(nodes);
    return counts;
}

TEST(FewerNodes, AMatrixIsGatheredOnAllNodes) {
    for (const Index nodes : node_counts()) {
        Stream s(engine());
        const Tiling tiling = Tiling::uniform({30, 20}, {7, 6});
        Matrix<double> A(s, tiling, over(nodes, tiling.grid(), 1));
        generate(s, A.view(), {testing::source_element});
        EXPECT_EQ(gather(s, A.view()), testing::dense<double>({30, 20}, {testing::source_element}));
        const auto tile = s.fetch(A(1, 1));
        tile->wait();
        EXPECT_TRUE(tile->has_value());
        EXPECT_TRUE(s.wait().ok());
    }
}

TEST(FewerNodes, ProductsOfMatricesOverDifferentNumbersOfNodes) {
    const Index all = engine().node_count();
    static const std::uint64_t one = 1;
    static const std::uint64_t two = 2;
    const auto expected = testing::reference_product<double>(
        {40, 40}, 40, testing::dense<double>({40, 40}, {testing::random_element, &one}),
        testing::dense<double>({40, 40}, {testing::random_element, &two}));
    for (const Index nodes : node_counts())
        for (const Index nodes_of_c : {nodes, all}) {
            Stream s(engine());
            const Tiling tiling = Tiling::square(40, 9);
            Matrix<double> A(s, tiling, over(nodes, tiling.grid(), 1));
            Matrix<double> B(s, tiling, over(all, tiling.grid(), 2), {.name = "B"});
            Matrix<double> C(s, tiling, over(nodes_of_c, tiling.grid(), 3), {.name = "C"});
            generate(s, A.view(), {testing::random_element, &one});
            generate(s, B.view(), {testing::random_element, &two});
            fill(s, C.view(), {});
            gemm(s, A.view(), B.view(), C.view());
            EXPECT_LE(largest_difference(gather(s, C.view()), expected), testing::tolerance<double>(40));
            EXPECT_TRUE(s.wait().ok());
        }
}

TEST(FewerNodes, TasksOfNodesThatADistributionDoesNotKnowReadAndWriteItsTiles) {
    const Index all = engine().node_count();
    const NodeId last{all - 1};
    Stream s(engine());
    Matrix<double> A(s, Tiling::square(4, 4), Distribution({1, 1}, 1, {0}));
    Matrix<double> B(s, Tiling::square(4, 4), Distribution({1, 1}, 1, {0}), {.name = "B"});
    fill(s, A.view(), {.off_diagonal = 1, .diagonal = 1});
    fill(s, B.view(), {.off_diagonal = 2, .diagonal = 2});
    for (const AccessMode mode : {AccessMode::read_write, AccessMode::commute, AccessMode::reduce})
        s.submit(Task::unchecked(Dense<double>::geadd, {{A(0, 0), AccessMode::read}, {B(0, 0), mode}}, GeaddArguments{})
                     .on(last));
    EXPECT_EQ(gather(s, B.view()), std::vector<double>(16, 5));
    const std::vector<NodeId> everyone{NodeId{0}, last};
    s.share(A(0, 0), everyone);
    s.retire(A(0, 0));
    EXPECT_TRUE(s.wait().ok());
}

TEST(FewerNodes, TilesMoveAmongTheNodesThatADistributionKnowsAndToOthers) {
    for (const Index nodes : node_counts()) {
        Stream s(engine());
        const Tiling tiling = Tiling::square(30, 7);
        Matrix<double> A(s, tiling, over(nodes, tiling.grid(), 1));
        generate(s, A.view(), {testing::source_element});
        for (std::uint64_t seed = 2; seed < 5; ++seed) redistribute(s, A.view(), over(nodes, tiling.grid(), seed));
        EXPECT_EQ(A.distribution(), over(nodes, tiling.grid(), 4));
        EXPECT_EQ(gather(s, A.view()), testing::dense<double>({30, 30}, {testing::source_element}));
        const NodeId last{engine().node_count() - 1};  // which it may not know
        s.move(A(0, 0), last);
        EXPECT_EQ(A(0, 0).owner(), last);
        redistribute(s, A.view(), over(engine().node_count(), tiling.grid(), 9));
        EXPECT_EQ(A.distribution(), over(engine().node_count(), tiling.grid(), 9));
        // To a node that does not exist: refused alike on all nodes, and the stream goes on.
        EXPECT_THROW(s.move(A(0, 0), NodeId{engine().node_count()}), Error);
        EXPECT_THROW(s.move(A(0, 0), NodeId{-1}), Error);
        EXPECT_EQ(gather(s, A.view()), testing::dense<double>({30, 30}, {testing::source_element}));
        EXPECT_TRUE(s.wait().ok());
    }
}

TEST(FewerNodes, RedistributionsBetweenMatricesOverDifferentNumbersOfNodes) {
    const Index all = engine().node_count();
    for (const Index nodes : node_counts())
        for (const auto& [from, to] : {std::pair{nodes, all}, std::pair{all, nodes}, std::pair{nodes, nodes}}) {
            Stream s(engine());
            const Tiling source = Tiling::square(50, 8);
            const Tiling target = Tiling::square(50, 11);
            Matrix<double> A(s, source, over(from, source.grid(), 1));
            Matrix<double> B(s, target, over(to, target.grid(), 2), {.name = "B"});
            generate(s, A.view(), {testing::source_element});
            redistribute(s, A.view(), B.view());
            EXPECT_EQ(gather(s, B.view()), testing::dense<double>({50, 50}, {testing::source_element}));
            redistribute(s, B.view().transposed(), A.view(), {.message_bytes = 300});
            const auto turned = gather(s, A.view());
            EXPECT_EQ(turned[1], testing::source_element(nullptr, {0, 1}));
            EXPECT_TRUE(s.wait().ok());
        }
}

TEST(FewerNodes, AMatrixOverMoreNodesThanThereAreIsRefusedOnAll) {
    Stream s(engine());
    const Tiling tiling = Tiling::square(30, 7);
    EXPECT_THROW(Matrix<double>(s, tiling, over(engine().node_count() + 1, tiling.grid(), 1)), Error);
    EXPECT_TRUE(s.wait().ok());
}

}  // namespace
}  // namespace tesela::fewer_nodes_test
