#pragma once

#include "tesela/calibration/calibrate.hpp"
#include "tesela/platform/platform.hpp"
#include "tesela/starpu/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::calibration {

/// What this node has measured of itself.
struct NodeMeasurement {
    std::vector<KernelSample> samples;
    double copy_bandwidth = 0;
};

/// The types of the nodes at hand, with their memory and the durations of kernels on their cores.
struct MeasuredNodes {
    NodeTypes nodes;
    std::string description;  ///< of the first node: its workers and its BLAS
    NodeMeasurement here;
};

/// Times kernels (those of `timing`, on as many workers as the engine has) and copies in memory, but neither network
/// nor runtime system: for durations that are merged into a platform. Every node calls it, with nothing pending; all
/// get the same types.
[[nodiscard]] MeasuredNodes measure_nodes(StarpuEngine& engine, const CalibrationOptions& timing, Load load);

/// The nodes at hand, described from what they measured of themselves and of the network between them.
struct MeasuredPlatform {
    Platform platform;
    std::vector<std::size_t> type_of;  ///< position of each node's type in the platform, whose nodes are in this order
    NodeMeasurement here;
    std::optional<NetworkTimes> network{};  ///< that of the first type of node; none where there is one node
};

/// Likewise, with the network between the nodes and what the runtime system takes: the same platform on all nodes. It
/// has the first node's host name unless one is given.
[[nodiscard]] MeasuredPlatform measure_platform(StarpuEngine& engine, const CalibrationOptions& timing, Load load,
                                                const std::string& name = {});

}  // namespace tesela::calibration
