#pragma once

#include "tesela/net/network.hpp"
#include "tesela/starpu/engine.hpp"

namespace tesela {

/// See measure_network of the nodes. Every node calls it, with nothing pending.
[[nodiscard]] NetworkTimes measure_network(StarpuEngine& engine, const NetworkOptions& options = {});

}  // namespace tesela
