#include "tesela/starpu/internal/tile_pool.hpp"

#include <algorithm>
#include <cstdlib>

namespace tesela::starpu {
namespace {

constexpr std::size_t alignment = 64;

std::size_t rounded(std::size_t bytes) { return std::max(alignment, (bytes + alignment - 1) / alignment * alignment); }

}  // namespace

TilePool::~TilePool() {
    for (auto& [size, list] : free_)
        for (void* memory : list) std::free(memory);
}

void* TilePool::take(std::size_t bytes) noexcept {
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    auto& list = free_[size];
    void* memory = nullptr;
    if (!list.empty()) {
        memory = list.back();
        list.pop_back();
        use_.kept -= size;
    } else {
        memory = std::aligned_alloc(alignment, size);
    }
    if (memory != nullptr) use_.in_use += size;
    use_.peak = std::max(use_.peak, use_.in_use);
    return memory;
}

void TilePool::give(void* memory, std::size_t bytes) noexcept {
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    use_.in_use -= size;
    if (use_.kept + size > keep_limit_) {
        std::free(memory);
        return;
    }
    free_[size].push_back(memory);
    use_.kept += size;
}

void TilePool::set_keep_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    keep_limit_ = bytes;
}

TilePool::Use TilePool::use() const {
    const std::lock_guard lock(mutex_);
    return use_;
}

TilePool& tile_pool() {
    static TilePool pool;
    return pool;
}

}  // namespace tesela::starpu
