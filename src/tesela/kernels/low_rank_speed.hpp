#pragma once

#include "tesela/base/log_curve.hpp"
#include "tesela/kernels/kernel.hpp"

namespace tesela {

/// How fast a core is with low-rank tiles. Recompression is QR of narrow blocks and singular values of small ones: its
/// operations take longer than those of a product of dense tiles, on some machines twice as long and on others ten
/// times, with small ranks more so.
struct LowRankSpeed {
    double product_flops = 52e9;  ///< operations a second in a product of dense tiles
    /// By the rank of a sum before it is recompressed, how many times as long its operations take as those of a
    /// product, as costs of kernels count them. Here as on a core with AVX-512, whose products are fastest beside all
    /// else: what pays by this pays on others too.
    LogCurve recompression{{8, 11.3}, {24, 6.5}, {72, 4.4}, {192, 5}, {500, 2.6}};
};

/// What a kernel's recompression takes besides, in operations of a product, where it is so slow by its rank.
[[nodiscard]] inline double slowness_flops(const Recompression& part, const LogCurve& slowness) {
    return part.rank > 0 ? part.flops * (value_at(slowness, part.rank) - 1) : 0;
}

/// Of the core that this runs on, in a few hundredths of a second, with one thread of BLAS.
[[nodiscard]] LowRankSpeed measure_low_rank_speed();

}  // namespace tesela
