#include "tesela/io/internal/stored_elements.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tesela {
namespace {

/// Calls visit with a null pointer of the type of the elements.
template <class Visit>
void with_type(StoredType type, Visit visit) noexcept {
    switch (type) {
        case StoredType::float32: visit(static_cast<const float*>(nullptr)); return;
        case StoredType::float64: visit(static_cast<const double*>(nullptr)); return;
        case StoredType::int8: visit(static_cast<const std::int8_t*>(nullptr)); return;
        case StoredType::int16: visit(static_cast<const std::int16_t*>(nullptr)); return;
        case StoredType::int32: visit(static_cast<const std::int32_t*>(nullptr)); return;
        case StoredType::int64: visit(static_cast<const std::int64_t*>(nullptr)); return;
        case StoredType::uint8: visit(static_cast<const std::uint8_t*>(nullptr)); return;
        case StoredType::uint16: visit(static_cast<const std::uint16_t*>(nullptr)); return;
        case StoredType::uint32: visit(static_cast<const std::uint32_t*>(nullptr)); return;
        case StoredType::uint64: visit(static_cast<const std::uint64_t*>(nullptr)); return;
    }
}

template <std::size_t Width>
void reverse_each(std::byte* elements, Index count) noexcept {
    for (Index k = 0; k < count; ++k) std::reverse(elements + k * Index{Width}, elements + (k + 1) * Index{Width});
}

/// Rows and columns that are transposed in registers: gcc makes four loads, shuffles and four stores of it.
constexpr Index kernel_size = 4;

template <class From, class To>
void transpose_kernel(const From* from, Index stride, To* to, Index leading) noexcept {
    To block[kernel_size][kernel_size];
    for (Index i = 0; i < kernel_size; ++i)
        for (Index j = 0; j < kernel_size; ++j) block[j][i] = static_cast<To>(from[i * stride + j]);
    for (Index j = 0; j < kernel_size; ++j)
        for (Index i = 0; i < kernel_size; ++i) to[i + j * leading] = block[j][i];
}

template <class From, class To>
void transpose_edge(const From* from, Index stride, GridSize size, const ColumnMajor<To>& to) noexcept {
    for (Index j = 0; j < size.cols; ++j)
        for (Index i = 0; i < size.rows; ++i) to.data[i + j * to.leading] = static_cast<To>(from[i * stride + j]);
}

/// Goes down a few columns at a time: what is written stays in the nearest cache until its lines are full.
template <class From, class To>
void transpose(const From* from, Index stride, GridSize size, const ColumnMajor<To>& to) noexcept {
    const Index whole_rows = size.rows - size.rows % kernel_size;
    const Index whole_cols = size.cols - size.cols % kernel_size;
    for (Index j = 0; j < whole_cols; j += kernel_size)
        for (Index i = 0; i < whole_rows; i += kernel_size)
            transpose_kernel(from + i * stride + j, stride, to.data + i + j * to.leading, to.leading);
    transpose_edge(from + whole_rows * stride, stride, {size.rows - whole_rows, whole_cols},
                   ColumnMajor<To>{to.data + whole_rows, to.leading});
    transpose_edge(from + whole_cols, stride, {size.rows, size.cols - whole_cols},
                   ColumnMajor<To>{to.data + whole_cols * to.leading, to.leading});
}

}  // namespace

MatrixTarget shifted(const MatrixTarget& target, Index row, Index col) noexcept {
    return std::visit(
        [&](const auto& to) -> MatrixTarget {
            auto moved = to;
            moved.data += row + col * to.leading;
            return moved;
        },
        target);
}

void to_native_order(std::byte* elements, Index count, const StoredElements& stored) noexcept {
    if (stored.order == std::endian::native) return;
    switch (stored_type_bytes(stored.type)) {
        case 2: reverse_each<2>(elements, count); return;
        case 4: reverse_each<4>(elements, count); return;
        case 8: reverse_each<8>(elements, count); return;
        default: return;
    }
}

void copy_rows(const RowMajorPiece& piece, const MatrixTarget& to) noexcept {
    with_type(piece.type, [&]<class From>(const From*) {
        const auto* from = reinterpret_cast<const From*>(piece.elements);
        std::visit([&](const auto& target) { transpose(from, piece.stride, {piece.rows, piece.cols}, target); }, to);
    });
}

void copy_column(const std::byte* elements, StoredType type, Index count, const MatrixTarget& to) noexcept {
    with_type(type, [&]<class From>(const From*) {
        const auto* from = reinterpret_cast<const From*>(elements);
        std::visit(
            [&]<class To>(const ColumnMajor<To>& target) {
                std::transform(from, from + count, target.data, [](From value) { return static_cast<To>(value); });
            },
            to);
    });
}

void fill_block(const std::byte* element, StoredType type, GridSize size, const MatrixTarget& to) noexcept {
    with_type(type, [&]<class From>(const From*) {
        From value{};
        std::memcpy(&value, element, sizeof value);
        std::visit(
            [&]<class To>(const ColumnMajor<To>& target) {
                for (Index j = 0; j < size.cols; ++j)
                    std::fill_n(target.data + j * target.leading, size.rows, static_cast<To>(value));
            },
            to);
    });
}

}  // namespace tesela
