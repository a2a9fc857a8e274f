#include "tesela/distribution/band.hpp"

#include "tesela/base/error.hpp"
#include "tesela/distribution/families.hpp"

#include <algorithm>

namespace tesela {

Distribution band(Index width, const Distribution& inner, const Distribution& outer) {
    const GridSize grid = outer.grid();
    if (inner.grid() != grid || inner.nodes() != outer.nodes())
        throw Error("a band joins two distributions of one grid; these have {}x{} tiles on {} nodes and {}x{} on {}",
                    inner.grid().rows, inner.grid().cols, inner.nodes(), grid.rows, grid.cols, outer.nodes());
    if (width < 0) throw Error("a band {} tiles wide does not exist", width);
    Distribution result = outer;
    for (Index i = 0; i < grid.rows; ++i) {
        const Index first = std::max<Index>(0, i - width + 1), last = std::min(grid.cols, i + width);
        for (Index j = first; j < last; ++j) result.set_owner({i, j}, inner.owner({i, j}));
    }
    return result;
}

Distribution band_hybrid(GridSize tiles, Index nodes, Index width) {
    const Distribution outer = squarest_block_cyclic(tiles, nodes);
    return band(width, block_cyclic(tiles, {.p = 1, .q = nodes}), outer);
}

}  // namespace tesela
