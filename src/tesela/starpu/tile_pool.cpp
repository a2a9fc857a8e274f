#include "tesela/starpu/internal/tile_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

namespace tesela::starpu {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t reserve_bytes = std::size_t{4} << 20U;

std::size_t rounded(std::size_t bytes) { return std::max(alignment, (bytes + alignment - 1) / alignment * alignment); }

}  // namespace

TilePool::~TilePool() {
    free_reserve();
    for (auto& [size, list] : free_)
        for (void* memory : list) std::free(memory);
}

void TilePool::free_kept() noexcept {
    for (auto& [size, list] : free_) {
        for (void* memory : list) std::free(memory);
        list.clear();
    }
    promised_.clear();
    use_.kept = 0;
}

bool TilePool::keep_reserve() noexcept {
    if (reserve_ != nullptr) return true;
    void* memory = mmap(nullptr, reserve_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    reserve_ = memory;
    return true;
}

void TilePool::free_reserve() noexcept {
    if (reserve_ != nullptr) munmap(reserve_, reserve_bytes);
    reserve_ = nullptr;
}

void* TilePool::allocate(std::size_t size) noexcept {
    ++use_.allocations;
    void* memory = keep_reserve() ? std::aligned_alloc(alignment, size) : nullptr;
    if (memory != nullptr) return memory;
    free_kept();
    memory = keep_reserve() ? std::aligned_alloc(alignment, size) : nullptr;
    if (memory == nullptr) free_reserve();
    return memory;
}

void* TilePool::take(std::size_t bytes, Claim claim) noexcept {
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    const std::size_t spoken_for = use_.in_use + use_.held_back;
    if (claim == Claim::within_limit && spoken_for + size > use_.limit) return nullptr;
    const auto kept = free_.find(size);
    void* memory = nullptr;
    if (kept != free_.end() && !kept->second.empty()) {
        memory = kept->second.back();
        kept->second.pop_back();
        use_.kept -= size;
        if (const auto promised = promised_.find(size); promised != promised_.end() && promised->second > 0)
            --promised->second;
    } else {
        // What is kept counts too, and may be what the system lacks.
        if (use_.in_use + use_.kept + size > use_.limit) free_kept();
        memory = allocate(size);
    }
    if (memory == nullptr) return nullptr;
    if (claim == Claim::held_back) use_.held_back -= std::min(use_.held_back, size);
    use_.in_use += size;
    use_.peak = std::max(use_.peak, use_.in_use);
    return memory;
}

void TilePool::give(void* memory, std::size_t bytes, Reuse reuse) noexcept {
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    use_.in_use -= size;
    if (reuse == Reuse::unlikely || use_.kept + size > keep_limit_ || use_.in_use + use_.kept + size > use_.limit) {
        std::free(memory);
        return;
    }
    try {
        free_[size].push_back(memory);
        use_.kept += size;
    } catch (const std::bad_alloc&) {
        std::free(memory);
    }
}

/// One piece more; false if there is no room for it.
bool TilePool::prepare_one(std::size_t size) {
    void* memory = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (use_.in_use + use_.kept + size > use_.limit) return false;
        memory = std::aligned_alloc(alignment, size);
        if (memory == nullptr) return false;
        ++use_.allocations;
        use_.kept += size;
    }
    // The system finds pages when they are first touched, which is what takes the time: outside of the lock.
    for (std::size_t at = 0; at < size; at += page_bytes) static_cast<volatile char*>(memory)[at] = 0;
    const std::lock_guard lock(mutex_);
    try {
        free_[size].push_back(memory);
    } catch (const std::bad_alloc&) {
        std::free(memory);
        use_.kept -= size;
        return false;
    }
    return true;
}

/// Pieces that are kept may be those of an earlier `prepare`, for tiles that have not come for them yet.
Index TilePool::promise(std::size_t size, Index count) {
    const std::lock_guard lock(mutex_);
    Index& promised = promised_[size];
    const Index unpromised = std::max<Index>(0, static_cast<Index>(free_[size].size()) - promised);
    promised += count;
    return std::max<Index>(0, count - unpromised);
}

void TilePool::prepare(std::size_t bytes, Index count, int threads) {
    const std::size_t size = rounded(bytes);
    const Index missing = promise(size, count);
    std::atomic<Index> left = missing;
    const auto prepare_some = [&] {
        while (left.fetch_sub(1) > 0)
            if (!prepare_one(size)) return;
    };
    std::vector<std::jthread> others;
    for (Index t = 1; t < std::min<Index>(threads, missing); ++t) others.emplace_back(prepare_some);
    prepare_some();
}

void TilePool::give_up_prepared(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const auto promised = promised_.find(rounded(bytes));
    if (promised != promised_.end() && promised->second > 0) --promised->second;
}

void TilePool::hold_back(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    use_.held_back += rounded(bytes);
}

void TilePool::release_held_back(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    use_.held_back -= std::min(use_.held_back, rounded(bytes));
}

void TilePool::set_limits(std::size_t bytes, std::size_t keep) {
    const std::lock_guard lock(mutex_);
    use_.limit = bytes;
    use_.peak = use_.in_use;
    keep_limit_ = keep;
    if (use_.in_use + use_.kept > bytes) free_kept();
}

std::size_t TilePool::room() const noexcept {
    const std::lock_guard lock(mutex_);
    const std::size_t spoken_for = use_.in_use + use_.held_back;
    return spoken_for < use_.limit ? use_.limit - spoken_for : 0;
}

TilePool::Use TilePool::use() const {
    const std::lock_guard lock(mutex_);
    return use_;
}

void PromisedMemory::promise(std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    positions_.insert(position);
}

void PromisedMemory::kept(std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    positions_.erase(positions_.find(position));
}

bool PromisedMemory::before(std::uint64_t position) const {
    const std::lock_guard lock(mutex_);
    return !positions_.empty() && *positions_.begin() < position;
}

}  // namespace tesela::starpu
