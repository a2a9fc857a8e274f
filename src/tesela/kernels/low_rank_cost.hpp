#pragma once

namespace tesela {

// Operations on tiles of nb rows and columns of which the largest rank is k (paper 004, section III-B, after HiCMA).

/// A product, added to a tile of low rank and recompressed.
[[nodiscard]] constexpr double low_rank_product_flops(double nb, double k) { return 36 * nb * k * k; }
/// A product with a tile of low rank, added to one with all its elements.
[[nodiscard]] constexpr double low_rank_update_flops(double nb, double k) { return 2 * nb * nb * k + 4 * nb * k * k; }
/// A triangular solve, which acts on one factor.
[[nodiscard]] constexpr double low_rank_solve_flops(double nb, double k) { return nb * nb * k; }

}  // namespace tesela
