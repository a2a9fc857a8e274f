#include "tesela/apps/geo/internal/part_of.hpp"

#include "tesela/base/random.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tesela::geo {
namespace {

/// The nearest point that has not been taken.
Index nearest(const PointSet& points, Index of, const std::vector<char>& taken) {
    Index best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < points.size(); ++j) {
        if (taken[static_cast<std::size_t>(j)] != 0) continue;
        if (const double d = distance(points, of, points, j); d < least) {
            least = d;
            best = j;
        }
    }
    return best;
}

/// 0, …, n−1 in an order that depends on nothing but n.
std::vector<Index> shuffled(Index n) {
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    const Random random(1);
    std::vector<double> keys(order.size());
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = random.uniform({.i = k});
    std::ranges::stable_sort(order, {}, [&](Index k) { return keys[static_cast<std::size_t>(k)]; });
    return order;
}

}  // namespace

Observations part_of(const Observations& observations, const PointSet& points, Index count) {
    std::vector<char> taken(static_cast<std::size_t>(points.size()), 0);
    Index left = std::min(count, points.size());
    const auto take = [&](Index k) {
        taken[static_cast<std::size_t>(k)] = 1;
        --left;
    };
    for (const Index k : shuffled(points.size())) {
        if (left == 0) break;
        if (taken[static_cast<std::size_t>(k)] != 0) continue;
        take(k);
        if (left == 0) break;
        if (const Index neighbour = nearest(points, k, taken); neighbour >= 0) take(neighbour);
    }
    Observations part = observations;
    const auto keep = [&](auto& list) {
        if (list.size() != taken.size()) return;
        std::size_t to = 0;
        for (std::size_t from = 0; from < taken.size(); ++from)
            if (taken[from] != 0) list[to++] = list[from];
        list.resize(to);
    };
    for (auto& column : part.coordinates) keep(column);
    keep(part.values);
    keep(part.lines);
    return part;
}

}  // namespace tesela::geo
