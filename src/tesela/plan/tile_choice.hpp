#pragma once

#include "tesela/base/clock.hpp"
#include "tesela/plan/planner.hpp"

#include <functional>
#include <vector>

namespace tesela::plan {

/// A tile size and the shortest of the paper's strategies with it, simulated.
struct TriedTile {
    Index tile = 0;
    double makespan = 0;
};

/// The best tile size, and what it was chosen from, in the order in which they were tried.
struct TileChoice {
    Index tile = 0;
    std::vector<TriedTile> tried;
    std::vector<Strategy> strategies{};  ///< the paper's with that tile, for PlanOptions::known
    double seconds = 0;                  ///< spent
};

/// Sizes that are worth a try for a matrix of so many rows: enough tiles for many nodes, and few enough tasks.
[[nodiscard]] std::vector<Index> usual_tiles(Index rows);

/// Seconds of the clock.
[[nodiscard]] inline double seconds_now() { return seconds_since(Clock::time_point{}); }

/// Of the budget, that tile sizes may take; the rest is for owners.
constexpr double share_for_tiles = 0.4;

/// Simulates the paper's strategies of an application for each tile size, the largest first, since they are simulated
/// soonest, until a smaller size is clearly worse than the best or would not be done within share_for_tiles of the
/// budget, as far as the time of those before tells; at least one is tried. Sizes that cannot be planned for, as where
/// memory has no room for tiles so large, are passed over. `now`, in seconds, is for tests. Throws Error where there is
/// no size, or none can be planned for.
[[nodiscard]] TileChoice choose_tile(const std::function<Application(Index tile)>& application,
                                     std::vector<Index> tiles, const Platform& platform, const PlanOptions& options,
                                     const std::function<double()>& now = seconds_now);

}  // namespace tesela::plan
