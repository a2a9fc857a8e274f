#pragma once

#include "tesela/kernels/tile.hpp"

namespace tesela {

/// All elements of a tile, column by column without gaps, however it is stored.
void copy_values(const Tile& tile, ElementType type, void* out) noexcept;

}  // namespace tesela
