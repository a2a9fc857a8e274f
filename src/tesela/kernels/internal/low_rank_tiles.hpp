#pragma once

// What dense kernels do to tiles of which some are stored as U·Vᵀ. Private to src/tesela/kernels. Functions may throw
// std::bad_alloc.

#include "tesela/kernels/internal/low_rank.hpp"
#include "tesela/kernels/kernel.hpp"

#include <new>
#include <span>

namespace tesela::low_rank {

/// Whether a call is for what is declared here.
[[nodiscard]] bool concerns(std::span<const Tile> tiles);

/// U and V of a tile that has a rank.
template <class T>
[[nodiscard]] blas::Block<T> u_of(const Tile& tile) {
    return {tile.as<T>(), tile.rows(), tile.shape.rank, tile.rows()};
}
template <class T>
[[nodiscard]] blas::Block<T> v_of(const Tile& tile) {
    return {tile.as<T>() + tile.rows() * tile.shape.rank, tile.cols(), tile.shape.rank, tile.cols()};
}

/// Puts a value into a tile that has room: as U·Vᵀ, or with all elements where that takes no more memory.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, const Factors<T>& value);
/// Likewise, of all its elements.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, blas::Block<T> value);
/// From some of its rows and columns, or all if these do not do.
template <class T>
[[nodiscard]] KernelResult store(const Tile& tile, const Sampler<T>& value);

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
