#pragma once

#include "tesela/kernels/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

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
/// `elsewhere` is what a node knows of another's failure before it is told which.
enum class Failure : std::uint8_t { none, not_positive_definite, zero_pivot, out_of_memory, elsewhere };

/// What a kernel returns: no failure, or the kind and the global index of the pivot that failed.
struct KernelResult {
    Failure failure = Failure::none;
    Index index = 0;
};

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

/// Work on tiles: a name, an entry per kind of worker (absent where null) and a cost that is a function of tile shapes
/// and arguments. Knows no runtime. Kernels have static lifetime: engines keep pointers to them.
struct Kernel {
    using Entry = KernelResult (*)(const KernelCall&) noexcept;
    using Cost = KernelCost (*)(std::span<const TileShape> shapes, const void* arguments) noexcept;

    const char* name = "";
    Cost cost = nullptr;
    Entry cpu = nullptr;
    Entry cuda = nullptr;
};

}  // namespace tesela
