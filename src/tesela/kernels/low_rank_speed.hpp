#pragma once

#include "tesela/base/log_curve.hpp"

namespace tesela {

/// How fast a core is with low-rank tiles. Recompression is QR of narrow blocks and singular values of small ones: its
/// operations take longer than those of a product of dense tiles, on some machines twice as long and on others ten
/// times, with small ranks more so.
struct LowRankSpeed {
    double product_flops = 31e9;  ///< operations a second in a product of dense tiles
    /// By the rank of a sum before it is recompressed, how many times as long its operations take as those of a
    /// product, as costs of kernels count them. As measured with OpenBLAS on a Neoverse V1.
    LogCurve recompression{{8, 6.8}, {24, 3.9}, {72, 2.5}, {192, 3.1}};
};

/// Of the core that this runs on, in a few hundredths of a second; with as many threads as BLAS is allowed.
[[nodiscard]] LowRankSpeed measure_low_rank_speed();

}  // namespace tesela
