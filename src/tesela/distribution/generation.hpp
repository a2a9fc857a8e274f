#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <vector>

namespace tesela {

/// Algorithm 2 of paper 000: the distribution of a phase (generation) made from that of the phase after it
/// (factorization) such that every node has exactly `counts` stored tiles, as few tiles as possible change their owner
/// (Σ max(0, before - counts)), and they are taken at an even rate along the rows, so that the order in which owners
/// follow each other is kept. Throws Error unless there is a count for every node and they add up to the tiles.
///
/// In integers, since accumulated ratios lose tiles: a node with d tiles too many of b gives its c-th tile when
/// c·d ≥ (given + 1)·b. It goes to the node that is furthest behind its share of the tiles so far. Where the
/// computation distribution is itself unsteady, another moment to give (half a period earlier, or at once) can leave a
/// steadier result; the one with the least cyclic_disorder is returned.
[[nodiscard]] Distribution generation_distribution(const Distribution& computation, const std::vector<Index>& counts,
                                                   Stored stored = Stored::full);

/// How far a distribution is from handing out tiles in a steady order: the root mean square, over nodes and over the
/// stored tiles row by row, of (tiles the node had so far) - (its share of the tiles so far). 0 would be a steady flow.
[[nodiscard]] double cyclic_disorder(const Distribution& distribution, Stored stored = Stored::full);

}  // namespace tesela
