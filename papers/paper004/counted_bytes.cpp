#include "paper004/counted_bytes.hpp"

#include "tesela/algs/operation.hpp"
#include "tesela/flow/recording.hpp"

#include <cstdlib>

namespace tesela::bench {

double counted_bytes(const CompressedOperation& of, const RankMap& ranks) {
    RecordingEngine recorder(of.owners.nodes());
    {
        Stream s(recorder);
        if (of.operation == Operation::cholesky)
            run_switched_cholesky(s, of.tiling, of.owners, of.factor);
        else
            run_operation(s, of.operation, of.tiling, of.owners);
    }
    const Recording recording = recorder.take();
    // One that is stored whole travels with its rank too.
    constexpr double rank_alone = tile_bytes({.rank = 0}, 0);
    double bytes = 0;
    for (const Transfer& message : list_transfers(recording)) {
        const RecordedDatum& tile = recording.data[static_cast<std::size_t>(message.datum)];
        const TileIndex at = tile.index;
        if (is_token(tile) || std::abs(at.i - at.j) < of.compression.dense_band) {
            bytes += message.bytes;
            continue;
        }
        const auto position = static_cast<std::size_t>(at.i * ranks.grid.cols + at.j);
        TileShape shape = tile.shape;
        shape.rank = ranks.ranks[position];
        shape.singles = ranks.singles[position];
        bytes += tile_bytes(shape, message.bytes + rank_alone);
    }
    return bytes;
}

}  // namespace tesela::bench
