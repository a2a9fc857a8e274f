#pragma once

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
};

/// Sizes that are worth a try for a matrix of so many rows: enough tiles for many nodes, and few enough tasks.
[[nodiscard]] std::vector<Index> usual_tiles(Index rows);

/// Simulates the paper's strategies of an application for each tile size, the largest first, since they are simulated
/// soonest, until a smaller size is clearly worse than the best or the budget is spent; at least one is tried. Throws
/// Error where there is no size, or one cannot be planned for.
[[nodiscard]] TileChoice choose_tile(const std::function<Application(Index tile)>& application,
                                     std::vector<Index> tiles, const Platform& platform, const PlanOptions& options);

}  // namespace tesela::plan
