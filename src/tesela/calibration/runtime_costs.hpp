#pragma once

#include "tesela/platform/platform.hpp"
#include "tesela/starpu/engine.hpp"
#include "tesela/starpu/network.hpp"

#include <optional>

namespace tesela::calibration {

/// Measures what the runtime system takes of this node beside the kernels: the time to submit a task while the workers
/// rest, what a worker needs for one, how soon after one of them the next starts where all workers take them, and what
/// a message takes from workers that are busy. For the latter all workers multiply tiles while every node sends tiles
/// to the next one, and then while none does. Every node calls it, with nothing pending; `network` is what is known of
/// the network between them. On a single node messages cost nothing.
[[nodiscard]] RuntimeCosts measure_runtime_costs(StarpuEngine& engine, const std::optional<NetworkTimes>& network);

}  // namespace tesela::calibration
