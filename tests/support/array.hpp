#pragma once

#include "tesela/base/random.hpp"
#include "tesela/kernels/tile.hpp"

#include <cstdint>
#include <vector>

namespace tesela {

/// Random numbers in [-1, 1), column by column, with more rows in memory than it has.
template <class T>
struct Array {
    Array(Index m, Index n, std::uint64_t seed)
        : rows(m),
          cols(n),
          ld(m + 3),
          elements(static_cast<std::size_t>(ld * n)) {
        for (std::size_t k = 0; k < elements.size(); ++k)
            elements[k] = static_cast<T>(2 * Random(seed).uniform({.i = k}) - 1);
    }
    [[nodiscard]] T& operator()(Index i, Index j) { return elements[static_cast<std::size_t>(i + j * ld)]; }
    /// Element (i, j) of the array, or of its transpose.
    [[nodiscard]] double wide(Index i, Index j, Op op = Op::none) {
        return static_cast<double>(op == Op::none ? (*this)(i, j) : (*this)(j, i));
    }
    [[nodiscard]] Tile tile() { return {elements.data(), {rows, cols}, ld}; }
    Index rows, cols, ld;
    std::vector<T> elements;
};

}  // namespace tesela
