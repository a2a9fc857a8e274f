#pragma once

#include "tesela/flow/attachment.hpp"
#include "tesela/net/transport.hpp"
#include "tesela/starpu/internal/tile_pool.hpp"

#include <starpu.h>

#include <algorithm>
#include <memory>

namespace tesela::starpu {

class StarpuAttachment;
struct Shared;

/// A step of a stream that will give memory back; nobody waits for it if `of` is null.
struct Promise {
    std::shared_ptr<PromisedMemory> of;
    std::uint64_t position = 0;
};

/// The rank of a tile and how many of its columns are in single precision: what stands behind its elements.
struct Ranks {
    std::int32_t rank = dense_rank;
    std::int32_t singles = 0;
};

/// StarPU's view of a tile on one memory node: one kind of handle for every tile and token. In main memory it gets its
/// bytes when it is first written or when its message arrives, not when StarPU allocates it.
struct TileInterface {
    enum starpu_data_interface_id id;
    Shared* shared;  ///< with all tiles of the engine
    uintptr_t pointer;
    std::int64_t rows, cols, ld;
    std::uint32_t element_bytes;
    Claim claim;        ///< by what right it takes memory
    bool lost;          ///< its value came when there was no memory for it
    bool compressible;  ///< it may be stored as U·Vᵀ; then its ranks stand behind its elements, also in messages
    std::uint64_t uncomputed_in;  ///< the era (see StreamState) in which what was to write it failed or did not run
    Ranks ranks;
    double accuracy;  ///< of a compressible tile
    FactorPrecision precision;

    [[nodiscard]] TileShape shape() const { return {rows, cols, ranks.rank, ranks.singles}; }
    [[nodiscard]] std::size_t bytes() const { return bytes_with(ranks); }
    [[nodiscard]] std::size_t bytes_with(const Ranks& its) const {
        const TileShape stored{rows, cols, its.rank, its.singles};
        return stored_bytes(stored, element_bytes) + (compressible ? sizeof its : 0);
    }
    /// Tokens have no bytes but occupy one, so that they have an address and a message.
    [[nodiscard]] std::size_t allocated_bytes() const { return std::max<std::size_t>(1, bytes()); }
    [[nodiscard]] net::Columns columns() const {
        if (compressible) {
            const auto all = static_cast<Index>(bytes());
            // NOLINTNEXTLINE(performance-no-int-to-ptr): StarPU's
            return {reinterpret_cast<const void*>(pointer), all, 1, all};
        }
        if (bytes() == 0)
            return {reinterpret_cast<const void*>(pointer), 1, 1, 1};  // NOLINT(performance-no-int-to-ptr): StarPU's
        const auto column = static_cast<Index>(rows) * element_bytes;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): StarPU's interfaces hold addresses as integers
        return {reinterpret_cast<const void*>(pointer), column, cols, static_cast<Index>(ld) * element_bytes};
    }
    [[nodiscard]] Tile tile() const {
        return {reinterpret_cast<void*>(pointer), shape(), ld};  // NOLINT(performance-no-int-to-ptr): likewise
    }
};

/// Registers a tile whose memory comes when it is first written, or with a message.
starpu_data_handle_t register_tile(const StarpuAttachment& matrix, TileIndex tile, Claim claim);
/// Registers a tile in memory of the caller.
starpu_data_handle_t register_tile(const StarpuAttachment& matrix, TileIndex tile, const TileMemory& memory);

/// Calls back when StarPU lets a tile be read or written in main memory, which may be at once. What StarPU refuses ends
/// the job: nobody who waits for the tile could go on.
void acquire(starpu_data_handle_t handle, starpu_data_access_mode mode, void (*ready)(void*), void* argument);

/// A tile in this node's main memory.
[[nodiscard]] TileInterface& in_main_memory(starpu_data_handle_t handle);
/// Gives a tile in main memory that has no bytes some: to write all of it, or zeros to read, which nobody wrote. False
/// if there are none, or if what is to be read was lost.
enum class Contents : std::uint8_t { any, zeros };
[[nodiscard]] bool give_memory(TileInterface& tile, Contents contents);
/// Gives back what a tile in main memory has, or what is held back for it.
void free_memory(TileInterface& tile);
/// A value that has arrived, in memory of the pool.
struct ArrivedValue {
    void* memory = nullptr;
    std::size_t bytes = 0;
};
/// Puts it into a tile: as its memory, or copied into the caller's.
enum class Home : std::uint8_t { none, callers };
void install(TileInterface& tile, const ArrivedValue& value, Home home);
/// Takes over what the matrix of a tile says of its compression.
void set_compression(TileInterface& tile, const Attachment& matrix);
/// Gives memory of a tile back to the pool: what fits few other tiles is not kept there.
void give_back(const TileInterface& tile, void* memory, std::size_t bytes);

/// How a compressible tile in main memory gets memory for another rank.
class InterfaceRoom final : public TileRoom {
public:
    InterfaceRoom() : TileRoom(0) {}
    explicit InterfaceRoom(TileInterface& tile) : TileRoom(tile.accuracy, tile.precision), tile_(&tile) {}
    using TileRoom::replace;
    void* replace(Index rank, Index singles) noexcept override;

private:
    TileInterface* tile_ = nullptr;
};

}  // namespace tesela::starpu
