#pragma once

#include "tesela/flow/task.hpp"
#include "tesela/starpu/internal/stream_state.hpp"

#include <cstdint>
#include <span>

namespace tesela::starpu {

/// A tile that travels as a step of a stream: `position` counts the stream's steps.
struct TravellingTile {
    StarpuStream& stream;
    TileRef tile;
    std::uint64_t position = 0;
    std::int32_t priority = 0;
};

/// Sends the value that a tile has at this point of the stream to some nodes, to one after the other.
void send_tile(const TravellingTile& what, std::span<const std::int32_t> to);
/// Receives it from a node: into memory of its own, which becomes the tile's when what was submitted before has ended.
void receive_tile(const TravellingTile& what, std::int32_t from);

}  // namespace tesela::starpu
