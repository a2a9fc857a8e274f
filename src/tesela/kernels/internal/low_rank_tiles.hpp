#pragma once

// What dense kernels do to tiles of which some are stored as U·Vᵀ. Private to src/tesela/kernels. Functions may throw
// std::bad_alloc.

#include "tesela/kernels/internal/low_rank.hpp"
#include "tesela/kernels/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace tesela::low_rank {

template <class T>
using Elements = std::vector<T>;

/// Zeros, and elements as a block without gaps.
template <class T>
[[nodiscard]] Elements<T> room_for(Index rows, Index cols) {
    return Elements<T>(static_cast<std::size_t>(rows * cols));
}
template <class T>
[[nodiscard]] blas::Block<T> block(Elements<T>& elements, Index rows, Index cols) {
    return {elements.data(), rows, cols, rows};
}

/// Whether a call is for what is declared here.
[[nodiscard]] bool concerns(std::span<const Tile> tiles);

/// U and V of a tile that has a rank: where they stand, or copies if some columns are in single precision.
template <class T>
struct TileFactors {
    blas::Block<T> u, v;
    std::vector<T> copies{};

    explicit TileFactors(const Tile& tile)
        : u(tile.as<T>(), tile.rows(), tile.shape.rank, tile.rows()),
          v(tile.as<T>() + tile.rows() * tile.shape.rank, tile.cols(), tile.shape.rank, tile.cols()) {
        if (tile.shape.singles > 0) widen(tile);
    }
    TileFactors(const TileFactors&) = delete;
    TileFactors& operator=(const TileFactors&) = delete;
    TileFactors(TileFactors&&) noexcept = default;
    TileFactors& operator=(TileFactors&&) noexcept = default;
    ~TileFactors() = default;

private:
    void widen(const Tile& tile) {
        const Index rows = tile.rows();
        const Index cols = tile.cols();
        const Index singles = tile.shape.singles;
        const Index whole = tile.shape.rank - singles;
        copies.resize(static_cast<std::size_t>((rows + cols) * tile.shape.rank));
        u.data = copies.data();
        v.data = copies.data() + rows * tile.shape.rank;
        const T* const wide = tile.as<T>();
        std::vector<float> narrow(static_cast<std::size_t>((rows + cols) * singles));
        std::memcpy(narrow.data(), wide + (rows + cols) * whole, narrow.size() * sizeof(float));
        std::copy_n(narrow.begin(), rows * singles, std::copy_n(wide, rows * whole, u.data));
        std::copy_n(narrow.begin() + rows * singles, cols * singles,
                    std::copy_n(wide + rows * whole, cols * whole, v.data));
    }
};

/// The same, of one's own.
template <class T>
[[nodiscard]] Factors<T> factors_of(const Tile& tile);

/// How much of a tile's accuracy is for what is left out of it; a tenth is for rounding, where columns may be rounded.
[[nodiscard]] double truncation(const TileRoom& room);

/// Puts U·Vᵀ into a tile that has room, the last so many columns in single precision.
template <class T>
[[nodiscard]] KernelResult store_columns(const Tile& tile, const Factors<T>& value, Index singles);
/// Puts a value into a tile that has room: as U·Vᵀ, or with all elements where that takes no more memory. What rounding
/// of columns to single precision costs, where the room allows it, counts `weight` times.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, const Factors<T>& value, double weight = 1);
/// Likewise, of all its elements.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, blas::Block<T> value);
/// From some of its rows and columns, or all if these do not do.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, const TileSource<T>& value);

/// B := alpha·op(A)⁻¹·B or alpha·B·op(A)⁻¹, or products with A: of one factor of B. A has all its elements.
template <class T>
[[nodiscard]] KernelResult trsm(const TriangularArguments& args, const Tile& a, const Tile& b);
template <class T>
[[nodiscard]] KernelResult trmm(const TriangularArguments& args, const Tile& a, const Tile& b);
/// C := alpha·op(A)·op(A)ᵀ + beta·C, one triangle, of an A of low rank; C has all its elements.
template <class T>
[[nodiscard]] KernelResult syrk(const SyrkArguments& args, const Tile& a, const Tile& c);
/// C := alpha·op(A)·op(B) + beta·C, whichever of them are of low rank.
template <class T>
[[nodiscard]] KernelResult gemm(const GemmArguments& args, std::span<const Tile> abc);
/// B := alpha·A + beta·B.
template <class T>
[[nodiscard]] KernelResult geadd(const GeaddArguments& args, const Tile& a, const Tile& b);
template <class T>
[[nodiscard]] KernelResult laset(const LasetArguments& args, const Tile& a);
template <class T>
[[nodiscard]] KernelResult scale(double factor, const Tile& a);

/// Where there is no memory for what is computed, the kernel fails for that reason.
template <class Work>
[[nodiscard]] KernelResult guarded(Work work) noexcept try {
    return work();
} catch (const std::bad_alloc&) {
    return {Failure::out_of_memory};
}

}  // namespace tesela::low_rank
