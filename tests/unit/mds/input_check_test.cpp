#include "tesela/mds/input_check.hpp"

#include "tesela/flow/inline_engine.hpp"
#include "tesela/flow/stream.hpp"
#include "unit/mds/cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace tesela::mds::mds_input_check_test {
namespace {

using tesela::testing::made_matrix;
using ::testing::HasSubstr;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Distances of points on a line, with one element of its own.
std::unique_ptr<MatrixFile> line_with(Index row, Index col, double value) {
    MatrixValues values{
        .rows = 4, .cols = 4, .values = {}, .row_labels = {"a", "b", "c", "d"}, .col_labels = {"a", "b", "c", "d"}};
    for (Index j = 0; j < 4; ++j)
        for (Index i = 0; i < 4; ++i)
            values.values.push_back(i == row && j == col ? value : static_cast<double>(std::abs(i - j)));
    return memory_matrix(std::move(values), "D.csv");
}

std::string complaint(const MatrixFile& file, Analysis analysis, const DecompositionOptions& options = {}) {
    InlineEngine engine;
    Stream stream(engine);
    try {
        (void)decompose(stream, file, analysis, options);
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(InputCheck, NamesFileRowAndColumnOfWhatIsWrong) {
    EXPECT_EQ(complaint(*line_with(2, 1, nan), Analysis::scaling),
              "D.csv, row 3 (c), column 2 (b): nan is not a finite number");
    EXPECT_EQ(complaint(*line_with(0, 3, -3), Analysis::scaling), "D.csv, row 1 (a), column 4 (d): -3 is negative");
    EXPECT_EQ(complaint(*line_with(1, 1, 0.5), Analysis::scaling),
              "D.csv, row 2 (b), column 2 (b): 0.5 is on the diagonal, where the distance of a point from itself must "
              "be 0");
    EXPECT_EQ(complaint(*line_with(3, 0, 3.5), Analysis::scaling),
              "D.csv is not symmetric: row 4 (d), column 1 (a) is 3.5 and row 1 (a), column 4 (d) is 3");
    EXPECT_EQ(complaint(*line_with(3, 0, 3.5), Analysis::scaling, {.symmetry = Symmetry::unchecked}), "");
    EXPECT_EQ(complaint(*line_with(3, 0, -3.5), Analysis::components), "");
    EXPECT_EQ(complaint(*line_with(3, 0, -3.5), Analysis::correspondence),
              "D.csv, row 4 (d), column 1 (a): -3.5 is negative");
    EXPECT_EQ(complaint(*line_with(3, 0, std::numeric_limits<double>::infinity()), Analysis::components),
              "D.csv, row 4 (d), column 1 (a): inf is not a finite number");
}

TEST(InputCheck, RoundingIsNoFlaw) {
    EXPECT_EQ(complaint(*line_with(3, 0, 3 + 1e-7), Analysis::scaling), "");
    EXPECT_EQ(complaint(*line_with(1, 1, 1e-9), Analysis::scaling), "");
}

TEST(InputCheck, OptionsMustSuitTheMatrix) {
    const auto flat = made_matrix(4, 3, [](Index i, Index j) { return static_cast<double>(i + j); });
    EXPECT_THAT(complaint(*flat, Analysis::scaling), HasSubstr("made is not square: 4 x 3"));
    EXPECT_THAT(complaint(*flat, Analysis::components, {.dimensions = 4}),
                HasSubstr("made is 4 x 3 and has 1 to 3 dimensions, not 4"));
    EXPECT_THAT(complaint(*flat, Analysis::components, {.row_weights = {1, 2}}),
                HasSubstr("there are 2 weights for the 4 rows of made"));
    EXPECT_THAT(complaint(*flat, Analysis::components, {.row_weights = {1, 2, 0, 1}}),
                HasSubstr("weight 3 is 0, where a number above 0 is needed"));
    EXPECT_THAT(complaint(*flat, Analysis::components, {.explained = 1.5}), HasSubstr("not 1.5"));
}

TEST(InputCheck, FindsFlawsOfBlocksWhereTheyAreInTheMatrix) {
    const std::vector<double> values{1, 2, 3, nan, 5, -6};
    const MatrixBlock block{.row = 10, .col = 20, .rows = 2, .cols = 2};
    // Columns of a block of two rows in memory for three: 1, 2 and nan, 5.
    const InputFlaw flaw = find_flaw(Analysis::scaling, block, {values.data(), 3});
    EXPECT_EQ(flaw.flaw, Flaw::not_finite);
    EXPECT_EQ(flaw.row, 10);
    EXPECT_EQ(flaw.col, 21);
    const std::vector<double> mirrored{1, 3, 2.5, 4};
    const std::vector<double> there{1, 2, 3, 4};
    const InputFlaw apart = find_asymmetry(block, {there.data(), 2}, {mirrored.data(), 2});
    EXPECT_EQ(apart.flaw, Flaw::asymmetric);
    EXPECT_EQ(apart.row, 11);
    EXPECT_EQ(apart.col, 20);
    EXPECT_EQ(apart.mirrored, 2.5);
}

TEST(InputCheck, OfSeveralThreadsTheWorstFlawIsSaid) {
    FoundFlaws found;
    EXPECT_FALSE(found.worst());
    {
        std::vector<std::jthread> threads;
        for (Index k = 0; k < 8; ++k)
            threads.emplace_back([&found, k] {
                found.add({Flaw::asymmetric, k, 0, 1, static_cast<double>(k + 2)});
                found.add({Flaw::negative, 8 - k, k, -1});
            });
    }
    EXPECT_EQ(found.worst().flaw, Flaw::negative);
    EXPECT_EQ(found.worst().row, 1);
    EXPECT_EQ(worse({Flaw::asymmetric, 0, 1, 1, 2}, {Flaw::asymmetric, 5, 6, 1, 3}).row, 5);
}

}  // namespace
}  // namespace tesela::mds::mds_input_check_test
