#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/flow/recording.hpp"
#include "tesela/sim/simulated_engine.hpp"

#include <map>
#include <string>

namespace tesela {

/// Simulates a recorded stream on a platform, with other owners for the matrices named (all of that name), without the
/// algorithm that submitted it. It comes to what a SimulatedEngine comes to that is submitted the same stream with
/// those distributions, bit for bit, where the algorithm submits the same whoever owns what: tasks go where the first
/// tile is that they write, and shares to the owners of what they name. What the algorithm has worked out from owners
/// itself stays as it was recorded: nodes that it named for tasks and shares, the targets of moves; so does what it
/// left out on one node (shares).
///
/// Throws Error for a matrix that was not recorded, a distribution that does not fit, a node that the platform does not
/// have; where `distributions` are given, also for a stream with `reduce` accesses, whose partial sums depend on who
/// owns what; and all that SimulatedEngine throws.
[[nodiscard]] SimulationResult simulate_recording(const Recording& recording, const Platform& platform,
                                                  const SimulationOptions& options = {},
                                                  const std::map<std::string, Distribution>& distributions = {});

}  // namespace tesela
