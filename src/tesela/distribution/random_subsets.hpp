#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// What section 4.3 of paper 001 takes.
struct RandomSubsets {
    Index nodes = 1;
    double alpha = 1;
    std::uint64_t seed = 0;
    Index occurrences = 10;        ///< β of equation (5): how often a node is in the row (column) subsets, on average
    Index families = 10;           ///< pairs of row and column families tried; the best is kept
    std::vector<double> powers{};  ///< of the nodes; none: equal, as in the paper
};

/// `rs`: every tile row and column keeps to one of Q = ⌈βP/n⌉ subsets of n = ⌈α√P⌉ nodes, such that each row subset
/// meets each column subset; within that, tiles go in decreasing order of weight to the least loaded node (algorithm
/// 2).
///
/// Subsets are sampled (algorithm 3) where that takes a reasonable number of attempts. Near α = 1 it does not (the
/// chance that a sampled column subset meets all row subsets is 5e-14 at P = 90): there the nodes fall into n random
/// classes of at most n, the subsets of one side are the classes and those of the other take one node of every class,
/// so that any two meet by construction.
///
/// On unequal nodes a tile goes to the node that would be done with it first, and strong nodes are in more subsets: a
/// node that is in a share f of the rows' and of the columns' subsets can own f² of the tiles, so nodes are drawn in
/// proportion to the square root of their power.
[[nodiscard]] Distribution random_subsets(const TileMap& weights, const RandomSubsets& options);

}  // namespace tesela
