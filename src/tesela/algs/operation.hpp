#pragma once

#include "tesela/algs/cholesky.hpp"
#include "tesela/distribution/weights.hpp"
#include "tesela/flow/matrix.hpp"

namespace tesela {

/// The matrix that is factored, by its name in the stream; a product's are A, B and C.
inline constexpr const char* operation_matrix = "A";

/// Submits a product C = A·B, an LU or a Cholesky factorization of matrices with this tiling and these owners, and
/// waits for it. Nothing generates the matrices: it is for engines without data, which record or simulate.
/// The options are a factorization's; a product has none.
void run_operation(Stream& stream, Operation operation, const Tiling& tiling, const Distribution& owners,
                   const FactorOptions& options = {});

/// The same for a QR factorization, with the reduction that `qr` chooses for the owners.
void run_qr(Stream& stream, const Tiling& tiling, const Distribution& owners);

}  // namespace tesela
