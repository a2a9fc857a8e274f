#include "tesela/plan/tile_choice.hpp"

#include "tesela/base/clock.hpp"
#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

namespace tesela::plan {
namespace {

/// Smaller tiles than one that is so many times as slow as the best are not tried: overheads only grow.
constexpr double clearly_worse = 1.1;

double shortest(const Planned& planned) {
    return std::ranges::min(planned.strategies, {}, [](const Strategy& s) { return s.simulated.makespan; })
        .simulated.makespan;
}

}  // namespace

std::vector<Index> usual_tiles(Index rows) {
    constexpr Index fewest = 4;
    constexpr Index most = 200;  // 1.4 million tasks of Cholesky
    constexpr std::array<Index, 10> sizes{120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560};
    std::vector<Index> tiles;
    for (const Index tile : sizes)
        if (rows / tile >= fewest && rows / tile <= most) tiles.push_back(tile);
    if (tiles.empty()) tiles.push_back(rows > sizes.back() ? sizes.back() : std::max<Index>(1, rows / fewest));
    return tiles;
}

TileChoice choose_tile(const std::function<Application(Index tile)>& application, std::vector<Index> tiles,
                       const Platform& platform, const PlanOptions& options) {
    if (tiles.empty()) throw Error("there is no tile size to choose from");
    std::ranges::sort(tiles, std::greater<>{});
    const auto start = Clock::now();
    PlanOptions quick = options;
    quick.budget_seconds = 0;  // the strategies with names alone
    TileChoice choice;
    double best = 0;
    for (const Index tile : tiles) {
        const double makespan = shortest(make_plan(application(tile), platform, quick));
        choice.tried.push_back({tile, makespan});
        if (choice.tile == 0 || makespan < best) {
            choice.tile = tile;
            best = makespan;
        }
        const double spent = seconds_since(start);
        if (makespan > clearly_worse * best && tile < choice.tile) break;
        if (spent > options.budget_seconds) break;
    }
    return choice;
}

}  // namespace tesela::plan
