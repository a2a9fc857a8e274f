#pragma once

#include "tesela/base/index.hpp"
#include "tesela/kernels/low_rank_speed.hpp"
#include "tesela/kernels/tile.hpp"

#include <functional>

namespace tesela {

/// How a compressed matrix is cut, and how many diagonals of tiles from the main one on are stored whole.
struct CompressedCut {
    Index tile = 1;
    Index band = 1;
    friend bool operator==(const CompressedCut&, const CompressedCut&) = default;
};

/// How fast a worker is at what generation, compression and factorisation consist of.
struct CompressedRates {
    LowRankSpeed low_rank{};
    double covariance_seconds = 10e-9;  ///< to compute an element
    double task_seconds = 20e-6;        ///< what a task costs besides its kernel
    /// What a column of a sum that is recompressed takes more for each worker of the node that works at the same time:
    /// QR of narrow blocks is many small calls of BLAS, each of which takes OpenBLAS's one lock for its memory.
    double lock_seconds = 2.2e-6;

    /// As so many operations of a product of dense tiles, the unit of all costs below.
    [[nodiscard]] double per_covariance() const { return covariance_seconds * low_rank.product_flops; }
    [[nodiscard]] double per_task() const { return task_seconds * low_rank.product_flops; }
    [[nodiscard]] double per_lock() const { return lock_seconds * low_rank.product_flops; }
};

/// The rank of tiles of so many rows, so many tiles below the diagonal.
using RankAt = std::function<double(Index tile, Index distance)>;

/// Who works at it: so many workers of all nodes.
struct Crew {
    Index workers = 1;
    Index nodes = 1;
};

/// A matrix of order n to be generated, compressed and factored.
struct CompressedProblem {
    Index n = 0;
    Crew crew{};
    RankAt rank{};
    CompressedRates rates{};
};

/// What it costs to compute a tile of covariances and to compress it: all its elements are computed and compared, and
/// crosses besides. Its rank is what it came to; dense_rank: that it does not compress is found out early.
[[nodiscard]] double compression_cost(const TileShape& tile, const CompressedRates& rates = {});

/// What generation and Cholesky factorisation of a matrix of order n with all its elements cost.
[[nodiscard]] double dense_cholesky_cost(Index n, const CompressedRates& rates = {});

/// What generation and Cholesky factorisation cost when the matrix is cut like that, by the operations of kernels with
/// the ranks that tiles have before it: the work divided among the workers, as far as the critical path lets them.
[[nodiscard]] double compressed_cholesky_cost(const CompressedProblem& problem, const CompressedCut& cut);

/// Bytes of its tiles on and below the diagonal, likewise.
[[nodiscard]] double compressed_bytes(const CompressedProblem& problem, const CompressedCut& cut);

/// The cheapest by compressed_cholesky_cost of sizes that are about a quarter apart and divide the matrix evenly, and
/// of bands of 1 to 4; of `given` as far as it is not 0. Where the dense matrix would take more than 4 GB, only such as
/// take no more than 17 % of that, if there are any. Equation (2) takes it that workers are many and wait for the
/// critical path; with few it is the work itself that is to be small. Throws Error if the problem has no rows or no
/// ranks, or a number that is given is below 0.
[[nodiscard]] CompressedCut cheapest_compressed_cut(const CompressedProblem& problem,
                                                    const CompressedCut& given = {0, 0});

}  // namespace tesela
