#pragma once

#include "tesela/flow/attachment.hpp"

#include <starpu.h>

namespace tesela::starpu {

/// StarPU's view of a tile on one memory node: one kind of handle for every tile and token.
struct TileInterface {
    enum starpu_data_interface_id id;
    uintptr_t pointer;
    std::int64_t rows, cols, ld;
    std::uint32_t element_bytes;

    [[nodiscard]] std::size_t bytes() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * element_bytes;
    }
    [[nodiscard]] Tile tile() const {
        return {reinterpret_cast<void*>(pointer), {rows, cols}, ld};  // NOLINT(performance-no-int-to-ptr)
    }
};

/// Registers a tile whose memory StarPU allocates when it is first written.
starpu_data_handle_t register_tile(const Attachment& matrix, TileIndex tile);
/// Registers a tile in memory of the caller.
starpu_data_handle_t register_tile(const Attachment& matrix, TileIndex tile, const TileMemory& memory);

/// Teaches StarPU-MPI to send tiles without packing them. Call once after StarPU-MPI started.
void register_tile_datatype();
void unregister_tile_datatype();

}  // namespace tesela::starpu
