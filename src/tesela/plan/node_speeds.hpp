#pragma once

#include "tesela/kernels/kernel_use.hpp"
#include "tesela/platform/platform.hpp"

#include <string>
#include <vector>

namespace tesela::plan {

/// How a kernel did on a node, against what the platform counts on.
struct KernelSpeed {
    std::string kernel;
    double slowdown = 1;  ///< seconds that its calls took, over those that the platform says
    double share = 0;     ///< of the node's time
};

/// What the kernels of a node did between two looks at them, against its description; those that it has no duration
/// for, or that had too few calls to say anything, are left out. `tile` is the tile size of the run.
[[nodiscard]] std::vector<KernelSpeed> kernel_speeds(const NodeType& node, Index tile,
                                                     const std::vector<KernelUse>& before,
                                                     const std::vector<KernelUse>& after);

/// The kernels that are slowest and fastest against what was counted on, over all nodes, of those that matter on their
/// node.
struct SpeedExtremes {
    struct At {
        std::size_t node = 0;
        std::string kernel;
        double slowdown = 1;
    };
    At slowest{};
    At fastest{};

    /// How far apart they are: 1 where everything is slower or faster alike, since the best owners are then the same.
    [[nodiscard]] double ratio() const { return slowest.slowdown / fastest.slowdown; }
};
[[nodiscard]] SpeedExtremes speed_extremes(const std::vector<std::vector<KernelSpeed>>& nodes);

/// The node as it turned out: kernels take what they took; those that were not seen are slower as most others are.
/// Where they were faster than thought only half the way is believed, since a node that waited much may be faster for
/// that: its processor's quota or power is not used up.
[[nodiscard]] NodeType corrected(NodeType node, const std::vector<KernelSpeed>& speeds);

}  // namespace tesela::plan
