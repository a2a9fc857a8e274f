#pragma once

#include "tesela/net/network.hpp"
#include "tesela/starpu/engine.hpp"

#include <string>
#include <vector>

namespace tesela {

/// See measure_network of the nodes. Every node calls it, with nothing pending.
[[nodiscard]] NetworkTimes measure_network(StarpuEngine& engine, const NetworkOptions& options = {});

/// The text that each node brings, by node, on every node. Every node calls it, with nothing pending.
[[nodiscard]] std::vector<std::string> gather_texts(StarpuEngine& engine, const std::string& text);

}  // namespace tesela
