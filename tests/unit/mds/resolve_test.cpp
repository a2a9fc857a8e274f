#include "tesela/mds/resolve.hpp"

#include "tesela/distribution/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tesela::mds::mds_resolve_test {
namespace {

using ::testing::HasSubstr;

MatrixFacts matrix(Analysis analysis, Index rows, Index cols) {
    return {.name = "F", .analysis = analysis, .size = {rows, cols}};
}
MatrixFacts distances(Index points) { return matrix(Analysis::scaling, points, points); }

std::string refusal(const DecompositionOptions& request, const MatrixFacts& facts) {
    try {
        check(request, facts);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(ResolveDecomposition, LapackDecomposesWhatIsSmall) {
    const auto chosen = [](Index rows, Index cols, Algorithm asked = Algorithm::automatic) {
        const Decision decision = resolve({.algorithm = asked}, matrix(Analysis::components, rows, cols), {});
        return std::pair(decision.algorithm, decision.reason);
    };
    EXPECT_EQ(chosen(2000, 2000), std::pair(Algorithm::exact, AlgorithmReason::small_enough));
    EXPECT_EQ(chosen(60000, 2000).first, Algorithm::exact);
    EXPECT_EQ(chosen(2001, 2001), std::pair(Algorithm::krylov, AlgorithmReason::too_large));
    EXPECT_EQ(chosen(10000000, 500).first, Algorithm::krylov);
    EXPECT_EQ(chosen(10, 10, Algorithm::power), std::pair(Algorithm::power, AlgorithmReason::asked_for));
}

TEST(ResolveDecomposition, OnlyWhatIsStreamedIsCut) {
    EXPECT_FALSE(resolve({}, distances(100), {}).streaming);
    EXPECT_TRUE(resolve({.algorithm = Algorithm::krylov}, distances(100), {}).streaming);
}

TEST(ResolveDecomposition, DimensionsAreTwoOrAsManyAsMayExplainEnough) {
    const auto dimensions = [](const DecompositionOptions& request, const MatrixFacts& facts) {
        return resolve(request, facts, {}).dimensions;
    };
    EXPECT_EQ(dimensions({}, distances(100)), 2);
    EXPECT_EQ(dimensions({}, distances(2)), 1);
    EXPECT_EQ(dimensions({.dimensions = 7}, distances(100)), 7);
    EXPECT_EQ(dimensions({.explained = 0.9}, distances(100)), 99);
    EXPECT_EQ(dimensions({.explained = 0.9, .algorithm = Algorithm::krylov}, distances(100)), 50);
    EXPECT_EQ(dimensions({.explained = 0.9, .algorithm = Algorithm::krylov}, distances(30)), 29);
    EXPECT_EQ(dimensions({.dimensions = 5, .explained = 0.9}, distances(100)), 5);
    EXPECT_EQ(dimensions({.explained = 0.5}, matrix(Analysis::correspondence, 9, 6)), 5);
}

StreamingDecision streamed(DecompositionOptions request, const MatrixFacts& facts, const Machine& machine = {}) {
    if (request.algorithm == Algorithm::automatic) request.algorithm = Algorithm::krylov;
    return resolve(request, facts, machine).streaming.value();
}

TEST(ResolveDecomposition, TilesAreSmallEnoughForAllWorkers) {
    const auto tile = [](Index points, const Machine& machine, Index asked = 0) {
        return streamed({.tile = asked}, distances(points), machine).tiling.rows(0);
    };
    EXPECT_EQ(tile(3200, {}), 400);  // eight rows for one worker as for two
    EXPECT_EQ(tile(3200, {.workers = {2}}), 400);
    EXPECT_EQ(tile(3200, {.workers = {2, 2}}), 200);
    EXPECT_EQ(tile(3200, {.workers = {16}}), 96);
    EXPECT_EQ(tile(30000, {}), 512);
    EXPECT_EQ(tile(50, {}), 50);
    EXPECT_EQ(tile(3200, {}, 70), 70);
    EXPECT_EQ(tile(50, {}, 70), 50);
    const Tiling table = streamed({.algorithm = Algorithm::power}, matrix(Analysis::components, 8000, 160)).tiling;
    EXPECT_EQ(table.rows(0), 512);
    EXPECT_EQ(table.cols(0), 96);
}

TEST(ResolveDecomposition, BlocksAreWiderThanWhatIsWanted) {
    EXPECT_EQ(streamed({.dimensions = 3}, distances(500)).columns, 13);
    EXPECT_EQ(streamed({.dimensions = 3, .oversampling = 4}, distances(500)).columns, 7);
    EXPECT_EQ(streamed({.dimensions = 40, .explained = 0.9}, distances(500)).columns, 20);
    EXPECT_EQ(streamed({.dimensions = 3}, distances(20)).columns, 20);  // more than half of all
    EXPECT_EQ(streamed({.dimensions = 3}, distances(26)).columns, 13);
}

TEST(ResolveDecomposition, RowsOfTilesAreDealtInTurnsUnlessAPlanSaysWhoseTheyAre) {
    const Machine machine{.workers = {1, 1, 1}};
    const StreamingDecision rows = streamed({.tile = 10}, distances(60), machine);
    EXPECT_EQ(rows.owners.read, rows.owners.compute);
    std::vector<Index> of_node(3, 0);
    for (Index i = 0; i < 6; ++i) {
        ++of_node[static_cast<std::size_t>(rows.owners.compute.owner({i, 0}).number())];
        EXPECT_EQ(rows.owners.compute.owner({i, 0}), rows.owners.compute.owner({i, 5}));
    }
    EXPECT_THAT(of_node, ::testing::Each(2));
    const TileOwners planned{.read = block_cyclic({6, 6}, {.p = 3, .q = 1}),
                             .compute = block_cyclic({6, 6}, {.p = 1, .q = 3})};
    const StreamingDecision as_planned = streamed({.tile = 10, .owners = planned}, distances(60), machine);
    EXPECT_EQ(as_planned.owners.read, planned.read);
    EXPECT_EQ(as_planned.owners.compute, planned.compute);
    const StreamingDecision before =
        streamed({.tile = 10, .owners = planned, .overlap = StreamingStep::commute}, distances(60), machine);
    EXPECT_EQ(before.owners.read, read_owners(StreamingStep::commute, planned.compute));
}

TEST(ResolveDecomposition, PanelsAreAsWideAsTheFileUpToSomeTensOfMilliseconds) {
    EXPECT_EQ(streamed({.tile = 500}, distances(5000)).panel_tiles, 10);   // 20 MB
    EXPECT_EQ(streamed({.tile = 500}, distances(50000)).panel_tiles, 32);  // 64 MB of double precision
    MatrixFacts single = distances(50000);
    single.elements = ElementType::f32;
    EXPECT_EQ(streamed({.tile = 500}, single).panel_tiles, 64);
    EXPECT_EQ(streamed({.tile = 500, .readers = 5}, distances(5000)).slots, 7);
    EXPECT_EQ(streamed({.tile = 500, .readers = 1}, distances(5000)).slots, 3);
    EXPECT_EQ(streamed({.tile = 500, .readers = 5}, distances(50000)).slots, 2);  // four panels are a row
}

TEST(ResolveDecomposition, TheLastRowsStayThatThereIsMemoryFor) {
    const double row = 8.0 * 50 * 1000;  // of tiles, of which half is read and kept
    const auto decided = [&](double memory, const Machine& machine = {}) {
        return streamed({.tile = 50, .memory = memory}, distances(1000), machine);
    };
    EXPECT_EQ(decided(0).resident_rows, 20);
    EXPECT_EQ(decided(0).passing_rows, 2);
    EXPECT_DOUBLE_EQ(decided(0).bytes, 7 * row + 10.5 * row);
    EXPECT_EQ(decided(100 * row).resident_rows, 20);
    // One panel and one row pass; what is left takes the last row and the half but one that is next.
    const StreamingDecision little = decided(4 * row);
    EXPECT_EQ(little.slots, 1);
    EXPECT_EQ(little.passing_rows, 1);
    EXPECT_EQ(little.resident_rows, 2);
    EXPECT_DOUBLE_EQ(little.bytes, 2 * row + 1.95 * row);
    EXPECT_EQ(decided(4 * row, {.workers = {1, 1}}).resident_rows, 4);
}

TEST(ResolveDecomposition, VeryManyTilesAreANoteAndMoreAreRefused) {
    const auto note = [](Index tile) { return resolve({.tile = tile}, distances(20000), {}).many_tiles; };
    ASSERT_TRUE(note(30));
    EXPECT_EQ(note(30)->tiles, 667 * 668 / 2);
    EXPECT_EQ(note(30)->bytes, 667 * 668 / 2 * bytes_per_tile);
    EXPECT_EQ(note(30)->chosen_size, 512);
    EXPECT_EQ(note(30)->chosen_tiles, 40 * 41 / 2);
    EXPECT_FALSE(note(32));  // 195,625
    EXPECT_FALSE(note(0));
    try {
        check({.tile = 7}, distances(20000));
        ADD_FAILURE();
    } catch (const Refusal& refused) {
        EXPECT_EQ(refused.remedy(), Refusal::Remedy::larger_tiles);
        EXPECT_EQ(refused.least_tile(), 8);
        EXPECT_THAT(refused.what(), HasSubstr("F would be 4085511 tiles of size 7, and at most 4000000 are taken"));
    }
    EXPECT_EQ(refusal({.tile = 8}, distances(20000)), "");
    EXPECT_EQ(refusal({.algorithm = Algorithm::exact, .tile = 1}, distances(20000)), "");  // it has none
}

TEST(ResolveDecomposition, WhatCannotBeMeantIsRefused) {
    EXPECT_EQ(refusal({.dimensions = 10}, distances(10)), "F is 10 x 10 and has 1 to 9 dimensions, not 10");
    EXPECT_THAT(refusal({.dimensions = 0}, distances(10)), HasSubstr("1 to 9 dimensions, not 0"));
    EXPECT_THAT(refusal({.dimensions = 5}, matrix(Analysis::components, 9, 4)), HasSubstr("1 to 4 dimensions"));
    EXPECT_THAT(refusal({}, distances(1)), HasSubstr("too small to be analysed"));
    EXPECT_THAT(refusal({.explained = 1.5}, distances(10)), HasSubstr("above 0 and at most 1, not 1.5"));
    EXPECT_THAT(refusal({.row_weights = {1, 2}}, distances(3)), HasSubstr("there are 2 weights for the 3 rows"));
    EXPECT_THAT(refusal({.row_weights = {1, 0, 2}}, distances(3)), HasSubstr("weight 2 is 0"));
    EXPECT_THAT(refusal({.row_weights = {1, 1e16, 2}}, distances(3)), HasSubstr("less than rounding"));
    EXPECT_THAT(refusal({.row_weights = {1, 1, 1}}, matrix(Analysis::correspondence, 3, 3)), HasSubstr("its margins"));
    EXPECT_THAT(refusal({.algorithm = Algorithm::exact}, distances(20001)), HasSubstr("more than LAPACK takes"));
    EXPECT_THAT(refusal({.algorithm = Algorithm::exact}, matrix(Analysis::components, 40000000, 3)),
                HasSubstr("more than LAPACK takes"));
    EXPECT_THAT(
        refusal({.algorithm = Algorithm::krylov, .memory = 1e6, .overlap = StreamingStep::allocation}, distances(100)),
        HasSubstr("needs the step split_gram"));
    EXPECT_EQ(
        refusal({.algorithm = Algorithm::krylov, .memory = 1e6, .overlap = StreamingStep::split_gram}, distances(100)),
        "");
    EXPECT_EQ(refusal({.memory = 1e6, .overlap = StreamingStep::allocation}, distances(100)), "");
}

TEST(ResolveDecomposition, OwnersAreOfTheTilesThatAreStreamedAndAllKept) {
    const auto owners = [](Index tiles) {
        const Distribution of = block_cyclic({tiles, tiles}, {.p = 1, .q = 1});
        return TileOwners{.read = of, .compute = of};
    };
    const auto krylov = Algorithm::krylov;
    const MatrixFacts d = distances(100);
    EXPECT_THAT(refusal({.tile = 10, .owners = owners(10)}, d), HasSubstr("which LAPACK decomposes on one node"));
    EXPECT_THAT(refusal({.algorithm = krylov, .owners = owners(10)}, d), HasSubstr("need the size"));
    EXPECT_THAT(refusal({.algorithm = krylov, .tile = 10, .memory = 1e6, .owners = owners(10)}, d),
                HasSubstr("owners keep all tiles"));
    EXPECT_EQ(refusal({.algorithm = krylov, .tile = 10, .owners = owners(9)}, d),
              "F has 10 x 10 tiles of 10, and owners are for 9 x 9");
    EXPECT_EQ(refusal({.algorithm = krylov, .tile = 10, .owners = owners(10)}, d), "");
}

}  // namespace
}  // namespace tesela::mds::mds_resolve_test
