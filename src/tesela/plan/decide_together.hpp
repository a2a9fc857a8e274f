#pragma once

#include "tesela/flow/engine.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>

namespace tesela::plan {

/// The first node of an engine decides, and all get what it came to; what it throws, all throw as Error. Every node
/// calls it.
[[nodiscard]] nlohmann::json decide_together(Engine& engine, const std::function<nlohmann::json()>& decide);

}  // namespace tesela::plan
