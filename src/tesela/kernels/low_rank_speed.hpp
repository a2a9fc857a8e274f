#pragma once

#include <array>

namespace tesela {

/// How fast a core is with low-rank tiles. Recompression is QR of narrow blocks and singular values of small ones: its
/// operations take longer than those of a product of dense tiles, on some machines twice as long and on others ten
/// times, with small ranks more so.
struct LowRankSpeed {
    /// Ranks of sums before they are recompressed.
    static constexpr std::array<double, 3> ranks{16, 64, 192};

    double product_flops = 27e9;  ///< operations a second in a product of dense tiles
    /// How many times as long an operation takes at each of these ranks, as low_rank_addition_flops counts them. As
    /// measured with OpenBLAS on a Neoverse V1.
    std::array<double, 3> recompression{4.9, 2.2, 1.8};

    /// At any rank: between these on a logarithmic scale, beyond them as at the nearest.
    [[nodiscard]] double recompression_at(double rank) const;
};

/// Of the core that this runs on, in a few hundredths of a second; with as many threads as BLAS is allowed.
[[nodiscard]] LowRankSpeed measure_low_rank_speed();

}  // namespace tesela
