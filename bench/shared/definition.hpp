#pragma once

#include "tesela/base/trapezoid.hpp"
#include "tesela/kernels/tile.hpp"

#include <optional>

namespace tesela::bench {

/// A redistribution as a user describes it: which elements of the source become which of the target. It knows no
/// tiles, so that what is checked by it owes nothing to how segments are computed.
struct RedistributionDefinition {
    /// Of the submatrix, as it stands in the view of the source that `op` makes.
    ElementIndex size, from_offset, to_offset;
    Part part = Part::all;  ///< of the source matrix: its lower triangle is i >= j there
    Op op = Op::none;

    /// The element of the source matrix that becomes this one of the target; nothing if the target keeps its own.
    [[nodiscard]] std::optional<ElementIndex> source_of(ElementIndex target) const {
        const ElementIndex sub{target.i - to_offset.i, target.j - to_offset.j};
        if (sub.i < 0 || sub.j < 0 || sub.i >= size.i || sub.j >= size.j) return {};
        const ElementIndex viewed{from_offset.i + sub.i, from_offset.j + sub.j};
        const ElementIndex source = op == Op::none ? viewed : ElementIndex{viewed.j, viewed.i};
        if (part == Part::lower && source.i < source.j) return {};
        if (part == Part::upper && source.i > source.j) return {};
        return source;
    }
};

}  // namespace tesela::bench
