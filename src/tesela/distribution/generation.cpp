#include "tesela/distribution/generation.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/heterogeneous.hpp"
#include "tesela/distribution/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace tesela {
namespace {

/// What a node has too much (or lacks) at first, and what it has given (or received) so far.
struct Balance {
    Index before = 0;   ///< tiles of the node
    Index surplus = 0;  ///< before - target
    Index seen = 0;     ///< its tiles passed so far
    Index settled = 0;  ///< tiles given or received
};

std::vector<Balance> balances(const Distribution& computation, const std::vector<Index>& counts, Stored stored) {
    const auto before = tile_counts(computation, stored);
    if (counts.size() != before.size()) throw Error("{} tile counts do not fit {} nodes", counts.size(), before.size());
    for (const Index count : counts)
        if (count < 0) throw Error("a node cannot have {} tiles", count);
    const Index tiles = std::accumulate(before.begin(), before.end(), Index{0});
    const Index wanted = std::accumulate(counts.begin(), counts.end(), Index{0});
    if (tiles != wanted) throw Error("the tile counts add up to {}; there are {} tiles", wanted, tiles);
    std::vector<Balance> result(before.size());
    for (std::size_t p = 0; p < before.size(); ++p) result[p] = {.before = before[p], .surplus = before[p] - counts[p]};
    return result;
}

/// Who gets a tile: the node that lacks most, or the one that is furthest behind its share of the tiles passed so far.
enum class Receiver : std::uint8_t { lacks_most, furthest_behind };

/// When a node with tiles too many gives one: at an even rate along its own tiles (algorithm 2), at the same rate half
/// a period earlier, or from its first tiles on without care for the order, which none of the others may be worse than.
enum class Taking : std::uint8_t { even, centred, first };

bool is_due(const Balance& giver, Taking taking) {
    switch (taking) {
        case Taking::even: return giver.seen * giver.surplus >= (giver.settled + 1) * giver.before;
        case Taking::centred: return 2 * giver.seen * giver.surplus >= (2 * giver.settled + 1) * giver.before;
        case Taking::first: return giver.settled < giver.surplus;
    }
    return false;
}

bool lacks(const Balance& node) { return node.surplus < 0 && node.settled < -node.surplus; }

/// Tiles so far: of a matrix and of those passed.
struct Passed {
    Index all = 0;
    Index so_far = 0;
};

/// Among the nodes that still lack tiles.
std::size_t neediest(const std::vector<Balance>& nodes, const Passed& tiles, Receiver receiver) {
    std::size_t best = nodes.size();
    Index most = 0;
    for (std::size_t p = 0; p < nodes.size(); ++p) {
        const auto& node = nodes[p];
        if (!lacks(node)) continue;
        const Index behind = receiver == Receiver::lacks_most
                                 ? -node.surplus - node.settled
                                 : tiles.so_far * (node.before - node.surplus) - tiles.all * (node.seen + node.settled);
        if (best < nodes.size() && behind <= most) continue;
        best = p;
        most = behind;
    }
    return best;
}

Distribution hand_over(const Distribution& computation, std::vector<Balance> nodes, Stored stored, Taking taking,
                       Receiver receiver) {
    Distribution result = computation;
    Passed tiles;
    for (const auto& node : nodes) tiles.all += node.before;
    const GridSize grid = computation.grid();
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) {
            if (!is_stored({i, j}, stored)) continue;
            ++tiles.so_far;
            auto& giver = nodes[static_cast<std::size_t>(computation.owner({i, j}).number())];
            ++giver.seen;
            if (giver.surplus <= 0 || !is_due(giver, taking)) continue;
            const std::size_t to = taking == Taking::first
                                       ? static_cast<std::size_t>(std::ranges::find_if(nodes, lacks) - nodes.begin())
                                       : neediest(nodes, tiles, receiver);
            result.set_owner({i, j}, NodeId{static_cast<Index>(to)});
            ++giver.settled;
            ++nodes[to].settled;
        }
    return result;
}

}  // namespace

Distribution generation_distribution(const Distribution& computation, const std::vector<Index>& counts, Stored stored,
                                     HandOver how) {
    const auto nodes = balances(computation, counts, stored);
    if (how == HandOver::paper) return hand_over(computation, nodes, stored, Taking::even, Receiver::lacks_most);
    Distribution best;
    double least = std::numeric_limits<double>::infinity();
    for (const auto taking : {Taking::even, Taking::centred, Taking::first}) {
        Distribution result = hand_over(computation, nodes, stored, taking, Receiver::furthest_behind);
        const double disorder = cyclic_disorder(result, stored);
        if (disorder >= least) continue;
        least = disorder;
        best = std::move(result);
    }
    return best;
}

Distribution one_d_one_d_triangle(Index n, const std::vector<double>& powers) {
    const double total = std::accumulate(powers.begin(), powers.end(), 0.0);
    const Distribution dealt = one_d_one_d({n, n}, powers);
    std::vector<double> shares;
    for (const double power : powers) shares.push_back(power / total);
    return generation_distribution(dealt, whole_parts(n * (n + 1) / 2, shares), Stored::lower, HandOver::steadiest);
}

double cyclic_disorder(const Distribution& distribution, Stored stored) {
    const auto counts = tile_counts(distribution, stored);
    const auto total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
    if (!(total > 0)) return 0;
    // Σ over nodes of (c - t·s)² changes by little from tile to tile: with S = Σ s², X = Σ c·s and C = Σ c² it is
    // C - 2tX + t²S.
    std::vector<double> so_far(counts.size()), share(counts.size());
    double shares_squared = 0;
    for (std::size_t p = 0; p < counts.size(); ++p) {
        share[p] = static_cast<double>(counts[p]) / total;
        shares_squared += share[p] * share[p];
    }
    double squares = 0, cross = 0, sum = 0, t = 0;
    const GridSize grid = distribution.grid();
    for (Index i = 0; i < grid.rows; ++i)
        for (Index j = 0; j < grid.cols; ++j) {
            if (!is_stored({i, j}, stored)) continue;
            const auto p = static_cast<std::size_t>(distribution.owner({i, j}).number());
            squares += 2 * so_far[p] + 1;
            cross += share[p];
            ++so_far[p];
            ++t;
            sum += squares - 2 * t * cross + t * t * shares_squared;
        }
    return std::sqrt(std::max(0.0, sum) / (total * static_cast<double>(counts.size())));
}

}  // namespace tesela
