#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tesela::starpu {

/// Memory for tiles in RAM. What is freed is kept by size and given out again, so that iterations and retired copies
/// reuse pages that have been touched already.
class TilePool {
public:
    TilePool() = default;
    ~TilePool();
    TilePool(const TilePool&) = delete;
    TilePool& operator=(const TilePool&) = delete;
    TilePool(TilePool&&) = delete;
    TilePool& operator=(TilePool&&) = delete;

    /// Null when there is no memory.
    void* take(std::size_t bytes) noexcept;
    void give(void* memory, std::size_t bytes) noexcept;
    /// Bytes beyond which freed memory is not kept.
    void set_keep_limit(std::size_t bytes);

    struct Use {
        std::size_t in_use = 0;
        std::size_t kept = 0;
        std::size_t peak = 0;
    };
    [[nodiscard]] Use use() const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<void*>> free_;
    Use use_;
    std::size_t keep_limit_ = std::size_t{1} << 30U;
};

/// The pool of this process.
TilePool& tile_pool();

}  // namespace tesela::starpu
