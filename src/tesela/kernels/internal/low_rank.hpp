#pragma once

// Arithmetic of blocks of low rank. Private to src/tesela/kernels. Functions may throw std::bad_alloc.

#include "tesela/kernels/compressed_tile.hpp"
#include "tesela/kernels/internal/blas.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tesela::low_rank {

/// The block U·Vᵀ: U is rows×rank, V is cols×rank, both column-major without gaps. Rank 0 is the zero block.
template <class T>
struct Factors {
    Index rows = 0, cols = 0, rank = 0;
    std::vector<T> u, v;
};

/// The smallest rank whose error in the Frobenius norm is at most accuracy, or what rounding alone leaves if that is
/// more. V has orthonormal columns afterwards and U the singular values, so that ‖U‖ is the norm of the block.
/// Factors with an element that is not finite are left as they are.
template <class T>
void recompress(Factors<T>& f, double accuracy);

/// A dense block to the accuracy, as recompress has it; the rank is now and then one above the smallest. A block with
/// an element that is not finite comes back whole: as A·I, or I·A if that is smaller.
template <class T>
[[nodiscard]] Factors<T> compress(blas::Block<const T> a, double accuracy);

/// A rank that no block reaches: all are worth their while.
inline constexpr Index no_useless_rank = std::numeric_limits<Index>::max();

/// Likewise, if the rank is below the useless one: nothing otherwise, or if it looks as if it were not, which costs
/// less to find out. A rank just below it may be missed.
template <class T>
[[nodiscard]] std::optional<Factors<T>> compress(blas::Block<const T> a, double accuracy, Index useless_rank);

/// alpha·a + beta·b, of the same shape, by putting factors side by side: to be recompressed.
template <class T>
[[nodiscard]] Factors<T> sum(double alpha, const Factors<T>& a, double beta, const Factors<T>& b);

/// How far a cross approximation goes.
struct CrossLimits {
    Index crosses;                         ///< rows and columns that may be asked for, of each
    Index useless_rank = no_useless_rank;  ///< from this rank on the block is not wanted
};

/// What crosses say of a block that they do not give to the accuracy.
enum class RankOutlook : std::uint8_t { open, useless };

template <class T>
struct CrossApproximation {
    std::optional<Factors<T>> factors{};
    RankOutlook outlook = RankOutlook::open;
};

/// A block to the accuracy from some of its rows and columns. No factors if more crosses than allowed are needed, if
/// the approximation does not settle, or if an element that is not finite was met: then look at the whole block. Nor if
/// the rank will be useless by the way in which the terms shrink, after a quarter of that rank at the earliest. That
/// the error is met is a matter of probability: it is estimated from rows and columns chosen at random (but always the
/// same), so that what stands in a few elements only can be missed: see is_accurate.
template <class T>
[[nodiscard]] CrossApproximation<T> cross_approximate(const TileSource<T>& block, double accuracy,
                                                      const CrossLimits& limits);

/// Whether U·Vᵀ differs from the block by no more than the accuracy, or than rounding: all elements are looked at, some
/// columns at a time.
template <class T>
[[nodiscard]] bool is_accurate(const Factors<T>& f, const TileSource<T>& block, double accuracy);

}  // namespace tesela::low_rank
