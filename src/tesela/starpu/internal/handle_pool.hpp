#pragma once

#include "tesela/starpu/internal/tile_interface.hpp"

#include <starpu.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace tesela::starpu {

/// StarPU's handles of tiles without memory of the caller's, used again when their tile is gone: StarPU takes longer to
/// make one than to move a small tile, and keeps some bytes of each for ever. So many are kept, since one takes several
/// kilobytes.
class HandlePool {
public:
    HandlePool() = default;
    ~HandlePool() = default;
    HandlePool(const HandlePool&) = delete;
    HandlePool& operator=(const HandlePool&) = delete;
    HandlePool(HandlePool&&) = delete;
    HandlePool& operator=(HandlePool&&) = delete;

    [[nodiscard]] starpu_data_handle_t take(const StarpuAttachment& matrix, TileIndex tile, Claim claim);
    /// The tile is not used any more by what is submitted from here on; its memory goes, and the promise is kept, when
    /// what was submitted before has ended.
    void give(starpu_data_handle_t handle, Promise promise);
    /// Whether some that were given back are still in use.
    [[nodiscard]] bool leaving() const { return leaving_ > 0; }
    /// Matrices that are gone may still be in use by pending tasks: what comes in their place waits here for memory.
    void wait_for_room(const TilePool& memory) const;
    /// Ends all handles, when those that were given back have come.
    void clear();

private:
    using Shape = std::tuple<std::int64_t, std::int64_t, std::uint32_t, bool>;  ///< and whether it is compressible
    struct Leaving {
        HandlePool* pool;
        starpu_data_handle_t handle;
        Promise promise;
    };
    void left(Leaving& leaving);
    void unregister_surplus();

    static constexpr std::size_t most_kept = 16384;
    std::mutex mutex_;
    std::map<Shape, std::vector<starpu_data_handle_t>> free_;
    std::size_t kept_ = 0;  // in `free_`
    std::vector<starpu_data_handle_t> surplus_;
    std::atomic<std::int64_t> leaving_{0};
};

}  // namespace tesela::starpu
