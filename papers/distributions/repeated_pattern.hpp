#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <optional>
#include <string_view>

namespace tesela::bench {

/// The pattern whose repetition the family is (block_cyclic:rule and bce), or nothing. Its cells are paper 001's
/// virtual processors.
[[nodiscard]] std::optional<Distribution> repeated_pattern(std::string_view family, const TileMap& weights, Index nodes,
                                                           double alpha);

}  // namespace tesela::bench
