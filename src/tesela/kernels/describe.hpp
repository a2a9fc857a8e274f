#pragma once

// What kernels say of themselves: names and costs. Not installed: for kernels here and in applications.

#include "tesela/kernels/tile.hpp"

#include <span>

namespace tesela {

using Shapes = std::span<const TileShape>;

/// Of all rows and columns; stored_bytes knows those that are stored.
[[nodiscard]] inline double elements(const TileShape& shape) {
    return static_cast<double>(shape.rows) * static_cast<double>(shape.cols);
}

template <class T>
[[nodiscard]] double bytes_of(Shapes shapes) {
    double total = 0;
    for (const TileShape& shape : shapes) total += static_cast<double>(stored_bytes(shape, sizeof(T)));
    return total;
}

/// "dgemm" or "sgemm".
template <class T>
[[nodiscard]] constexpr const char* named(const char* single_name, const char* double_name) {
    return sizeof(T) == 8 ? double_name : single_name;
}

}  // namespace tesela
