#include "tesela/starpu/internal/attachment.hpp"

#include "tesela/starpu/internal/shared.hpp"

#include <map>
#include <utility>

namespace tesela::starpu {

StarpuAttachment::StarpuAttachment(MatrixSpec matrix, Shared& shared, std::int64_t first_datum)
    : Attachment(std::move(matrix)),
      shared_(shared),
      directory_(shared.nodes),
      slots_(static_cast<std::size_t>(tiling().grid().count())),
      me_(shared.me),
      first_datum_(first_datum) {
    if (has_callers_memory()) homes_.assign(distribution().owners().begin(), distribution().owners().end());
    const auto value = has_callers_memory() ? Directory::Value::given : Directory::Value::none;
    for (std::size_t p = 0; p < slots_.size(); ++p) {
        directory_.add(static_cast<std::int32_t>(owner(tile_at(p)).number()), value);
        if (holds_back(p)) shared_.memory.hold_back(certain_bytes(tile_at(p)));
    }
}

/// Room is kept for the tiles that this node owns and nothing has written.
bool StarpuAttachment::holds_back(std::size_t position) const {
    const TileIndex tile = tile_at(position);
    return !has_callers_memory() && has(tile) && owner(tile) == me_ && certain_bytes(tile) > 0 &&
           slots_[position].handle == nullptr;
}

StarpuAttachment::~StarpuAttachment() { end(); }

void StarpuAttachment::prepare_memory(int threads) const {
    std::map<std::size_t, Index> counts;
    for (std::size_t p = 0; p < slots_.size(); ++p)
        if (holds_back(p)) ++counts[bytes(tile_at(p))];
    for (const auto& [size, count] : counts) shared_.memory.prepare(size, count, threads);
}

void StarpuAttachment::end() {
    for (std::size_t p = 0; p < slots_.size(); ++p) {
        const Slot& slot = slots_[p];
        if (holds_back(p)) {
            shared_.memory.release_held_back(bytes(tile_at(p)));
            if (allocation() == Allocation::at_once) shared_.memory.give_up_prepared(bytes(tile_at(p)));
        }
        if (slot.handle == nullptr) continue;
        // Memory of the caller must hold the last value before this returns; the rest goes when its tasks have ended.
        if (!at_home(tile_at(p), me_))
            shared_.handles.give(slot.handle, {});
        else if (owner(tile_at(p)) == me_)
            starpu_data_unregister(slot.handle);
        else
            starpu_data_unregister_no_coherency(slot.handle);
    }
    slots_.clear();
    if (const auto tell = std::exchange(goes, nullptr)) tell(*this);
}

Index StarpuAttachment::copied_bytes() const {
    Index total = 0;
    const auto me = static_cast<std::int32_t>(me_.number());
    for (std::size_t p = 0; p < directory_.size(); ++p)
        if (directory_.owner(p) != me && directory_.holds(p, me))
            total += static_cast<Index>(certain_bytes(tile_at(p)));
    return total;
}

starpu_data_handle_t StarpuAttachment::handle(TileIndex tile) {
    Slot& slot = slots_[position(tile)];
    if (slot.handle != nullptr) return slot.handle;
    const Claim claim = holds_back(position(tile)) ? Claim::held_back : Claim::needed;
    slot.handle =
        at_home(tile, me_) ? register_tile(*this, tile, spec().memory(tile)) : shared_.handles.take(*this, tile, claim);
    return slot.handle;
}

void StarpuAttachment::drop(TileIndex tile, Promise promise) {
    Slot& slot = slots_[position(tile)];
    if (slot.handle == nullptr) {
        if (holds_back(position(tile))) shared_.memory.release_held_back(bytes(tile));
        return;
    }
    if (at_home(tile, me_)) {
        starpu_data_invalidate_submit(slot.handle);
        return;
    }
    promise.of->promise(promise.position);
    shared_.handles.give(slot.handle, std::move(promise));
    slot.handle = nullptr;
}

}  // namespace tesela::starpu
