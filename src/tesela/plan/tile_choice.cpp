#include "tesela/plan/tile_choice.hpp"

#include "tesela/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace tesela::plan {
namespace {

/// Smaller tiles than one that is so many times as slow as the best are not tried: overheads only grow.
constexpr double clearly_worse = 1.1;

/// A stream of n x n tiles has as many as n³ tasks: so long for a smaller tile than one that took so long, at most.
double expected_seconds(double seconds, Index tile, Index smaller) {
    return seconds * std::pow(static_cast<double>(tile) / static_cast<double>(smaller), 3);
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
                       const Platform& platform, const PlanOptions& options, const std::function<double()>& now) {
    if (tiles.empty()) throw Error("there is no tile size to choose from");
    std::ranges::sort(tiles, std::greater<>{});
    PlanOptions quick = options;
    quick.budget_seconds = 0;  // the strategies with names alone
    TileChoice choice;
    std::exception_ptr failure;  // of the smallest size that cannot be planned for, as where memory is short
    const double start = now();
    double best = 0;
    double last = 0;
    for (const Index tile : tiles) {
        if (!choice.tried.empty() && choice.seconds + expected_seconds(last, choice.tried.back().tile, tile) >
                                         share_for_tiles * options.budget_seconds)
            break;
        std::optional<Planned> planned;
        try {
            planned = make_plan(application(tile), platform, quick);
        } catch (const Error&) {
            failure = std::current_exception();
        }
        last = now() - start - choice.seconds;
        choice.seconds += last;
        if (!planned) continue;
        const double makespan = planned->chosen().simulated.makespan;
        choice.tried.push_back({tile, makespan});
        if (choice.tile == 0 || makespan < best) {
            choice.tile = tile;
            choice.strategies = std::move(planned->strategies);
            best = makespan;
        }
        if (makespan > clearly_worse * best && tile < choice.tile) break;
    }
    if (choice.tried.empty()) std::rethrow_exception(failure);
    return choice;
}

}  // namespace tesela::plan
