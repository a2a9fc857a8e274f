#pragma once

#include "tesela/base/index.hpp"

#include <algorithm>
#include <cstdint>

namespace tesela {

/// Which part of a matrix, or of a rectangle of its elements, is meant.
enum class Part : std::uint8_t { all, lower, upper };

/// A rectangle of elements, or what of it lies on one side of a diagonal: column j has the rows [begin(j), end(j)).
struct Trapezoid {
    Index rows = 0;
    Index cols = 0;
    Part part = Part::all;
    /// Lower: the elements with i - j >= diagonal. Upper: those with i - j <= diagonal.
    Index diagonal = 0;

    [[nodiscard]] Index begin(Index j) const {
        return part == Part::lower ? std::clamp<Index>(j + diagonal, 0, rows) : 0;
    }
    [[nodiscard]] Index end(Index j) const {
        return part == Part::upper ? std::clamp<Index>(j + diagonal + 1, 0, rows) : rows;
    }
    /// Elements in it.
    [[nodiscard]] Index count() const {
        if (part == Part::all) return rows * cols;
        Index sum = 0;
        for (Index j = 0; j < cols; ++j) sum += end(j) - begin(j);
        return sum;
    }
    [[nodiscard]] bool full() const {
        if (part == Part::lower) return diagonal + cols - 1 <= 0;
        return part == Part::all || diagonal >= rows - 1;
    }
    [[nodiscard]] bool empty() const {
        if (rows == 0 || cols == 0) return true;
        if (part == Part::lower) return diagonal > rows - 1;
        return part == Part::upper && diagonal < 1 - cols;
    }
    /// Its columns from `first`, `count` of them.
    [[nodiscard]] Trapezoid columns(Index first, Index number) const { return {rows, number, part, diagonal + first}; }
    /// The same with rows and columns exchanged.
    [[nodiscard]] Trapezoid transposed() const {
        return {cols, rows, part == Part::all ? Part::all : part == Part::lower ? Part::upper : Part::lower, -diagonal};
    }
    friend bool operator==(const Trapezoid&, const Trapezoid&) = default;
};

}  // namespace tesela
