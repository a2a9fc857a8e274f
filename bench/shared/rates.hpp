#pragma once

#include "tesela/distribution/redistribution.hpp"
#include "tesela/starpu/network.hpp"

namespace tesela::bench {

/// What the cost model of paper 002 §7 needs to know of the machine.
struct MachineRates {
    double memory = 0;       ///< bytes/s copied by all workers of a node
    NetworkTimes network{};  ///< between nodes 0 and 1; empty on one node

    /// For messages of any size: the bandwidth of the largest. On one node nothing travels.
    [[nodiscard]] CopyRates copy() const;
    /// The same with the network bandwidth of messages of this size, linear between the measured ones.
    [[nodiscard]] CopyRates copy_at(Index message_bytes) const;
};

/// The best of so many rounds. Every node calls it, with nothing pending; all get the same.
[[nodiscard]] MachineRates measure_rates(StarpuEngine& engine, int rounds = 1);

}  // namespace tesela::bench
