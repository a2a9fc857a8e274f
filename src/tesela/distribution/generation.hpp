#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// Who gets a tile that a node has too many, and when.
enum class HandOver : std::uint8_t {
    /// As in the paper: at an even rate along the giver's tiles, to the node that lacks most at that moment.
    paper,
    /// Ours: to the node that is furthest behind its share of the tiles so far. Where the computation distribution is
    /// itself unsteady, another moment to give (half a period earlier, or at once) can leave a steadier result; of
    /// the three the one with the least cyclic_disorder is returned.
    steadiest
};

/// Algorithm 2 of paper 000: the distribution of a phase (generation) made from that of the phase after it
/// (factorization) such that every node has exactly `counts` stored tiles, as few tiles as possible change their owner
/// (Σ max(0, before - counts)), and they are taken at an even rate along the rows, so that the order in which owners
/// follow each other is kept. Throws Error unless there is a count for every node and they add up to the tiles.
///
/// It departs from the text of the paper where that cannot be meant: the ratio is blocks before / surplus (nb is
/// printed), stored tiles alone are looked at, and it ends when no node lacks any. In integers, since accumulated
/// ratios lose tiles: a node with d tiles too many of b gives its c-th tile when c·d ≥ (given + 1)·b.
[[nodiscard]] Distribution generation_distribution(const Distribution& computation, const std::vector<Index>& counts,
                                                   Stored stored = Stored::full, HandOver how = HandOver::paper);

/// `1d1d_triangle`, ours, for a symmetric matrix of n x n tiles: one_d_one_d, and then the fewest of the lower tiles
/// that can change hands (steadiest) so that each node has its share of them to a tile. Rows and columns dealt in
/// proportion leave slow nodes up to a quarter off their share of a triangle.
[[nodiscard]] Distribution one_d_one_d_triangle(Index n, const std::vector<double>& powers);

/// How far a distribution is from handing out tiles in a steady order: the root mean square, over nodes and over the
/// stored tiles row by row, of (tiles the node had so far) - (its share of the tiles so far). 0 would be a steady flow.
[[nodiscard]] double cyclic_disorder(const Distribution& distribution, Stored stored = Stored::full);

}  // namespace tesela
