#include "tesela/geo/layout.hpp"

#include "tesela/algs/tile_size.hpp"
#include "tesela/distribution/families.hpp"

namespace tesela::geo {

Layout layout_for(const Engine& engine, Index n, Index tile, const std::optional<Distribution>& owners) {
    const Index size = tile > 0 ? tile : automatic_tile_size(n, engine.total_workers());
    const Tiling tiling = Tiling::square(n, size);
    return {size, tiling, owners ? *owners : squarest_block_cyclic(tiling.grid(), engine.node_count())};
}

}  // namespace tesela::geo
