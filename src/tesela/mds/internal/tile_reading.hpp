#pragma once

#include "tesela/mds/internal/resident_tiles.hpp"

namespace tesela {

/// Reads rows of a streamed matrix, by so many readers of a node at a time: tiles as they are, or panels of which tiles
/// are then taken.
class TileReading {
public:
    /// All outlive it.
    TileReading(Stream& stream, const StreamedSpec& spec, const ResidentTiles& into)
        : s_(stream),
          spec_(spec),
          into_(into),
          reader_{reader_resource, spec.reading.readers_per_node} {}

    /// Row i, and to the nodes that compute with it where all tiles are kept.
    void read_row(Index i);

private:
    void read_tiles(Index i);
    void read_panels(Index i);
    [[nodiscard]] Task read_task(Index i, TileRef to, Index first_column) const;

    Stream& s_;
    const StreamedSpec& spec_;
    const ResidentTiles& into_;
    const LimitedResource reader_;
};

}  // namespace tesela
