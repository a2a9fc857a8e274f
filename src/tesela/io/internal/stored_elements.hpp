#pragma once

#include "tesela/io/matrix_file.hpp"

#include <bit>
#include <cstddef>
#include <variant>

namespace tesela {

/// How elements are stored in a file.
struct StoredElements {
    StoredType type = StoredType::float64;
    std::endian order = std::endian::native;
};

/// Where elements go; what MatrixFile calls its Target.
using MatrixTarget = std::variant<ColumnMajor<float>, ColumnMajor<double>, RowMajor<float>, RowMajor<double>>;

/// The target of a block that begins `row` rows below and `col` columns right of it.
[[nodiscard]] MatrixTarget shifted(const MatrixTarget& target, Index row, Index col);

/// Where a row of so many elements of this type begins in memory that takes the bytes of rows as they are; none: in
/// other memory.
[[nodiscard]] std::byte* row_as_stored(const MatrixTarget& target, const StoredElements& stored, Index row);

/// Elements from one row to the next, or one column to the next.
[[nodiscard]] Index leading_of(const MatrixTarget& target);

/// Puts the bytes of elements into the order of this machine.
void to_native_order(std::byte* elements, Index count, const StoredElements& stored) noexcept;

/// A row-major piece of rows x cols elements in this machine's byte order, aligned for them, with `stride` elements
/// from one row to the next.
struct RowMajorPiece {
    const std::byte* elements = nullptr;
    StoredType type = StoredType::float64;
    Index stride = 0;
    Index rows = 0;
    Index cols = 0;
};

/// Copies a piece and converts it on the way, transposing it where the memory is column-major.
void copy_rows(const RowMajorPiece& piece, const MatrixTarget& to);

/// Converts `count` elements of one column.
void copy_column(const std::byte* elements, StoredType type, Index count, const MatrixTarget& to);

/// Sets rows x cols elements of the target to one value, which `element` holds in this machine's byte order.
void fill_block(const std::byte* element, StoredType type, GridSize size, const MatrixTarget& to);

}  // namespace tesela
