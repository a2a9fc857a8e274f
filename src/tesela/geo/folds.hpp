#pragma once

#include "tesela/geo/model.hpp"

#include <cstdint>
#include <vector>

namespace tesela::geo {

/// Which observations are held out together: the fold of each of them, from 0 to count − 1, none of them empty.
struct Folds {
    std::vector<Index> of;
    Index count = 0;

    [[nodiscard]] Index observations() const { return static_cast<Index>(of.size()); }
};

/// Every observation is a fold of its own.
[[nodiscard]] Folds leave_one_out(Index n);

/// Observations drawn into folds whose sizes differ by one at most: a function of n, count and seed alone. Throws Error
/// unless 2 <= count <= n.
[[nodiscard]] Folds random_folds(Index n, Index count, std::uint64_t seed);

/// The cells of a grid over the box of the observations, so many along each coordinate; those without observations are
/// no folds. What is held out so lies farther from the rest than random points do, as places to predict often do
/// (Roberts and others, Ecography 40 (2017) 913). Throws Error unless there is a number for every coordinate, and
/// observations in two cells.
[[nodiscard]] Folds block_folds(const Observations& observations, Metric metric, const std::vector<Index>& cells);

/// The observations fold after fold, those of a fold in the order that they have.
struct FoldOrder {
    std::vector<Index> order;   ///< position k has observation order[k]
    std::vector<Index> begins;  ///< the first position of each fold, and the number of observations
};
[[nodiscard]] FoldOrder by_folds(const Folds& folds);

}  // namespace tesela::geo
