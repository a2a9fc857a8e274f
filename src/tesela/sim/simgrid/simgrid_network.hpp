#pragma once

#include "tesela/sim/timeline.hpp"

namespace tesela {

/// The platform's network in SimGrid. Messages wait at their source as in the port model; those under way share links
/// as SimGrid says. SimGrid allows one simulation in a process: a second timeline in it throws Error, so callers that
/// need several use a process for each. Throws Error where Tesela was built without SimGrid.
[[nodiscard]] std::unique_ptr<Timeline> simgrid_network(const Platform& platform);

/// Whether Tesela was built with it.
[[nodiscard]] bool has_simgrid();

}  // namespace tesela
