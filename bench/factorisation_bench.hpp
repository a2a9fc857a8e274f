#pragma once

#include "tesela/cli/run_options.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace tesela::bench {

enum class Factorisation : std::uint8_t { cholesky, lu, qr };

struct FactorisationOptions {
    cli::RunOptions run;
    Index n = 4000;
    Index rows = 0;  ///< of QR; 0: as many as columns
    int repetitions = 5;
    ElementType precision = ElementType::f64;
    /// Compare the result with LAPACK (up to order 4000, or as many elements), and fail if it is not equal to rounding.
    bool check = false;
    /// Measure others beside it: LAPACK and gemm on one node, ScaLAPACK's Cholesky (double precision) on several.
    bool compare = true;
    /// The longest product that is tried for the rate of gemm.
    double product_seconds = 2;
};

/// Times Tesela's factorisation and, in turn with it, LAPACK's with all threads and a product of the order at which
/// products are fastest (see find_peak), or on several nodes ScaLAPACK's Cholesky on two grids of processes with two
/// block sizes; keeps the best of each.
/// Sets `correct` to whether residual and, if asked for, the comparison passed.
[[nodiscard]] nlohmann::ordered_json factorisation_benchmark(StarpuEngine& engine, Factorisation which,
                                                             const FactorisationOptions& options);

}  // namespace tesela::bench
