#pragma once

#include "tesela/flow/attachment.hpp"
#include "tesela/flow/directory.hpp"
#include "tesela/flow/task.hpp"
#include "tesela/starpu/internal/memory_budget.hpp"
#include "tesela/starpu/internal/tile_interface.hpp"

#include <starpu.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tesela::starpu {

/// 63 bits: stream and tile (48, from StarpuStream::next_datum) and version (15), which may wrap around.
[[nodiscard]] constexpr std::int64_t message_tag(std::int64_t tile, std::uint16_t version) {
    constexpr std::int64_t tile_mask = (std::int64_t{1} << 48U) - 1;
    return (tile & tile_mask) | (static_cast<std::int64_t>(version & 0x7fffU) << 48U);
}

/// A matrix as StarPU holds it: a handle per tile that this node has touched, and who has which version of what.
class StarpuAttachment final : public Attachment {
public:
    /// `first_datum` numbers its tiles among those of the stream, alike on every node.
    StarpuAttachment(MatrixSpec matrix, Shared& shared, std::int64_t first_datum);
    ~StarpuAttachment() override;
    StarpuAttachment(const StarpuAttachment&) = delete;
    StarpuAttachment& operator=(const StarpuAttachment&) = delete;

    [[nodiscard]] Shared& shared() const { return shared_; }
    [[nodiscard]] Directory& directory() { return directory_; }
    /// The handle of a tile, registered when it is first asked for.
    [[nodiscard]] starpu_data_handle_t handle(TileIndex tile);
    /// Whether a tile of this node's stands in memory of the caller.
    [[nodiscard]] Home home(TileIndex tile) const { return at_home(tile, me_) ? Home::callers : Home::none; }
    /// Whether the caller has memory for a tile on a node.
    [[nodiscard]] bool at_home(TileIndex tile, NodeId node) const {
        return has_callers_memory() && homes_[position(tile)] == node.number();
    }
    /// Of a tile's columns in this node's main memory; StarPU's own record of it may be changing.
    [[nodiscard]] Index ld(TileIndex tile) const {
        return at_home(tile, me_) ? spec().memory(tile).ld : shape(tile).rows;
    }
    /// Names the current value of a tile in traces.
    [[nodiscard]] std::int64_t tag(TileIndex tile) const {
        const std::size_t p = position(tile);
        return message_tag(first_datum_ + static_cast<std::int64_t>(p),
                           static_cast<std::uint16_t>(directory_.version(p)));
    }
    /// Names a tile in traces: alike on every node, whatever value it has.
    [[nodiscard]] std::uint64_t datum(TileIndex tile) const {
        return static_cast<std::uint64_t>(message_tag(first_datum_ + static_cast<std::int64_t>(position(tile)), 0));
    }
    [[nodiscard]] TileIndex tile_at(std::size_t position) const {
        const Index cols = tiling().grid().cols;
        return {static_cast<Index>(position) / cols, static_cast<Index>(position) % cols};
    }

    /// This node does not hold a tile any more: its memory goes, by a promise, when the tasks that use it have ended.
    void drop(TileIndex tile, Promise promise);

    /// Its engine ends: all that StarPU has of it goes now, and what its tiles hold is lost.
    void end();

    /// Bytes that the engine reserved for it on each node, and whom to tell when it goes.
    Reservation reserved_bytes;
    std::function<void(StarpuAttachment&)> goes;
    /// Bytes of tiles that this node holds and does not own.
    [[nodiscard]] Index copied_bytes() const;
    /// Gets memory for this node's tiles from the system now, by so many threads, into the pool.
    void prepare_memory(int threads) const;

private:
    struct Slot {
        starpu_data_handle_t handle = nullptr;
    };
    [[nodiscard]] bool holds_back(std::size_t position) const;

    Shared& shared_;
    Directory directory_;
    std::vector<Slot> slots_;
    std::vector<std::int32_t> homes_;  // the nodes where the caller has memory for the tiles, if it has
    NodeId me_;
    std::int64_t first_datum_;
};

/// The matrix of a tile that was attached to the StarPU engine.
[[nodiscard]] inline StarpuAttachment& attachment_of(const TileRef& tile) {
    return static_cast<StarpuAttachment&>(*tile.matrix);
}

}  // namespace tesela::starpu
