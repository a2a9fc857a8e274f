#include "tesela/starpu/internal/handle_pool.hpp"

#include <memory>
#include <thread>
#include <utility>

namespace tesela::starpu {

starpu_data_handle_t HandlePool::take(const Attachment& matrix, TileIndex tile, Claim claim) {
    const TileShape shape = matrix.shape(tile);
    const Shape key{shape.rows, shape.cols, static_cast<std::uint32_t>(element_bytes(matrix.type()))};
    starpu_data_handle_t handle = nullptr;
    {
        const std::lock_guard lock(mutex_);
        auto& free = free_[key];
        if (!free.empty()) {
            handle = free.back();
            free.pop_back();
        }
    }
    if (handle == nullptr) return register_tile(matrix, tile, claim);
    in_main_memory(handle).claim = claim;
    return handle;
}

void HandlePool::give(starpu_data_handle_t handle, Promise promise) {
    ++leaving_;
    auto leaving = std::make_unique<Leaving>(Leaving{this, handle, std::move(promise)});
    starpu_data_acquire_on_node_cb(
        handle, STARPU_MAIN_RAM, STARPU_W,
        [](void* argument) {
            const std::unique_ptr<Leaving> mine(static_cast<Leaving*>(argument));
            mine->pool->left(*mine);
        },
        leaving.release());
}

void HandlePool::left(Leaving& leaving) {
    TileInterface& tile = in_main_memory(leaving.handle);
    free_memory(tile);
    const Shape key{tile.rows, tile.cols, tile.element_bytes};
    starpu_data_release_on_node(leaving.handle, STARPU_MAIN_RAM);
    if (leaving.promise.of) leaving.promise.of->kept(leaving.promise.position);
    {
        const std::lock_guard lock(mutex_);
        free_[key].push_back(leaving.handle);
    }
    --leaving_;
}

void HandlePool::clear() {
    while (leaving_ > 0) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    for (auto& [shape, handles] : free_)
        for (starpu_data_handle_t handle : handles) starpu_data_unregister_no_coherency(handle);
    free_.clear();
}

HandlePool& handle_pool() {
    static HandlePool pool;
    return pool;
}

}  // namespace tesela::starpu
