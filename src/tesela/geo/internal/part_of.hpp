#pragma once

#include "tesela/geo/internal/objective.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tesela::geo {

/// The observations with these numbers, in this order, with all that is known of each: whatever takes some of the
/// observations, or all in another order, takes them so.
[[nodiscard]] Observations taken(const Observations& observations, const std::vector<Index>& numbers);

/// 0, …, n−1 in an order that depends on n and the seed alone.
[[nodiscard]] std::vector<Index> shuffled(Index n, std::uint64_t seed);

/// So many of the observations, with their neighbours: half are drawn at random, and with each comes the one nearest to
/// it, so that short distances, which tell the smoothness and the nugget apart, are as short as in the whole.
[[nodiscard]] Observations part_of(const Observations& observations, const PointSet& points, Index count);

/// The likelihood of a part of the observations, for a search that asks many times.
struct Part {
    Part(const Likelihood& whole, Index count)
        : likelihood(std::make_unique<Likelihood>(
              whole.stream(), part_of(whole.observations(), whole.points(), count), whole.model(),
              LikelihoodOptions{.tile = std::min(whole.options().tile, ceil_div(count, tile_rows)),
                                .overlap = whole.options().overlap,
                                .generator = whole.options().generator,
                                .dependent_columns = DependentColumns::leave_out})) {}

    std::unique_ptr<Likelihood> likelihood;
    std::optional<Objective> objective;

private:
    /// Not by the number of workers: where a fit goes on from a checkpoint they may be others.
    static constexpr Index tile_rows = 7;
};

}  // namespace tesela::geo
