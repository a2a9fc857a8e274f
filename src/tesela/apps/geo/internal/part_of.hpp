#pragma once

#include "tesela/apps/geo/internal/objective.hpp"

#include <memory>
#include <optional>

namespace tesela::geo {

/// So many of the observations, with their neighbours: half are drawn at random, and with each comes the one nearest to
/// it, so that short distances, which tell the smoothness and the nugget apart, are as short as in the whole.
[[nodiscard]] Observations part_of(const Observations& observations, const PointSet& points, Index count);

/// The likelihood of a part of the observations, for a search that asks many times.
struct Part {
    Part(const Likelihood& whole, Index count)
        : likelihood(std::make_unique<Likelihood>(
              whole.stream(), part_of(whole.observations(), whole.points(), count), whole.model(),
              LikelihoodOptions{.overlap = whole.options().overlap, .generator = whole.options().generator})) {}

    std::unique_ptr<Likelihood> likelihood;
    std::optional<Objective> objective;
};

}  // namespace tesela::geo
