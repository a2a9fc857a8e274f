#pragma once

#include "tesela/distribution/distribution.hpp"
#include "tesela/distribution/tiling.hpp"

#include <array>
#include <cstdint>

namespace tesela {

/// How the processes of a BLACS grid are numbered: process (p, q) is node p·cols + q, or p + q·rows.
enum class GridOrder : std::uint8_t { row_major, column_major };

/// A matrix as ScaLAPACK lays it out: the array descriptor (DTYPE, CTXT, M, N, MB, NB, RSRC, CSRC, LLD) and the process
/// grid behind its context. The context itself is not used.
struct ScalapackLayout {
    std::array<int, 9> descriptor{};
    GridSize grid{};
    GridOrder order = GridOrder::row_major;

    [[nodiscard]] ElementIndex size() const { return {descriptor[2], descriptor[3]}; }
    [[nodiscard]] ElementIndex block() const { return {descriptor[4], descriptor[5]}; }
    [[nodiscard]] TileIndex first_process() const { return {descriptor[6], descriptor[7]}; }
    [[nodiscard]] Index ld() const { return descriptor[8]; }

    /// Row and column of a node in the process grid; outside it for nodes that take no part.
    [[nodiscard]] TileIndex process(NodeId node) const;
    /// Rows and columns of a node's local array (ScaLAPACK's NUMROC).
    [[nodiscard]] ElementIndex local_size(NodeId node) const;
    /// Where a block begins in the local array of its owner, in elements.
    [[nodiscard]] Index local_position(TileIndex block_index) const;
    [[nodiscard]] Tiling tiling() const;
    [[nodiscard]] Distribution distribution() const;
};

/// Throws Error saying which entry of the descriptor is wrong, and why.
void check_layout(const ScalapackLayout& layout, NodeId me);

}  // namespace tesela
