#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/weights.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// Deals `count` lines to nodes in proportion to their powers, from the last line to the first, so that every trailing
/// part of the lines is shared as evenly as can be: each line goes to the node that would finish it first. Throws
/// Error unless some power is positive and none negative.
[[nodiscard]] std::vector<Index> deal_lines(Index count, const std::vector<double>& powers);

/// `1d`: whole tile rows, dealt in proportion to the powers.
[[nodiscard]] Distribution one_dimensional(GridSize tiles, const std::vector<double>& powers);

/// A rectangle of the unit square, for one node.
struct Rectangle {
    Index node = 0;
    double width = 0;
    double height = 0;
};

/// The unit square in columns of rectangles, one rectangle for each node with an area equal to its share of the power.
struct ColumnPartition {
    std::vector<std::vector<Rectangle>> columns;
    [[nodiscard]] double half_perimeters() const;
};

/// Whole parts of `count` in proportion to shares that sum to 1, each within one of its exact part: the parts with the
/// largest remainders are rounded up.
[[nodiscard]] std::vector<Index> whole_parts(Index count, const std::vector<double>& shares);

/// Of all partitions into columns, one with the least sum of half-perimeters (Beaumont, Boudet, Rastello, Robert 2001);
/// it is within 1.75 of the bound 2·Σ√area. Nodes without power get nothing.
[[nodiscard]] ColumnPartition column_partition(const std::vector<double>& powers);

/// Whether the rectangles of a partition are left as blocks (figure 3 of paper 000, left) or their rows and columns
/// are dealt over the whole matrix (right).
enum class Shuffle : std::uint8_t { none, cyclic };

/// `1d1d`: the column partition rounded to whole tiles, then shuffled so that every trailing part of the matrix is
/// shared in proportion to the powers too. A node's tiles differ from its share of the area by at most one row and one
/// column of its rectangle.
[[nodiscard]] Distribution one_d_one_d(GridSize tiles, const std::vector<double>& powers,
                                       Shuffle shuffle = Shuffle::cyclic);

/// When a tile row may be given to a node, paper 000 section 4.4: if what is expected of the whole run lasts longer
/// than the chain of tasks on that row, or if no node has a chain shorter by more than the tolerance.
struct RowConstraint {
    std::vector<double> chain_seconds;  ///< of the tasks on one row that wait for each other, for each node
    std::vector<double> ready_seconds;  ///< when each row has been read; none: at once
    double expected_seconds = 0;        ///< all the work over all the resources
    double tolerance_seconds = 0;       ///< the paper takes two milliseconds per tile row
    friend bool operator==(const RowConstraint&, const RowConstraint&) = default;
};

/// `1d` constrained at the end: rows are dealt from the last, each among the nodes that RowConstraint lets have it.
[[nodiscard]] Distribution constrained_one_dimensional(GridSize tiles, const std::vector<double>& powers,
                                                       const RowConstraint& constraint);

/// What decides which nodes take part in the last steps of a factorization.
struct StepConstraint {
    std::vector<double> step_seconds;  ///< critical path of one step on each node: factor, solve and update in turn
    std::vector<double> powers;        ///< updates per second of each node
};

/// The number of last steps in which each node takes no part: the longest run of m trailing tile rows, the last m
/// steps, whose area bound (the updates of a step over all the power) is below the node's critical path. The nodes with
/// the shortest critical path take part in all.
[[nodiscard]] std::vector<Index> idle_last_steps(Index n, const StepConstraint& constraint);

/// `1d1d` constrained at the end (Cholesky): a node owns no tile of the steps that idle_last_steps excludes it from,
/// and makes up for it in the steps before, as far as there is work: shares are of the given weights.
[[nodiscard]] Distribution constrained_one_d_one_d(const TileMap& weights, const StepConstraint& constraint);

}  // namespace tesela
