#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/trapezoid.hpp"

#include <cstddef>
#include <cstdint>

namespace tesela {

/// What the elements of a matrix are. `none` is a zero-byte token: an edge between tasks without data.
enum class ElementType : std::uint8_t { none, f32, f64 };

template <class T>
inline constexpr ElementType element_type = ElementType::none;
template <>
inline constexpr ElementType element_type<float> = ElementType::f32;
template <>
inline constexpr ElementType element_type<double> = ElementType::f64;

[[nodiscard]] constexpr std::size_t element_bytes(ElementType type) {
    return type == ElementType::f64 ? 8 : type == ElementType::f32 ? 4 : 0;
}

/// Whether a matrix or a tile is meant as it is or transposed.
enum class Op : std::uint8_t { none, transpose };
[[nodiscard]] constexpr Op flip(Op op) { return op == Op::none ? Op::transpose : Op::none; }

/// How a task means a tile: as it is or transposed, and all of it or what lies on one side of a diagonal of it.
struct TileView {
    Op op = Op::none;
    /// Of what is seen: after the operation, from this diagonal on (see Trapezoid).
    Part part = Part::all;
    std::int32_t diagonal = 0;

    friend bool operator==(const TileView&, const TileView&) = default;
};

/// The rank of a tile that is stored as it is, with all its elements.
inline constexpr Index dense_rank = -1;

/// Size of a tile and, where it is stored as U·Vᵀ, its rank, and how many of the columns of U and V, the last ones, are
/// in single precision: all that costs depend on.
struct TileShape {
    Index rows = 0;
    Index cols = 0;
    Index rank = dense_rank;
    Index singles = 0;

    /// As it is seen through an operation.
    [[nodiscard]] constexpr TileShape seen(Op op) const {
        return op == Op::none ? *this : TileShape{cols, rows, rank, singles};
    }
};

/// Bytes that a tile of such elements is stored as; those of U and V in whole words.
[[nodiscard]] constexpr std::size_t stored_bytes(const TileShape& shape, std::size_t element_bytes) {
    if (shape.rank == dense_rank) return static_cast<std::size_t>(shape.rows * shape.cols) * element_bytes;
    const auto columns = static_cast<std::size_t>(shape.rank - shape.singles) * element_bytes +
                         static_cast<std::size_t>(shape.singles) * sizeof(float);
    const std::size_t bytes = static_cast<std::size_t>(shape.rows + shape.cols) * columns;
    return (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

/// Bytes of a tile of doubles: U and V of a low-rank tile and its rank, or all elements.
[[nodiscard]] constexpr double tile_bytes(const TileShape& shape, double dense_bytes) {
    if (shape.rank == dense_rank) return dense_bytes;
    return static_cast<double>(stored_bytes(shape, sizeof(double)) + sizeof(double));
}

/// Whether columns of U and V may be in single precision where the accuracy allows it.
enum class FactorPrecision : std::uint8_t { full, as_needed };

/// Where a tile whose rank may change gets memory for another one, and how much it may differ from what it stands for.
class TileRoom {
public:
    explicit TileRoom(double accuracy, FactorPrecision precision = FactorPrecision::full)
        : accuracy_(accuracy),
          precision_(precision) {}
    virtual ~TileRoom() = default;
    TileRoom(const TileRoom&) = default;
    TileRoom& operator=(const TileRoom&) = default;
    TileRoom(TileRoom&&) = default;
    TileRoom& operator=(TileRoom&&) = default;

    /// In the Frobenius norm.
    [[nodiscard]] double accuracy() const { return accuracy_; }
    [[nodiscard]] FactorPrecision precision() const { return precision_; }
    /// Memory for U and V of another rank, or for all elements (dense_rank), in place of what the tile has, which is
    /// gone then; null if there is none, and the tile keeps what it has.
    [[nodiscard]] void* replace(Index rank) noexcept { return replace(rank, 0); }
    /// Likewise, with so many of the columns in single precision.
    [[nodiscard]] virtual void* replace(Index rank, Index singles) noexcept = 0;

private:
    double accuracy_;
    FactorPrecision precision_;
};

/// Whether kernels of one's own are watched for elements outside of their tiles.
enum class TileChecks : std::uint8_t { none, bounds };
/// Unless an engine is told otherwise: in debug builds of the library.
extern const TileChecks usual_checks;

/// What a kernel sees of a tile: column-major elements with a leading dimension; or, where it has a rank, U (rows x
/// rank) and after it V (cols x rank) of U·Vᵀ, without gaps. Columns in single precision stand behind all others, as
/// floats: again those of U, then those of V.
struct Tile {
    void* data = nullptr;
    TileShape shape{};
    Index ld = 0;
    TileRoom* room = nullptr;  ///< of a tile that may be stored either way; only for who writes it
    /// How the task means it, for kernels that look (TileSpan); shape, data and ld are those of the memory.
    TileView view{};
    TileChecks checks = TileChecks::none;

    template <class T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(data);
    }
    [[nodiscard]] Index rows() const { return shape.rows; }
    [[nodiscard]] Index cols() const { return shape.cols; }
    [[nodiscard]] bool is_dense() const { return shape.rank == dense_rank; }
};

/// From this rank on a tile takes no less memory as U·Vᵀ than with all its elements.
[[nodiscard]] constexpr Index useless_rank(const TileShape& shape) {
    return ceil_div(shape.rows * shape.cols, shape.rows + shape.cols);
}

}  // namespace tesela
