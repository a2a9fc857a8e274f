#pragma once

#include "tesela/starpu/engine.hpp"

#include <nlohmann/json.hpp>

namespace tesela::bench {

struct ShareOptions {
    Index tile = 960;
    int repetitions = 5;
    double most_sends = 5.5;  ///< the limit: seconds of a tile to all nodes, in seconds of one send
};

/// How long a tile takes to one other node, to all of them along a tree, and to one after the other. Needs two nodes.
[[nodiscard]] nlohmann::ordered_json share_benchmark(StarpuEngine& engine, const ShareOptions& options);

}  // namespace tesela::bench
