#include "tesela/kernels/compressed_tile.hpp"

#include "tesela/kernels/owned_tile.hpp"
#include "tesela/kernels/tile_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::compressed_tile_test {
namespace {

constexpr Index rows = 40;
constexpr Index cols = 30;
constexpr double accuracy = 1e-8;

double element(Index i, Index j) { return 1 / (2.0 + static_cast<double>(i) / rows + static_cast<double>(j) / cols); }

std::vector<double> all_elements() {
    std::vector<double> all;
    for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) all.push_back(element(i, j));
    return all;
}

class SmoothTile final : public TileSource<double> {
public:
    [[nodiscard]] Index rows() const override { return compressed_tile_test::rows; }
    [[nodiscard]] Index cols() const override { return compressed_tile_test::cols; }
    void row(Index i, double* out) const override {
        for (Index j = 0; j < cols(); ++j) out[j] = element(i, j);
    }
    void column(Index j, double* out) const override {
        for (Index i = 0; i < rows(); ++i) out[i] = element(i, j);
    }
};

/// In the Frobenius norm.
double error_of(const Tile& tile, const std::vector<double>& expected) {
    std::vector<double> found(expected.size());
    copy_values(tile, ElementType::f64, found.data());
    double squares = 0;
    for (std::size_t k = 0; k < found.size(); ++k) squares += std::pow(found[k] - expected[k], 2);
    return std::sqrt(squares);
}

TEST(StoreTile, CompressesElementsToTheAccuracyOfTheTile) {
    OwnedTile tile(rows, cols, accuracy);
    ASSERT_EQ(store_tile(tile.tile(), all_elements().data()).failure, Failure::none);
    EXPECT_GT(tile.shape().rank, 1);
    EXPECT_LT(tile.shape().rank, 10);
    EXPECT_LE(error_of(tile.tile(), all_elements()), accuracy);
}

TEST(StoreTile, AsksASourceForRowsAndColumns) {
    OwnedTile tile(rows, cols, accuracy);
    ASSERT_EQ(store_tile<double>(tile.tile(), SmoothTile()).failure, Failure::none);
    EXPECT_LT(tile.shape().rank, 10);
    EXPECT_LE(error_of(tile.tile(), all_elements()), accuracy);
}

/// u·vᵀ + u·vᵀ, which two columns say and one could.
struct TwiceTheSame {
    std::vector<double> u = std::vector<double>(2 * rows, 0.5);
    std::vector<double> v = std::vector<double>(2 * cols, 3.0);
};

TEST(StoreTile, TakesFactorsOfMoreColumnsThanAreNeeded) {
    const TwiceTheSame twice;
    OwnedTile tile(rows, cols, accuracy);
    ASSERT_EQ(store_tile(tile.tile(), twice.u.data(), twice.v.data(), 2).failure, Failure::none);
    EXPECT_EQ(tile.shape().rank, 1);
    EXPECT_LE(error_of(tile.tile(), std::vector<double>(rows * cols, 3.0)), accuracy);
}

TEST(StoreTile, StoresAllElementsWhereATileIsNotToBeCompressed) {
    constexpr Index ld = rows + 3;
    std::vector<double> memory(ld * cols, -1);
    const Tile tile{.data = memory.data(), .shape = {rows, cols}, .ld = ld};
    const TwiceTheSame twice;
    ASSERT_EQ(store_tile(tile, twice.u.data(), twice.v.data(), 2).failure, Failure::none);
    EXPECT_LE(error_of(tile, std::vector<double>(rows * cols, 3.0)), 1e-12);
    ASSERT_EQ(store_tile(tile, all_elements().data()).failure, Failure::none);
    EXPECT_EQ(error_of(tile, all_elements()), 0);
    std::ranges::fill(memory, -1);
    ASSERT_EQ(store_tile<double>(tile, SmoothTile()).failure, Failure::none);
    EXPECT_EQ(error_of(tile, all_elements()), 0);
    EXPECT_EQ(memory[rows], -1) << "between the columns";
}

TEST(StoreTile, StoresAllElementsWhereARankWouldSaveNothing) {
    std::vector<double> identity(rows * rows, 0);
    for (Index i = 0; i < rows; ++i) identity[static_cast<std::size_t>(i * (rows + 1))] = 1;
    OwnedTile tile(rows, rows, accuracy);
    ASSERT_EQ(store_tile(tile.tile(), identity.data()).failure, Failure::none);
    EXPECT_EQ(tile.shape().rank, dense_rank);
    EXPECT_EQ(error_of(tile.tile(), identity), 0);
}

}  // namespace
}  // namespace tesela::compressed_tile_test
