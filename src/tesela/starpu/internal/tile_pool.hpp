#pragma once

#include "tesela/base/index.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace tesela::starpu {

/// By what right memory is taken: it was held back for a tile of this node's own; as much as the limit leaves; or
/// without regard to it, since nothing else can go on.
enum class Claim : std::uint8_t { held_back, within_limit, needed };

/// Whether another piece of the same size will be asked for; what will hardly be goes back to the system.
enum class Reuse : std::uint8_t { likely, unlikely };

/// Memory for tiles, copies and messages in RAM, and how much of it there may be. What is freed is kept by size and
/// given out again, so that iterations and retired copies reuse pages that have been touched already.
class TilePool {
public:
    TilePool() = default;
    ~TilePool();
    TilePool(const TilePool&) = delete;
    TilePool& operator=(const TilePool&) = delete;
    TilePool(TilePool&&) = delete;
    TilePool& operator=(TilePool&&) = delete;

    /// Null when there is no memory, or the claim allows none.
    void* take(std::size_t bytes, Claim claim) noexcept;
    void give(void* memory, std::size_t bytes, Reuse reuse = Reuse::likely) noexcept;
    /// Gets pieces of memory from the system now, pages included, by so many threads, until `count` are at hand beside
    /// those of earlier calls that were not taken yet, and keeps them for `take` whatever the limit of what is kept.
    /// Ends early where the limit or the system leaves no more.
    void prepare(std::size_t bytes, Index count, int threads);
    /// A piece that was prepared will not be taken by whom it was for: the next `prepare` counts it as at hand.
    void give_up_prepared(std::size_t bytes) noexcept;
    /// Keeps room for tiles that have no memory yet, until it is taken with Claim::held_back or released.
    void hold_back(std::size_t bytes) noexcept;
    void release_held_back(std::size_t bytes) noexcept;
    /// Bytes in use and held back beyond which `within_limit` gets nothing, and bytes beyond which freed memory is not
    /// kept; a new count of the peak begins.
    void set_limits(std::size_t bytes, std::size_t keep);
    /// Bytes that `within_limit` could still get.
    [[nodiscard]] std::size_t room() const noexcept;

    struct Use {
        std::size_t in_use = 0;
        std::size_t kept = 0;
        std::size_t peak = 0;
        std::size_t held_back = 0;
        std::size_t limit = 0;
        std::size_t allocations = 0;  ///< pieces that came from the system
    };
    [[nodiscard]] Use use() const;

private:
    void free_kept() noexcept;
    [[nodiscard]] void* allocate(std::size_t size) noexcept;
    [[nodiscard]] bool prepare_one(std::size_t size);
    [[nodiscard]] Index promise(std::size_t size, Index count);
    [[nodiscard]] bool keep_reserve() noexcept;
    void free_reserve() noexcept;

    mutable std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<void*>> free_;
    std::unordered_map<std::size_t, Index> promised_;  ///< of those, pieces that were prepared and not taken
    Use use_{.limit = ~std::size_t{0}};
    std::size_t keep_limit_ = std::size_t{1} << 30U;
    /// Never touched, and given up when the system has no memory for a tile: what everybody else needs to go on and
    /// report that must not fail too.
    void* reserve_ = nullptr;
};

/// Steps of a stream that will give memory back and have not yet done so.
class PromisedMemory {
public:
    void promise(std::uint64_t position);
    void kept(std::uint64_t position);
    /// Whether a step before this one still has to.
    [[nodiscard]] bool before(std::uint64_t position) const;

private:
    mutable std::mutex mutex_;
    std::multiset<std::uint64_t> positions_;
};

}  // namespace tesela::starpu
