#include "shared/scalapack.hpp"

#include <algorithm>

namespace tesela::bench {

GridSize squarest_grid(Index nodes) {
    Index rows = 1;
    for (Index r = 1; r * r <= nodes; ++r)
        if (nodes % r == 0) rows = r;
    return {rows, nodes / rows};
}

ScalapackMatrix::ScalapackMatrix(const BlacsGrid& grid, NodeId me, ElementIndex size, ElementIndex block) {
    const auto number = [](Index n) { return static_cast<int>(n); };
    layout.grid = grid.size();
    layout.descriptor = {1, grid.context(), number(size.i), number(size.j), number(block.i), number(block.j), 0, 0, 1};
    const ElementIndex mine = layout.local_size(me);
    layout.descriptor[8] = number(std::max<Index>(1, mine.i));
    local.assign(static_cast<std::size_t>(std::max<Index>(1, mine.i * mine.j)), 0.0);
    // ScaLAPACK recognises processes outside the grid by their context.
    if (!grid.has_this_node()) layout.descriptor[1] = -1;
}

}  // namespace tesela::bench
