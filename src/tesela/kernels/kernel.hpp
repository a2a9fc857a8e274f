#pragma once

#include "tesela/base/digest.hpp"
#include "tesela/kernels/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tesela {

/// What a task does to a tile. `commute` is a read-write whose order among commuting accesses does not matter;
/// `reduce` adds to the tile from any node, into a partial sum there, which is added when the tile is next used;
/// `disjoint` writes a part of the tile that no other disjoint access touches, at the same time as those. Before the
/// first and after the last of them stands a task that writes the whole tile (SegmentKernels::open and close).
enum class AccessMode : std::uint8_t { read, write, read_write, commute, reduce, disjoint };

[[nodiscard]] constexpr bool reads(AccessMode mode) { return mode != AccessMode::write; }
[[nodiscard]] constexpr bool writes(AccessMode mode) { return mode != AccessMode::read; }

/// Kinds of workers a kernel may have an entry for.
enum class WorkerKind : std::uint8_t { cpu, cuda };

/// Why a computation could not go on. Failure is data: see flow/status.hpp.
/// `stated` is a kernel's own reason; `elsewhere` is what a node knows of another's failure before it is told which.
/// `outside` is a kernel that looked for an element outside of its tile.
enum class Failure : std::uint8_t {
    none,
    not_positive_definite,
    zero_pivot,
    out_of_memory,
    stated,
    elsewhere,
    outside
};

/// What a kernel returns: no failure, or the kind and the global index of the pivot that failed.
struct KernelResult {
    Failure failure = Failure::none;
    Index index = 0;
    const char* reason = "";  ///< until the thread's next call of a kernel at least
};

/// A kernel cannot go on, for a reason of its own: "a density is negative". `index` is where, counted over the whole
/// matrix; of several failures the one with the smallest is reported.
[[nodiscard]] constexpr KernelResult fail(const char* reason, Index index = 0) {
    return {Failure::stated, index, reason};
}

/// Everything one call of a kernel gets: its tiles in the order of the task's accesses, its arguments, and on an
/// accelerator the queue to launch on.
struct KernelCall {
    std::span<const Tile> tiles;
    const void* arguments = nullptr;
    void* queue = nullptr;

    template <class Arguments>
    [[nodiscard]] const Arguments& args() const {
        return *static_cast<const Arguments*>(arguments);
    }
};

/// Floating-point operations and bytes touched by one call.
struct KernelCost {
    double flops = 0;
    double bytes = 0;
};

/// What of a kernel's operations recompress a sum of low-rank tiles, which take longer than others (LowRankSpeed), and
/// the rank of that sum; none: 0.
struct Recompression {
    double flops = 0;
    double rank = 0;
};

/// How a kernel uses its tiles, where that is not as they are stored, with all their elements: bit k is tile k.
struct TileUse {
    static constexpr std::uint8_t every = 0xff;

    std::uint8_t compressed = 0;  ///< it knows tiles that are stored as U·Vᵀ
    std::uint8_t viewed = 0;      ///< it looks at Tile::view: also transposed, also a triangle alone
    std::uint8_t whole = 0;       ///< it knows of no triangles; other kernels say which one they use

    [[nodiscard]] static constexpr bool has(std::uint8_t bits, std::size_t tile) { return (bits >> tile & 1U) != 0; }
    friend bool operator==(const TileUse&, const TileUse&) = default;
};

/// Work on tiles: a name, an entry per kind of worker (absent where null) and a cost that is a function of tile shapes
/// and arguments. Knows no runtime. Tasks are made of KernelOf, which knows what it is called with; what they need of a
/// kernel is kept (kept_kernel), so that it may be gone before they run.
struct Kernel {
    using Entry = KernelResult (*)(const KernelCall&) noexcept;
    using Cost = KernelCost (*)(std::span<const TileShape> shapes, const void* arguments) noexcept;
    using LowRankFlops = double (*)(std::span<const TileShape> shapes) noexcept;
    using RecompressionOf = Recompression (*)(std::span<const TileShape> shapes) noexcept;

    const char* name = "";
    Cost cost = nullptr;
    Entry cpu = nullptr;
    Entry cuda = nullptr;
    TileUse use{};
    /// The operations that `cost` counts where a tile is stored as U·Vᵀ, which follow from shapes alone; null: as many
    /// as with all elements. Who has no arguments any more asks this, as a simulation whose tiles have ranks.
    LowRankFlops low_rank_flops = nullptr;
    /// What of it is recompression where tiles have these shapes. Null: nothing.
    RecompressionOf recompression = nullptr;
    /// Stands for the name where nodes compare what they do.
    std::uint64_t name_digest = digest_of(std::string_view(name));
};

/// The kernel itself if it is a static object, otherwise the one copy of it, with its name, that this process keeps for
/// ever: the same for equal ones.
[[nodiscard]] const Kernel& kept_kernel(const Kernel& kernel);

/// The arguments of a kernel that has none.
struct NoArguments {};

/// Bytes of arguments that a task has room for.
inline constexpr std::size_t max_argument_bytes = 64;
/// Tiles that a task may use.
inline constexpr std::size_t max_tiles = 8;

/// A kernel and the types of what it is called with: its arguments, and tile by tile the elements: `const T` where it
/// only reads, `void` for tokens and for tiles of any type. A task that does not fit does not compile.
template <class Arguments, class... Elements>
struct KernelOf : Kernel {
    static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= max_argument_bytes,
                  "arguments travel as bytes, 64 at most: pass a pointer to what is larger");
    static_assert(sizeof...(Elements) <= max_tiles, "a task uses 8 tiles at most");

    /// Whether it works on so many tiles.
    template <std::size_t Tiles>
    static constexpr bool takes = Tiles == sizeof...(Elements);

    /// The last two: its operations where a tile is of low rank, and what of them recompresses.
    constexpr KernelOf(const char* its_name, Cost its_cost, Entry its_cpu, TileUse its_use = {},
                       LowRankFlops its_flops = nullptr, RecompressionOf its_recompression = nullptr)
        : Kernel{.name = its_name,
                 .cost = its_cost,
                 .cpu = its_cpu,
                 .use = its_use,
                 .low_rank_flops = its_flops,
                 .recompression = its_recompression} {}
};

}  // namespace tesela
