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

/// The nodes at hand, described from what they measured of themselves and of the network between them.
struct MeasuredPlatform {
    Platform platform;
    std::vector<std::size_t> type_of;  ///< position of each node's type in the platform, whose nodes are in this order
    NodeMeasurement here;
    std::optional<NetworkTimes> network{};  ///< that of the first type of node; none where there is one node
};

/// Times kernels (those of `timing`, on as many workers as the engine has), memory and the network. Every node calls
/// it, with nothing pending; all get the same platform. It has the first node's host name unless one is given.
[[nodiscard]] MeasuredPlatform measure_platform(StarpuEngine& engine, const CalibrationOptions& timing, Load load,
                                                const std::string& name = {});

}  // namespace tesela::calibration
