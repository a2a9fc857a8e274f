#pragma once

#include "tesela/base/index.hpp"

#include <cstddef>

namespace tesela::geo {

/// An index of ours as one of a container.
[[nodiscard]] constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace tesela::geo
