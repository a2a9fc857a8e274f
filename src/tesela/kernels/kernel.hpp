#pragma once

#include "tesela/kernels/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

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
enum class Failure : std::uint8_t { none, not_positive_definite, zero_pivot, out_of_memory, stated, elsewhere };

/// What a kernel returns: no failure, or the kind and the global index of the pivot that failed.
struct KernelResult {
    Failure failure = Failure::none;
    Index index = 0;
    const char* reason = "";  ///< of `stated`: a literal
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

/// Which tiles a kernel knows how to use: those with all their elements, or also those stored as U·Vᵀ.
enum class TileForms : std::uint8_t { dense, any };

/// Work on tiles: a name, an entry per kind of worker (absent where null) and a cost that is a function of tile shapes
/// and arguments. Knows no runtime. Kernels have static lifetime: engines keep pointers to them. Tasks are made of
/// KernelOf, which knows what it is called with.
struct Kernel {
    using Entry = KernelResult (*)(const KernelCall&) noexcept;
    using Cost = KernelCost (*)(std::span<const TileShape> shapes, const void* arguments) noexcept;
    using LowRankFlops = double (*)(std::span<const TileShape> shapes) noexcept;
    using RecompressionOf = Recompression (*)(std::span<const TileShape> shapes) noexcept;

    const char* name = "";
    Cost cost = nullptr;
    Entry cpu = nullptr;
    Entry cuda = nullptr;
    TileForms forms = TileForms::dense;
    /// The operations that `cost` counts where a tile is stored as U·Vᵀ, which follow from shapes alone; null: as many
    /// as with all elements. Who has no arguments any more asks this, as a simulation whose tiles have ranks.
    LowRankFlops low_rank_flops = nullptr;
    /// What of it is recompression where tiles have these shapes. Null: nothing.
    RecompressionOf recompression = nullptr;
};

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

    constexpr KernelOf(const char* its_name, Cost its_cost, Entry its_cpu, TileForms its_forms = TileForms::dense)
        : Kernel{.name = its_name, .cost = its_cost, .cpu = its_cpu, .forms = its_forms} {}
    /// One that takes tiles of any form, with its operations where one is of low rank, and what of them
    /// recompresses.
    constexpr KernelOf(const char* its_name, Cost its_cost, Entry its_cpu, LowRankFlops its_flops,
                       RecompressionOf its_recompression = nullptr)
        : Kernel{.name = its_name,
                 .cost = its_cost,
                 .cpu = its_cpu,
                 .forms = TileForms::any,
                 .low_rank_flops = its_flops,
                 .recompression = its_recompression} {}
};

/// A tile as a kernel of one's own sees it: elements by row and column, from 0, column-major in memory.
template <class T>
class TileSpan {
public:
    explicit TileSpan(const Tile& tile) : tile_(tile) {}

    [[nodiscard]] Index rows() const { return tile_.rows(); }
    [[nodiscard]] Index cols() const { return tile_.cols(); }
    [[nodiscard]] T& operator()(Index i, Index j) const { return data()[i + j * tile_.ld]; }
    /// The first element, and how many elements lie between the columns: what BLAS takes.
    [[nodiscard]] T* data() const { return static_cast<T*>(tile_.data); }
    [[nodiscard]] Index ld() const { return tile_.ld; }

private:
    Tile tile_;
};
/// A token, or a tile of any type: it has no elements to look at.
template <class T>
requires std::is_void_v<T>
class TileSpan<T> {
public:
    explicit TileSpan(const Tile&) {}
};

namespace detail {

/// Bytes of the tiles' elements, each once: the cost of a kernel that says nothing of its own.
template <class... Elements>
KernelCost bytes_of_tiles(std::span<const TileShape> shapes, const void*) noexcept {
    constexpr std::size_t sizes[]{element_bytes(element_type<std::remove_const_t<Elements>>)..., 0};
    KernelCost cost;
    for (std::size_t k = 0; k < shapes.size(); ++k)
        cost.bytes += static_cast<double>(shapes[k].rows * shapes[k].cols) * static_cast<double>(sizes[k]);
    return cost;
}

template <auto>
inline constexpr bool never = false;

template <auto Function>
struct KernelFrom {
    static_assert(
        never<Function>,
        "a kernel is made of KernelResult f(const Arguments&, TileSpan<const double> or TileSpan<double>, …) noexcept");
};
template <class Arguments, class... Elements,
          KernelResult (*Function)(const Arguments&, TileSpan<Elements>...) noexcept>
struct KernelFrom<Function> {
    using Type = KernelOf<Arguments, Elements...>;
    static constexpr Kernel::Cost cost = bytes_of_tiles<Elements...>;
    static KernelResult run(const KernelCall& call) noexcept {
        return run(call, std::index_sequence_for<Elements...>{});
    }
    template <std::size_t... K>
    static KernelResult run(const KernelCall& call, std::index_sequence<K...>) noexcept {
        return Function(call.args<Arguments>(), TileSpan<Elements>(call.tiles[K])...);
    }
};

}  // namespace detail

/// A kernel of one's own from a function on the cores:
///     KernelResult axpy(const double& a, TileSpan<const double> x, TileSpan<double> y) noexcept;
///     const auto axpy_kernel = make_kernel<axpy>("axpy");
/// `cost`: floating-point operations and bytes from shapes and arguments, for predictions; otherwise the bytes of the
/// tiles.
template <auto Function>
[[nodiscard]] constexpr auto make_kernel(const char* name, Kernel::Cost cost = detail::KernelFrom<Function>::cost) {
    return typename detail::KernelFrom<Function>::Type(name, cost, detail::KernelFrom<Function>::run);
}

}  // namespace tesela
