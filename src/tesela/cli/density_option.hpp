#pragma once

#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <string>

namespace tesela::cli {

/// What `--density` takes, for n x n tiles: dense, or synthetic:DELTA (paper 001's generator). Throws Error otherwise.
[[nodiscard]] TileMap parse_density(const std::string& text, Index tiles, std::uint64_t seed);

}  // namespace tesela::cli
