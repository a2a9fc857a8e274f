#include "tesela/io/internal/stored_elements.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tesela {
namespace {

/// Calls visit with a null pointer of the type of the elements.
template <class Visit>
void with_type(StoredType type, Visit visit) {
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

/// Rows and columns that are transposed in registers.
constexpr Index kernel_size = 4;

template <class T>
struct FourElements;
template <>
struct FourElements<float> {
    using Vector = float __attribute__((vector_size(kernel_size * sizeof(float))));
};
template <>
struct FourElements<double> {
    using Vector = double __attribute__((vector_size(kernel_size * sizeof(double))));
};

/// Four rows of four elements become four columns; the compiler makes loads, shuffles and stores of it.
template <class From, class To>
void transpose_kernel(const From* from, Index stride, To* to, Index leading) noexcept {
    using Row = typename FourElements<To>::Vector;
    Row rows[kernel_size];
    for (Index i = 0; i < kernel_size; ++i)
        rows[i] = Row{static_cast<To>(from[i * stride]), static_cast<To>(from[i * stride + 1]),
                      static_cast<To>(from[i * stride + 2]), static_cast<To>(from[i * stride + 3])};
    const Row low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const Row high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const Row low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
    const Row high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    const Row columns[kernel_size] = {
        __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
        __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
    for (Index j = 0; j < kernel_size; ++j) std::memcpy(to + j * leading, &columns[j], sizeof(Row));
}

/// Rows and columns that are transposed before they go to the target: a line of the cache is read once, and columns are
/// written in pieces of several lines, wherever in the cache their beginnings would fall.
constexpr Index block_rows = 64;
constexpr Index block_cols = 16;

template <class From, class To>
void transpose_block(const From* from, Index stride, GridSize size, const ColumnMajor<To>& to) noexcept {
    alignas(64) To columns[block_cols * block_rows];
    const Index whole_rows = size.cols == block_cols ? size.rows - size.rows % kernel_size : 0;
    for (Index i = 0; i < whole_rows; i += kernel_size)
        for (Index j = 0; j < block_cols; j += kernel_size)
            transpose_kernel(from + i * stride + j, stride, columns + i + j * block_rows, block_rows);
    for (Index i = whole_rows; i < size.rows; ++i)
        for (Index j = 0; j < size.cols; ++j) columns[i + j * block_rows] = static_cast<To>(from[i * stride + j]);
    for (Index j = 0; j < size.cols; ++j)
        std::memcpy(to.data + j * to.leading, columns + j * block_rows,
                    static_cast<std::size_t>(size.rows) * sizeof(To));
}

template <class From, class To>
void copy_piece(const From* from, Index stride, GridSize size, const RowMajor<To>& to) noexcept {
    for (Index i = 0; i < size.rows; ++i)
        std::transform(from + i * stride, from + i * stride + size.cols, &to(i, 0),
                       [](From value) { return static_cast<To>(value); });
}

template <class From, class To>
void copy_piece(const From* from, Index stride, GridSize size, const ColumnMajor<To>& to) noexcept {
    for (Index i = 0; i < size.rows; i += block_rows)
        for (Index j = 0; j < size.cols; j += block_cols)
            transpose_block(from + i * stride + j, stride,
                            {std::min(block_rows, size.rows - i), std::min(block_cols, size.cols - j)},
                            ColumnMajor<To>{to.data + i + j * to.leading, to.leading});
}

}  // namespace

MatrixTarget shifted(const MatrixTarget& target, Index row, Index col) {
    return std::visit(
        [&](const auto& to) -> MatrixTarget {
            auto moved = to;
            moved.data = &to(row, col);
            return moved;
        },
        target);
}

std::byte* row_as_stored(const MatrixTarget& target, const StoredElements& stored, Index row) {
    if (stored.order != std::endian::native) return nullptr;
    const auto* single = std::get_if<RowMajor<float>>(&target);
    if (single && stored.type == StoredType::float32) return reinterpret_cast<std::byte*>(&(*single)(row, 0));
    const auto* twice = std::get_if<RowMajor<double>>(&target);
    if (twice && stored.type == StoredType::float64) return reinterpret_cast<std::byte*>(&(*twice)(row, 0));
    return nullptr;
}

Index leading_of(const MatrixTarget& target) {
    return std::visit([](const auto& to) { return to.leading; }, target);
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

void copy_rows(const RowMajorPiece& piece, const MatrixTarget& to) {
    with_type(piece.type, [&]<class From>(const From*) {
        const auto* from = reinterpret_cast<const From*>(piece.elements);
        std::visit([&](const auto& target) { copy_piece(from, piece.stride, {piece.rows, piece.cols}, target); }, to);
    });
}

void copy_column(const std::byte* elements, StoredType type, Index count, const MatrixTarget& to) {
    with_type(type, [&]<class From>(const From*) {
        const auto* from = reinterpret_cast<const From*>(elements);
        std::visit(
            [&](const auto& target) {
                using To = typename std::decay_t<decltype(target)>::Element;
                for (Index i = 0; i < count; ++i) target(i, 0) = static_cast<To>(from[i]);
            },
            to);
    });
}

void fill_block(const std::byte* element, StoredType type, GridSize size, const MatrixTarget& to) {
    with_type(type, [&]<class From>(const From*) {
        From value{};
        std::memcpy(&value, element, sizeof value);
        std::visit(
            [&](const auto& target) {
                using To = typename std::decay_t<decltype(target)>::Element;
                for (Index j = 0; j < size.cols; ++j)
                    for (Index i = 0; i < size.rows; ++i) target(i, j) = static_cast<To>(value);
            },
            to);
    });
}

}  // namespace tesela
