#include "tesela/starpu/internal/attachment.hpp"

#include "tesela/starpu/internal/tile_interface.hpp"

#include <utility>

namespace tesela::starpu {

StarpuAttachment::StarpuAttachment(MatrixSpec matrix, NodeId me, std::int64_t first_tag)
    : Attachment(std::move(matrix)),
      slots_(static_cast<std::size_t>(tiling().grid().count())),
      sent_words_(static_cast<std::size_t>(ceil_div(distribution().nodes(), 64))),
      me_(me),
      first_tag_(first_tag) {
    if (distribution().nodes() > 1) sent_.assign(slots_.size() * sent_words_, 0);
    if (!spec().memory) return;
    for (std::size_t p = 0; p < slots_.size(); ++p) slots_[p].home = owner(tile_at(p)) == me_;
}

StarpuAttachment::~StarpuAttachment() {
    for (std::size_t p = 0; p < slots_.size(); ++p) {
        const Slot& slot = slots_[p];
        if (slot.handle == nullptr) continue;
        // Memory of the caller must hold the last value before this returns; the rest goes when its tasks have ended.
        if (!slot.home)
            starpu_data_unregister_submit(slot.handle);
        else if (owner(tile_at(p)) == me_)
            starpu_data_unregister(slot.handle);
        else
            starpu_data_unregister_no_coherency(slot.handle);
    }
    if (release) release(reserved_bytes);
}

starpu_data_handle_t StarpuAttachment::handle(TileIndex tile) {
    Slot& slot = slots_[position(tile)];
    if (slot.handle != nullptr) return slot.handle;
    slot.handle = slot.home ? register_tile(*this, tile, spec().memory(tile)) : register_tile(*this, tile);
    return slot.handle;
}

void StarpuAttachment::drop_copy(TileIndex tile) {
    Slot& slot = slots_[position(tile)];
    slot.copy = false;
    if (slot.handle == nullptr) return;
    if (slot.home) {
        starpu_data_invalidate_submit(slot.handle);
        return;
    }
    starpu_data_unregister_submit(slot.handle);
    slot.handle = nullptr;
}

void StarpuAttachment::outdate_copies(TileIndex tile) {
    if (owner(tile) == me_)
        clear_sent(tile);
    else if (has_copy(tile))
        drop_copy(tile);
}

bool StarpuAttachment::sent_to(TileIndex tile, Index node) const {
    const auto word = position(tile) * sent_words_ + static_cast<std::size_t>(node / 64);
    return (sent_[word] >> static_cast<unsigned>(node % 64) & 1U) != 0;
}

void StarpuAttachment::set_sent(TileIndex tile, Index node) {
    const auto word = position(tile) * sent_words_ + static_cast<std::size_t>(node / 64);
    sent_[word] |= std::uint64_t{1} << static_cast<unsigned>(node % 64);
}

void StarpuAttachment::clear_sent(TileIndex tile) {
    for (std::size_t w = 0; w < sent_words_ && !sent_.empty(); ++w) sent_[position(tile) * sent_words_ + w] = 0;
}

}  // namespace tesela::starpu
