#pragma once

#include "tesela/kernels/kernel.hpp"

#include <span>

namespace tesela {

// Operations of kernels where tiles are of low rank: the one rule that costs of kernels, and so traces, plans, tile
// sizes and simulations follow. Shapes are in the order of the kernel's tiles; one of them at least has a rank.

/// A product of two tiles of rank k, added to one of nb rows and columns that has that rank too, and recompressed
/// (paper 004, section III-B, after HiCMA). What is recompressed has rank 2·k.
[[nodiscard]] constexpr double low_rank_product_flops(double nb, double k) { return 36 * nb * k * k; }

/// A block x·yᵀ of this rank, added to a tile and recompressed with it; where the tile has all its elements, added.
[[nodiscard]] double low_rank_addition_flops(double rank, const TileShape& to) noexcept;

/// The rank of a product: the least of its factors', dense_rank where neither has one.
[[nodiscard]] constexpr Index product_rank(const TileShape& a, const TileShape& b) {
    if (a.rank == dense_rank || b.rank == dense_rank) return a.rank == dense_rank ? b.rank : a.rank;
    return a.rank < b.rank ? a.rank : b.rank;
}

/// (A, B, C): C := op(A)·op(B) + C. With nb rows and columns everywhere it is paper 004's 36·nb·k² if all have the rank
/// k, and 2·nb²·k + 4·nb·k² if C has all its elements.
[[nodiscard]] double low_rank_gemm_flops(std::span<const TileShape> shapes) noexcept;
/// (A, C): one triangle of C := op(A)·op(A)ᵀ + C, which has all its elements: nb²·k + 4·nb·k². Paper 004 has 2·nb²·k
/// here, that of all of C; the kernel leaves out the other triangle.
[[nodiscard]] double low_rank_syrk_flops(std::span<const TileShape> shapes) noexcept;
/// (A, B): a solve or a product with a triangular A, which acts on one factor of B: nb²·k.
[[nodiscard]] double low_rank_triangular_flops(std::span<const TileShape> shapes) noexcept;
/// (A, B): B := A + B.
[[nodiscard]] double low_rank_sum_flops(std::span<const TileShape> shapes) noexcept;

/// What of these a product or a sum of tiles recompresses; the rank is that of the tile and of what is added to it.
/// Nothing where the tile has all its elements.
[[nodiscard]] Recompression gemm_recompression(std::span<const TileShape> shapes) noexcept;
[[nodiscard]] Recompression sum_recompression(std::span<const TileShape> shapes) noexcept;

}  // namespace tesela
