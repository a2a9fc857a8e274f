#include "tesela/algs/recorded_operation.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/distribution/families.hpp"

namespace tesela {

RecordedOperation::RecordedOperation(Operation operation, const OperationSize& size) {
    RecordingEngine engine(size.nodes);
    const Tiling tiling = Tiling::square(size.tiles * size.tile, size.tile);
    const Distribution owners = block_cyclic(tiling.grid(), {.p = 1, .q = 1});
    {
        Stream s(engine);
        run_operation(s, operation, tiling, owners);
    }
    recording_ = engine.take();
    if (!size.ranks) return;
    const RankMap& map = *size.ranks;
    for (RecordedDatum& tile : recording_.data) {
        const auto at = static_cast<std::size_t>(tile.index.i * map.grid.cols + tile.index.j);
        tile.shape.rank = map.ranks[at];
        tile.shape.singles = map.singles.empty() ? 0 : map.singles[at];
        tile.bytes = static_cast<std::size_t>(tile_bytes(tile.shape, static_cast<double>(tile.bytes)));
    }
}

Transfers RecordedOperation::transfers(const Distribution& distribution) const {
    std::map<std::string, Distribution> distributions;
    for (const auto& matrix : recording_.matrices) distributions.emplace(matrix, distribution);
    return count_transfers(recording_, distributions);
}

}  // namespace tesela
