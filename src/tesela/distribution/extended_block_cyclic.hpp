#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <optional>
#include <vector>

namespace tesela {

/// ⌈α√P⌉: the most nodes that paper 001 lets take part in one tile row or column. Throws Error unless α ≥ 1 and P ≥ 1.
[[nodiscard]] Index line_limit(Index nodes, double alpha);

/// A pattern laid cyclically over a grid: tile (i, j) has the owner of pattern tile (i mod rows, j mod columns).
[[nodiscard]] Distribution repeat(const Distribution& pattern, GridSize tiles);

/// Paper 001's block-cyclic (section 4.1): the largest c with c(c-1) ≤ P, a grid of (c-1) x c nodes; those beyond
/// c(c-1) get nothing. One node is a grid of 1x1.
[[nodiscard]] Distribution rule_block_cyclic(GridSize tiles, Index nodes);

/// What section 4.2 of paper 001 takes.
struct ExtendedBlockCyclic {
    Index nodes = 1;
    double alpha = 1;
    std::optional<GridSize> pattern{};  ///< only this one, instead of every r x c with r, c ≤ ⌈α√P⌉
    std::vector<double> powers{};       ///< of the nodes; none: equal, as in the paper
    std::optional<Index> used{};        ///< only the first so many get tiles, as 33 of 34 in the paper's figure 8
};

/// Weight that falls on each cell of an r x c pattern, row by row: the load of the virtual processors (W̄ of 001).
[[nodiscard]] std::vector<double> pattern_loads(const TileMap& weights, GridSize pattern);
/// The pattern of `bce`: cells packed into nodes by largest processing time (algorithm 1; on unequal nodes, each to the
/// node that would be done with it first), and of all patterns tried the one with the least maximum of load / power.
[[nodiscard]] Distribution extended_pattern(const TileMap& weights, const ExtendedBlockCyclic& options);
/// `bce`: that pattern repeated over the grid of the weights. At most ⌈α√P⌉ nodes per row and column.
[[nodiscard]] Distribution extended_block_cyclic(const TileMap& weights, const ExtendedBlockCyclic& options);

}  // namespace tesela
