#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"
#include "tesela/distribution/tiling.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// A number for every tile of a grid: a density, a weight.
class TileMap {
public:
    TileMap() = default;
    explicit TileMap(GridSize grid, double value = 0)
        : grid_(grid),
          values_(static_cast<std::size_t>(grid.count()), value) {}

    [[nodiscard]] GridSize grid() const { return grid_; }
    [[nodiscard]] double& operator[](TileIndex tile) { return values_[position(tile)]; }
    [[nodiscard]] double operator[](TileIndex tile) const { return values_[position(tile)]; }
    /// Row by row, as Distribution::owners().
    [[nodiscard]] const std::vector<double>& values() const { return values_; }
    [[nodiscard]] double total() const;

    friend bool operator==(const TileMap&, const TileMap&) = default;

private:
    [[nodiscard]] std::size_t position(TileIndex tile) const {
        return static_cast<std::size_t>(tile.i * grid_.cols + tile.j);
    }
    GridSize grid_{};
    std::vector<double> values_;
};

/// What is computed with the matrix, tile by tile.
enum class Operation : std::uint8_t { product, lu, cholesky };
inline constexpr Names<Operation, 3> operation_names{
    {{Operation::product, "gemm"}, {Operation::lu, "lu"}, {Operation::cholesky, "cholesky"}}};

/// Cholesky stores the lower tiles, product and LU all.
[[nodiscard]] constexpr Stored stored_tiles(Operation operation) {
    return operation == Operation::cholesky ? Stored::lower : Stored::full;
}

/// Time of each kernel on a full tile, in any unit. The defaults are paper 001's 1 : 3 : 6 for getrf, trsm and gemm,
/// with syrk half a gemm: the flops of Cholesky's kernels.
struct KernelCosts {
    double factor = 1;
    double solve = 3;
    double symmetric_update = 3;
    double update = 6;
};

/// An operation on a matrix whose tile (i, j) has rank density(i, j)·tile size: density 1 is a dense tile. Every kernel
/// that writes a tile costs its full cost times the density of that tile (paper 001, section 3.5).
struct Workload {
    Operation operation = Operation::product;
    TileMap density;
    KernelCosts costs{};
};

/// The cost of what step k does to a tile; a product C = A·Aᵀ of an m x n grid has n steps.
[[nodiscard]] double step_cost(const Workload& workload, TileIndex tile, Index step);
/// The cost of all that is done to each tile: W of paper 001. Tiles that are not stored weigh nothing. Throws Error
/// where a factorization is asked of a grid that is not square.
[[nodiscard]] TileMap tile_weights(const Workload& workload);

/// Density 1 everywhere.
[[nodiscard]] TileMap full_density(GridSize tiles);

/// The rank of every tile of a grid, row by row; a negative rank is a tile stored whole.
struct RankMap {
    GridSize grid;
    std::vector<Index> ranks;
    /// How many of the columns are in single precision; empty: none of any tile.
    std::vector<Index> singles{};
};

/// rank / min(rows, columns) of each tile, at most 1, and 1 for tiles stored whole.
[[nodiscard]] TileMap density_of_ranks(const RankMap& ranks, const Tiling& tiling);

/// Paper 001, section 5.1.
struct SyntheticDensity {
    double delta = 8;             ///< how fast the density falls away from the diagonal
    double deviation = 1.0 / 20;  ///< of the noise; the paper's N(0, 1/20) does not say deviation or variance
    std::uint64_t seed = 0;
};

/// d(i, j) = clamp(exp(-δ/2·((i-j)/(n-1))²) + noise, 0, 1), 1 on the diagonal and on θ ~ N(√n, √n/2) random tiles.
[[nodiscard]] TileMap synthetic_density(Index n, const SyntheticDensity& options);

}  // namespace tesela
