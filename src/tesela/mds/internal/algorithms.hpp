#pragma once

#include "tesela/mds/resolve.hpp"

namespace tesela::mds {

/// By LAPACK, of the whole matrix on one node.
[[nodiscard]] Decomposition decompose_exactly(Engine& engine, const MatrixFile& file, const Decision& decision);

/// By products with random numbers, streaming the file.
[[nodiscard]] Decomposition decompose_randomly(Stream& stream, const MatrixFile& file, const Decision& decision);

}  // namespace tesela::mds
