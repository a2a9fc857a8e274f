#include "tesela/starpu/internal/handle_pool.hpp"

#include "tesela/base/polite_wait.hpp"
#include "tesela/starpu/internal/attachment.hpp"

#include <memory>
#include <thread>
#include <utility>

namespace tesela::starpu {

starpu_data_handle_t HandlePool::take(const StarpuAttachment& matrix, TileIndex tile, Claim claim) {
    const TileShape shape = matrix.shape(tile);
    const Shape key{shape.rows, shape.cols, static_cast<std::uint32_t>(element_bytes(matrix.type())),
                    matrix.compressible(tile)};
    starpu_data_handle_t handle = nullptr;
    {
        const std::lock_guard lock(mutex_);
        auto& free = free_[key];
        if (!free.empty()) {
            handle = free.back();
            free.pop_back();
            --kept_;
        }
    }
    if (handle == nullptr) return register_tile(matrix, tile, claim);
    in_main_memory(handle).claim = claim;
    set_compression(in_main_memory(handle), matrix);
    return handle;
}

void HandlePool::give(starpu_data_handle_t handle, Promise promise) {
    unregister_surplus();
    ++leaving_;
    auto leaving = std::make_unique<Leaving>(Leaving{this, handle, std::move(promise)});
    acquire(
        handle, STARPU_W,
        [](void* argument) {
            const std::unique_ptr<Leaving> mine(static_cast<Leaving*>(argument));
            mine->pool->left(*mine);
        },
        leaving.release());
}

void HandlePool::left(Leaving& leaving) {
    TileInterface& tile = in_main_memory(leaving.handle);
    free_memory(tile);
    const Shape key{tile.rows, tile.cols, tile.element_bytes, tile.compressible};
    starpu_data_release_on_node(leaving.handle, STARPU_MAIN_RAM);
    if (leaving.promise.of) leaving.promise.of->kept(leaving.promise.position);
    {
        const std::lock_guard lock(mutex_);
        if (kept_ < most_kept) {
            free_[key].push_back(leaving.handle);
            ++kept_;
        } else {
            surplus_.push_back(leaving.handle);
        }
    }
    --leaving_;
}

void HandlePool::wait_for_room(const TilePool& memory) const {
    const auto spoken_for = [&] {
        const TilePool::Use use = memory.use();
        return use.in_use + use.held_back > use.limit;
    };
    for (PoliteWait wait; spoken_for() && leaving();) wait.rest();
}

/// Not where a handle comes free: StarPU does not allow it in its callbacks.
void HandlePool::unregister_surplus() {
    std::vector<starpu_data_handle_t> surplus;
    {
        const std::lock_guard lock(mutex_);
        surplus.swap(surplus_);
    }
    for (starpu_data_handle_t handle : surplus) starpu_data_unregister_no_coherency(handle);
}

void HandlePool::clear() {
    while (leaving_ > 0) std::this_thread::yield();
    unregister_surplus();
    const std::lock_guard lock(mutex_);
    for (auto& [shape, handles] : free_)
        for (starpu_data_handle_t handle : handles) starpu_data_unregister_no_coherency(handle);
    free_.clear();
    kept_ = 0;
}

}  // namespace tesela::starpu
