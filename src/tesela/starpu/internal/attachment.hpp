#pragma once

#include "tesela/flow/attachment.hpp"

#include <starpu.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tesela::starpu {

/// 63 bits: stream and tile (48, from StarpuStream::next_tag) and version (15). The version may wrap around: only
/// values that are in flight together must differ.
[[nodiscard]] constexpr std::int64_t message_tag(std::int64_t tile, std::uint16_t version) {
    constexpr std::int64_t tile_mask = (std::int64_t{1} << 48U) - 1;
    return (tile & tile_mask) | (static_cast<std::int64_t>(version & 0x7fffU) << 48U);
}

/// A matrix as StarPU holds it: a handle per tile that this node has touched, and who has a copy of what it owns.
class StarpuAttachment final : public Attachment {
public:
    StarpuAttachment(MatrixSpec matrix, NodeId me, std::int64_t first_tag);
    ~StarpuAttachment() override;

    /// The handle of a tile, registered when it is first asked for.
    [[nodiscard]] starpu_data_handle_t handle(TileIndex tile);
    /// Names the current value of a tile in messages. The version is part of it, since receives are posted when their
    /// handle becomes free and not in the order of the stream.
    [[nodiscard]] std::int64_t tag(TileIndex tile) const {
        const std::size_t p = position(tile);
        return message_tag(first_tag_ + static_cast<std::int64_t>(p), slots_[p].version);
    }
    /// Names a tile in traces: alike on every node, whatever value it has.
    [[nodiscard]] std::uint64_t datum(TileIndex tile) const {
        return static_cast<std::uint64_t>(message_tag(first_tag_ + static_cast<std::int64_t>(position(tile)), 0));
    }
    /// The tile has a new value from here on; called alike on every node.
    void next_version(TileIndex tile) { ++slots_[position(tile)].version; }

    /// Whether this node, not the owner, has a valid copy.
    [[nodiscard]] bool has_copy(TileIndex tile) const { return slots_[position(tile)].copy; }
    void set_copy(TileIndex tile) { slots_[position(tile)].copy = true; }
    /// Frees this node's copy when the tasks that use it have ended.
    void drop_copy(TileIndex tile);

    /// As the owner: whether a node was sent the current value.
    [[nodiscard]] bool sent_to(TileIndex tile, Index node) const;
    void set_sent(TileIndex tile, Index node);
    void clear_sent(TileIndex tile);
    /// Copies on other nodes than the owner's do not count any more; this node's goes when its tasks have ended.
    void outdate_copies(TileIndex tile);

    /// Bytes that the engine reserved for it on each node, and whom to tell when they are free again.
    std::vector<double> reserved_bytes;
    std::function<void(const std::vector<double>&)> release;

private:
    struct Slot {
        starpu_data_handle_t handle = nullptr;
        bool copy = false;
        bool home = false;  // its memory is the caller's
        std::uint16_t version = 0;
    };
    [[nodiscard]] TileIndex tile_at(std::size_t position) const {
        const Index cols = tiling().grid().cols;
        return {static_cast<Index>(position) / cols, static_cast<Index>(position) % cols};
    }
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> sent_;
    std::size_t sent_words_;
    NodeId me_;
    std::int64_t first_tag_;
};

}  // namespace tesela::starpu
