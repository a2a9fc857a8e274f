#pragma once

#include "tesela/base/error.hpp"
#include "tesela/base/trapezoid.hpp"
#include "tesela/distribution/families.hpp"
#include "tesela/flow/stream.hpp"
#include "tesela/kernels/dense.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tesela {

/// A range of tiles of a matrix, possibly transposed and possibly a triangle only: a cheap value that algorithms take.
template <class T>
class MatrixView {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                  "the elements of a matrix are float or double");

public:
    MatrixView(Attachment& matrix, Part part) : matrix_(&matrix), tiles_(matrix.tiling().grid()), part_(part) {}

    /// Tile rows and columns of the view.
    [[nodiscard]] Index tile_rows() const { return op_ == Op::none ? tiles_.rows : tiles_.cols; }
    [[nodiscard]] Index tile_cols() const { return op_ == Op::none ? tiles_.cols : tiles_.rows; }
    [[nodiscard]] Part part() const { return part_; }
    [[nodiscard]] Op op() const { return op_; }
    [[nodiscard]] Attachment& matrix() const { return *matrix_; }

    /// Tile (i, j) of the view, as the view means it. Throws Error if it is not in the view.
    [[nodiscard]] TileOf<T> operator()(Index i, Index j) const {
        if (i < 0 || j < 0 || i >= tile_rows() || j >= tile_cols()) throw_outside(i, j);
        const TileView view = part_ == Part::all ? TileView{.op = op_} : part_of_tile(i, j);
        if (op_ == Op::transpose) std::swap(i, j);
        return {{matrix_, {first_.i + i, first_.j + j}}, view};
    }
    /// Elements in tile row i (tile column j) of the view, and the first of them as a global index.
    /// The row after the last begins where the view ends. Throws Error for others.
    [[nodiscard]] Index rows(Index i) const { return row_begin(i + 1) - row_begin(i); }
    [[nodiscard]] Index cols(Index j) const { return transposed().rows(j); }
    [[nodiscard]] Index row_begin(Index i) const {
        if (i < 0 || i > tile_rows()) throw_outside(i, 0);
        return op_ == Op::none ? tiling().row_begin(first_.i + i) : tiling().col_begin(first_.j + i);
    }
    [[nodiscard]] Index col_begin(Index j) const { return transposed().row_begin(j); }

    [[nodiscard]] MatrixView transposed() const {
        MatrixView result = *this;
        result.op_ = flip(op_);
        result.part_ = part_ == Part::all ? Part::all : part_ == Part::lower ? Part::upper : Part::lower;
        return result;
    }
    /// Tiles (i, j) of the view with first <= (i, j) < last, to say whose owners read a tile
    /// (Stream::share_with_owners).
    [[nodiscard]] TileBlock block(TileIndex first, TileIndex last) const {
        if (first.i >= last.i || first.j >= last.j) return {matrix_, {}, {}};
        const TileIndex a = (*this)(first.i, first.j).index;
        const TileIndex b = (*this)(last.i - 1, last.j - 1).index;
        return {matrix_, a, {b.i + 1, b.j + 1}};
    }
    /// The tiles from `first`, `size` of them. Throws Error if they are not all inside.
    [[nodiscard]] MatrixView tiles(TileIndex first, GridSize size) const {
        if (first.i < 0 || first.j < 0 || size.rows < 0 || size.cols < 0 || first.i + size.rows > tile_rows() ||
            first.j + size.cols > tile_cols())
            throw Error("tiles ({}, {}) to ({}, {}) are not inside matrix {}", first.i, first.j, first.i + size.rows,
                        first.j + size.cols, matrix_->name());
        if (op_ == Op::transpose) {
            std::swap(first.i, first.j);
            std::swap(size.rows, size.cols);
        }
        MatrixView result = *this;
        result.first_ = {first_.i + first.i, first_.j + first.j};
        result.tiles_ = size;
        return result;
    }
    [[nodiscard]] MatrixView as(Part part) const {
        MatrixView result = *this;
        result.part_ = part;
        return result;
    }

private:
    [[noreturn]] void throw_outside(Index i, Index j) const {
        throw Error("tile ({}, {}) is not in this view of matrix {}, which has {}x{} tiles", i, j, matrix_->name(),
                    tile_rows(), tile_cols());
    }
    /// The triangle of the view as tile (i, j) has it.
    [[nodiscard]] TileView part_of_tile(Index i, Index j) const {
        const Index diagonal = (col_begin(j) - col_begin(0)) - (row_begin(i) - row_begin(0));
        if (Trapezoid{rows(i), cols(j), part_, diagonal}.full()) return {.op = op_};
        constexpr Index most = std::numeric_limits<std::int32_t>::max();
        return {op_, part_, static_cast<std::int32_t>(std::clamp(diagonal, -most, most))};
    }
    [[nodiscard]] const Tiling& tiling() const { return matrix_->tiling(); }

    Attachment* matrix_;
    TileIndex first_{};
    GridSize tiles_;
    Op op_ = Op::none;
    Part part_ = Part::all;
};

struct MatrixOptions {
    std::string name = "A";
    Stored stored = Stored::full;
    /// See MatrixSpec::memory.
    std::function<TileMemory(TileIndex)> memory{};
    /// See MatrixSpec::allocation.
    Allocation allocation = Allocation::when_written;
    /// See MatrixSpec::compression.
    std::optional<Compression> compression{};
};

/// A tiled, distributed matrix of float or double. Move-only; tiles are allocated on their owner, when first written
/// unless the options say otherwise.
/// It is a view of all that it stores, so algorithms take it as they take views.
template <class T>
class Matrix : public MatrixView<T> {
public:
    Matrix(Stream& stream, const Tiling& tiling, const Distribution& distribution, MatrixOptions options = {})
        : Matrix(stream.attach({.name = std::move(options.name),
                                .tiling = tiling,
                                .distribution = distribution,
                                .type = element_type<T>,
                                .stored = options.stored,
                                .memory = std::move(options.memory),
                                .allocation = options.allocation,
                                .compression = options.compression})) {}

    [[nodiscard]] const Tiling& tiling() const { return attachment_->tiling(); }
    [[nodiscard]] const Distribution& distribution() const { return attachment_->distribution(); }
    [[nodiscard]] MatrixView<T> view() const { return *this; }
    [[nodiscard]] MatrixView<T> lower() const { return this->as(Part::lower); }

private:
    explicit Matrix(Attached attachment)
        : MatrixView<T>(*attachment, attachment->stored() == Stored::lower ? Part::lower : Part::all),
          attachment_(std::move(attachment)) {}

    Attached attachment_;
};

/// One number, on one node: what sums go into.
template <class T>
class Scalar : public Matrix<T> {
public:
    explicit Scalar(Stream& stream, MatrixOptions options = {.name = "scalar"}, NodeId owner = NodeId{0})
        : Matrix<T>(stream, Tiling::square(1, 1),
                    Distribution({1, 1}, stream.engine().node_count(), {static_cast<std::int32_t>(owner.number())}),
                    std::move(options)) {}

    [[nodiscard]] TileOf<T> tile() const { return (*this)(0, 0); }
    /// Its value at this point of the stream; `otherwise` on engines without data.
    [[nodiscard]] Future<T> value(Stream& stream, T otherwise = {}) const { return stream.read(tile(), otherwise); }
};

/// One column that a square matrix can be multiplied with, cut as its rows; its tiles live with the diagonal's.
template <class T>
class Vector : public Matrix<T> {
public:
    Vector(Stream& stream, const Matrix<T>& beside, MatrixOptions options = {.name = "x"})
        : Matrix<T>(stream, beside.tiling().with_columns(1, 1), along_diagonal(beside.distribution(), 1),
                    std::move(options)) {}

    using MatrixView<T>::operator();
    [[nodiscard]] TileOf<T> operator()(Index i) const { return (*this)(i, 0); }
};

/// A matrix over one column-major array of the caller, who keeps it until the matrix is gone. Every node passes its own
/// array of the full size, of which the tiles it owns are used.
template <class T>
[[nodiscard]] MatrixOptions over_array(T* data, Index ld, const Tiling& tiling, MatrixOptions options = {}) {
    if (data == nullptr && tiling.size().i > 0 && tiling.size().j > 0)
        throw Error("matrix {} cannot lie over an array that is null", options.name);
    if (ld < tiling.size().i)
        throw Error("matrix {} has {} rows, and the array that it is to lie over has {} from a column to the next",
                    options.name, tiling.size().i, ld);
    options.memory = [data, ld, tiling](TileIndex tile) -> TileMemory {
        return {data + tiling.row_begin(tile.i) + tiling.col_begin(tile.j) * ld, ld};
    };
    return options;
}

/// A zero-byte thing to read and write: an edge between tasks that share no data.
class Token {
public:
    /// The name is for traces.
    explicit Token(Stream& stream, NodeId owner = NodeId{0}, std::string name = "token");
    [[nodiscard]] TileOf<void> ref() const { return {{attachment_.get(), {0, 0}}}; }

private:
    Attached attachment_;
};

/// Every element of a view on every node, column by column; waits for the tiles it needs. Parts of the view that a
/// triangle leaves out are 0. Throws Error, which says why, if work failed that was to write them.
template <class T>
[[nodiscard]] std::vector<T> gather(Stream& stream, const MatrixView<T>& view);

extern template std::vector<float> gather(Stream&, const MatrixView<float>&);
extern template std::vector<double> gather(Stream&, const MatrixView<double>&);

}  // namespace tesela
