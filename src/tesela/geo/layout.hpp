#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/tiling.hpp"
#include "tesela/flow/engine.hpp"

#include <optional>

namespace tesela::geo {

/// How a covariance matrix of n points is cut and who owns its tiles.
struct Layout {
    Index tile = 0;
    Tiling tiling;
    Distribution owners;
};

/// A tile size of 0 and no distribution mean those that suit the engine.
[[nodiscard]] Layout layout_for(const Engine& engine, Index n, Index tile, const std::optional<Distribution>& owners);

}  // namespace tesela::geo
