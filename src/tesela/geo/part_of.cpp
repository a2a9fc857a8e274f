#include "tesela/geo/internal/part_of.hpp"

#include "tesela/base/random.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <variant>

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

}  // namespace

Observations taken(const Observations& observations, const std::vector<Index>& numbers) {
    Observations result = observations;
    const auto take = [&](auto& list) {
        if (list.empty()) return;
        auto chosen = list;
        chosen.resize(numbers.size());
        for (std::size_t k = 0; k < numbers.size(); ++k) chosen[k] = list[static_cast<std::size_t>(numbers[k])];
        list = std::move(chosen);
    };
    for (auto& column : result.coordinates) take(column);
    take(result.values);
    take(result.lines);
    for (Covariate& covariate : result.covariates) std::visit(take, covariate.values);
    return result;
}

std::vector<Index> shuffled(Index n, std::uint64_t seed) {
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    const Random random(seed);
    std::vector<double> keys(order.size());
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = random.uniform({.i = k});
    std::ranges::stable_sort(order, {}, [&](Index k) { return keys[static_cast<std::size_t>(k)]; });
    return order;
}

Observations part_of(const Observations& observations, const PointSet& points, Index count) {
    std::vector<char> is_taken(static_cast<std::size_t>(points.size()), 0);
    Index left = std::min(count, points.size());
    const auto take = [&](Index k) {
        is_taken[static_cast<std::size_t>(k)] = 1;
        --left;
    };
    constexpr std::uint64_t seed = 1;
    for (const Index k : shuffled(points.size(), seed)) {
        if (left == 0) break;
        if (is_taken[static_cast<std::size_t>(k)] != 0) continue;
        take(k);
        if (left == 0) break;
        if (const Index neighbour = nearest(points, k, is_taken); neighbour >= 0) take(neighbour);
    }
    std::vector<Index> numbers;
    for (Index k = 0; k < points.size(); ++k)
        if (is_taken[static_cast<std::size_t>(k)] != 0) numbers.push_back(k);
    return taken(observations, numbers);
}

}  // namespace tesela::geo
