#pragma once

#include <cstdint>

namespace tesela {

/// What a piece of memory costs when it comes from the system. Pieces of up to an eighth of a chunk are cut out of
/// chunks, as StarPU does (src/datawizard/malloc.c), and cost their share of one.
struct MemoryPrice {
    double seconds = 0;           ///< a piece, whatever its size
    double seconds_per_byte = 0;  ///< and on top
    double chunk_bytes = 32.0 * 1024 * 1024;

    [[nodiscard]] double operator()(double bytes) const {
        const auto whole = [this](double size) { return seconds + seconds_per_byte * size; };
        return 8 * bytes > chunk_bytes ? whole(bytes) : bytes / chunk_bytes * whole(chunk_bytes);
    }
};

/// Who gets memory for tiles and when (paper 000, "memory optimizations" of section 4.2.1).
enum class MemoryPolicy : std::uint8_t {
    /// It takes no time: as the StarPU engine, whose tiles in main memory are not pinned.
    free,
    /// As StarPU before the paper: the thread that submits gets each tile that a task writes first and each copy that
    /// a message will bring, and nothing is used again; on GPUs the worker gets it when a tile comes.
    at_submission,
    /// As after it: matrices of Allocation::at_once have theirs from the beginning; a message waits for a piece if no
    /// copy before it has given one back; workers of GPUs get none.
    ahead
};

/// The costs of memory on nodes with GPUs, where it is pinned so that tiles can travel to them; elsewhere a page is
/// found when a kernel first touches it, which is part of the kernel's time. They come on top of what the platform says
/// of the runtime system (RuntimeCosts), which is measured where memory costs nothing.
struct AllocationCosts {
    MemoryPolicy policy = MemoryPolicy::free;
    MemoryPrice pinned{};
    MemoryPrice on_gpu{};
};

}  // namespace tesela
