#pragma once

namespace tesela {

/// Bytes that went between the main memory of a node and the memories of its GPUs.
struct GpuTraffic {
    double to_gpus = 0;
    double to_host = 0;  ///< for cores, for messages, and what was written back for want of room
    double evicted = 0;  ///< of tiles that lost their room on a GPU to others
    friend bool operator==(const GpuTraffic&, const GpuTraffic&) = default;
};

}  // namespace tesela
