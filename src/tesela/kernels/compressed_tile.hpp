#pragma once

#include "tesela/kernels/kernel.hpp"
#include "tesela/kernels/tile_span.hpp"

#include <limits>

namespace tesela {

/// What a tile is to be, where its rows and columns can be asked for one at a time: compressing it asks for some of
/// them, and for all of them where these do not do.
template <class T>
class TileSource {
public:
    virtual ~TileSource() = default;
    TileSource(const TileSource&) = delete;
    TileSource& operator=(const TileSource&) = delete;
    TileSource(TileSource&&) = delete;
    TileSource& operator=(TileSource&&) = delete;

    [[nodiscard]] virtual Index rows() const = 0;
    [[nodiscard]] virtual Index cols() const = 0;
    /// Row i, of cols() elements.
    virtual void row(Index i, T* out) const = 0;
    /// Column j, of rows() elements.
    virtual void column(Index j, T* out) const = 0;
    /// Several columns, one after the other.
    virtual void columns(Index first, Index several, T* out) const {
        for (Index j = 0; j < several; ++j) column(first + j, out + j * rows());
    }
    /// Bounds of the elements of row i or column j, up to a factor that they all share: where something large can hide
    /// is looked at more often. Of a covariance, its value at the distance of the point from the box around the others.
    [[nodiscard]] virtual double row_bound(Index /*i*/) const { return 1; }
    [[nodiscard]] virtual double column_bound(Index /*j*/) const { return 1; }
    /// No element is larger, if anything is known of that.
    [[nodiscard]] virtual double bound() const { return std::numeric_limits<double>::infinity(); }

protected:
    TileSource() = default;
};

/// Stores a value in a tile that a kernel writes, as U·Vᵀ of the smallest rank that meets the accuracy of its matrix,
/// or with all its elements where that takes no more memory or where the tile is not one that may be compressed.
/// Returns a failure where there is no memory. From some rows and columns of the value, where these do:
template <class T>
[[nodiscard]] KernelResult store_tile(const Tile& tile, const TileSource<T>& value) noexcept;
/// from all its elements, column by column without gaps;
template <class T>
[[nodiscard]] KernelResult store_tile(const Tile& tile, const T* elements) noexcept;
/// or from U and V, column by column: `rank` of them, which need be neither the smallest number nor orthogonal. They
/// must not be the tile's own.
template <class T>
[[nodiscard]] KernelResult store_tile(const Tile& tile, const T* u, const T* v, Index rank) noexcept;

/// A tile that a kernel of one's own may store as U·Vᵀ. It may be of any matrix; a task that gives it a transposed view
/// or a triangle is refused.
template <class T>
class CompressibleTile {
public:
    using Element = T;

    explicit CompressibleTile(const Tile& tile, int number = 0) : tile_(tile), values_(tile, number) {}

    [[nodiscard]] Index rows() const { return tile_.rows(); }
    [[nodiscard]] Index cols() const { return tile_.cols(); }
    /// In the Frobenius norm: how far what is stored may be from what it stands for; 0 where all elements are stored.
    [[nodiscard]] double accuracy() const { return tile_.room == nullptr ? 0 : tile_.room->accuracy(); }

    /// What the tile was before it is stored: see TileSpan.
    [[nodiscard]] T operator()(Index i, Index j) const { return values_(i, j); }
    [[nodiscard]] Index rank() const { return values_.rank(); }
    [[nodiscard]] T u(Index i, Index k) const { return values_.u(i, k); }
    [[nodiscard]] T v(Index j, Index k) const { return values_.v(j, k); }

    /// Once in a kernel, and last: what was there is gone then. See store_tile().
    [[nodiscard]] KernelResult store(const TileSource<T>& value) const noexcept { return store_tile(tile_, value); }
    [[nodiscard]] KernelResult store(const T* elements) const noexcept { return store_tile(tile_, elements); }
    [[nodiscard]] KernelResult store(const T* u, const T* v, Index rank) const noexcept {
        return store_tile(tile_, u, v, rank);
    }

private:
    Tile tile_;
    TileSpan<const T, TileForms::any> values_;
};

namespace detail {

template <class T>
struct TileParameter<CompressibleTile<T>> {
    static constexpr bool is_tile = true;
    static constexpr bool viewed = false;
    static constexpr bool compressed = true;
};

}  // namespace detail
}  // namespace tesela
