#pragma once

#include "tesela/base/index.hpp"

namespace tesela {

/// A tile size for dense factorisations of order n on this many cores in all: small enough that every core has work
/// to the end, large enough that kernels run near the speed of a large product. Measured, see docs/architecture.md.
[[nodiscard]] Index automatic_tile_size(Index n, Index cores);

}  // namespace tesela
