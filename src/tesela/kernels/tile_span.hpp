#pragma once

#include "tesela/kernels/tile.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace tesela {

/// Which tiles a parameter of a kernel takes: those with all their elements, or also those stored as U·Vᵀ.
enum class TileForms : std::uint8_t { dense, any };

namespace detail {

/// An element that a kernel looked for outside of its tile, or outside of the triangle that is meant.
struct OutsideElement {
    int tile = 0;  ///< of the task, from 0
    ElementIndex element{};
    TileShape shape{};
    Part part = Part::all;
};
/// Remembers the first of them on this thread; whether there was one since the last look; its message.
void note_outside(const OutsideElement& which) noexcept;
inline constinit thread_local bool is_outside = false;
[[nodiscard]] const char* take_outside() noexcept;

/// What an element outside of a tile is in place of itself: 0, and what is written into it is lost.
template <class T>
[[nodiscard]] T& nowhere() {
    thread_local std::remove_const_t<T> element;
    element = {};
    return element;
}

}  // namespace detail

/// A tile as a kernel of one's own sees it, as the view says by which the task was given it: rows and columns are those
/// after the operation, and outside of the view's triangle there are zeros, which cannot be written.
///
/// With TileForms::any the tile may also be stored as U·Vᵀ, to be read: element by element, each a sum of `rank`
/// products, or by its factors `u` and `v`.
template <class T, TileForms Forms = TileForms::dense>
class TileSpan {
    static_assert(Forms == TileForms::dense || std::is_const_v<T>,
                  "a kernel of one's own reads tiles that may be stored as U·Vᵀ: TileSpan<const double, "
                  "TileForms::any>");

public:
    using Element = T;
    using Found = std::conditional_t<Forms == TileForms::any, std::remove_const_t<T>, T&>;

    explicit TileSpan(const Tile& tile, int number = 0)
        : data_(static_cast<T*>(tile.data)),
          ld_(tile.ld),
          shape_(tile.shape.seen(tile.view.op)),
          step_{tile.view.op == Op::none ? 1 : tile.ld, tile.view.op == Op::none ? tile.ld : 1},
          view_(tile.view),
          number_(number),
          careful_(tile.checks != TileChecks::none || tile.view.part != Part::all) {}

    [[nodiscard]] Index rows() const { return shape_.rows; }
    [[nodiscard]] Index cols() const { return shape_.cols; }
    /// The element of row i and column j, from 0.
    [[nodiscard]] Found operator()(Index i, Index j) const {
        if (careful_) return careful(*this, i, j);
        return find(i, j);
    }
    /// Whether the tile is meant transposed, and which part of what is seen is meant.
    [[nodiscard]] Op op() const { return view_.op; }
    [[nodiscard]] Trapezoid part() const { return {rows(), cols(), view_.part, view_.diagonal}; }

    /// The memory, whatever the view: the first element, and how many lie between the columns. A kernel that knows of
    /// no views takes a StoredTile in place of this.
    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] Index ld() const { return ld_; }

    /// Columns of U and V, or dense_rank where the tile has all its elements.
    [[nodiscard]] Index rank() const { return shape_.rank; }
    /// Of row i in U, and of column j in V; only where there is a rank.
    [[nodiscard]] std::remove_const_t<T> u(Index i, Index k) const requires(Forms == TileForms::any) {
        return factor(view_.op == Op::none ? Side::first : Side::second, i, k);
    }
    [[nodiscard]] std::remove_const_t<T> v(Index j, Index k) const requires(Forms == TileForms::any) {
        return factor(view_.op == Op::none ? Side::second : Side::first, j, k);
    }

private:
    enum class Side : std::uint8_t { first, second };

    [[nodiscard]] Found find(Index i, Index j) const {
        if constexpr (Forms == TileForms::any)
            if (shape_.rank != dense_rank) {
                std::remove_const_t<T> sum = 0;
                for (Index k = 0; k < shape_.rank; ++k) sum += u(i, k) * v(j, k);
                return sum;
            }
        return data_[i * step_[0] + j * step_[1]];
    }
    /// U, then V, without gaps; then the columns in single precision, likewise.
    [[nodiscard]] std::remove_const_t<T> factor(Side side, Index row, Index k) const {
        const TileShape stored = shape_.seen(view_.op);
        const Index length = side == Side::first ? stored.rows : stored.cols;
        const Index full = stored.rank - stored.singles;
        const auto at = [&](Index columns, Index column) {
            return (side == Side::first ? 0 : stored.rows * columns) + row + column * length;
        };
        if (k < full) return data_[at(full, k)];
        const auto* singles = reinterpret_cast<const float*>(data_ + (stored.rows + stored.cols) * full);
        return static_cast<std::remove_const_t<T>>(singles[at(stored.singles, k - full)]);
    }
    /// Takes the span by value: where nobody has its address, it stays in registers.
    [[gnu::noinline, gnu::cold]] static Found careful(TileSpan span, Index i, Index j) {
        const Trapezoid part = span.part();
        if (i >= 0 && j >= 0 && i < part.rows && j < part.cols) {
            if (i >= part.begin(j) && i < part.end(j)) return span.find(i, j);
            if constexpr (std::is_const_v<T>) return detail::nowhere<T>();  // a triangular matrix is 0 there
        }
        detail::note_outside({span.number_, {i, j}, span.shape_, part.part});
        return detail::nowhere<T>();
    }

    T* data_;
    Index ld_;
    TileShape shape_;
    Index step_[2];
    TileView view_;
    int number_;
    bool careful_;
};

/// A tile as it is stored, for kernels that hand its memory to BLAS and know of no views: a task that gives such a
/// kernel a transposed view, or a triangle of a tile, is refused.
template <class T>
class StoredTile {
public:
    using Element = T;

    explicit StoredTile(const Tile& tile, int = 0)
        : data_(static_cast<T*>(tile.data)),
          rows_(tile.rows()),
          cols_(tile.cols()),
          ld_(tile.ld) {}

    [[nodiscard]] Index rows() const { return rows_; }
    [[nodiscard]] Index cols() const { return cols_; }
    [[nodiscard]] T& operator()(Index i, Index j) const { return data_[i + j * ld_]; }
    /// The first element, and how many elements lie between the columns: what BLAS takes.
    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] Index ld() const { return ld_; }

private:
    T* data_;
    Index rows_;
    Index cols_;
    Index ld_;
};

/// A token, or a tile of any type: it has no elements to look at.
template <class T>
requires std::is_void_v<T>
class TileSpan<T> {
public:
    using Element = T;
    explicit TileSpan(const Tile&, int = 0) {}
};

namespace detail {

/// What a parameter of a kernel says of the tile that it takes.
template <class Parameter>
struct TileParameter {
    static constexpr bool is_tile = false;
};
template <class T, TileForms Forms>
struct TileParameter<TileSpan<T, Forms>> {
    static constexpr bool is_tile = true;
    static constexpr bool viewed = true;
    static constexpr bool compressed = Forms == TileForms::any;
};
template <class T>
struct TileParameter<StoredTile<T>> {
    static constexpr bool is_tile = true;
    static constexpr bool viewed = false;
    static constexpr bool compressed = false;
};

}  // namespace detail
}  // namespace tesela
