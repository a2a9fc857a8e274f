#pragma once

#include "tesela/base/index.hpp"
#include "tesela/base/names.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tesela {

/// How a file stores the elements of a matrix; all of them are read as numbers.
enum class StoredType { float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 };
inline constexpr Names<StoredType, 10> stored_type_names{{{StoredType::float32, "float32"},
                                                          {StoredType::float64, "float64"},
                                                          {StoredType::int8, "int8"},
                                                          {StoredType::int16, "int16"},
                                                          {StoredType::int32, "int32"},
                                                          {StoredType::int64, "int64"},
                                                          {StoredType::uint8, "uint8"},
                                                          {StoredType::uint16, "uint16"},
                                                          {StoredType::uint32, "uint32"},
                                                          {StoredType::uint64, "uint64"}}};

/// Bytes of one element.
[[nodiscard]] Index stored_type_bytes(StoredType type);

/// A rectangle of a matrix: `rows` rows from `row` on, `cols` columns from `col` on.
struct MatrixBlock {
    Index row = 0;
    Index col = 0;
    Index rows = 0;
    Index cols = 0;
    friend bool operator==(const MatrixBlock&, const MatrixBlock&) = default;
};

/// Where elements go: column-major memory, in which element (i, j) of a block stands at data[i + j * leading].
template <class T>
struct ColumnMajor {
    using Element = T;
    T* data = nullptr;
    Index leading = 0;

    [[nodiscard]] T& operator()(Index i, Index j) const { return data[i + j * leading]; }
};

/// The same by rows, as most files have them: element (i, j) of a block stands at data[i * leading + j].
template <class T>
struct RowMajor {
    using Element = T;
    T* data = nullptr;
    Index leading = 0;

    [[nodiscard]] T& operator()(Index i, Index j) const { return data[i * leading + j]; }
};

/// What becomes of a read: everything is there, or one line that says why not (and what was to be written is
/// undefined).
class ReadOutcome {
public:
    ReadOutcome() = default;
    [[nodiscard]] static ReadOutcome failure(std::string reason) {
        ReadOutcome outcome;
        outcome.reason_ = std::move(reason);
        return outcome;
    }
    [[nodiscard]] bool ok() const noexcept { return reason_.empty(); }
    explicit operator bool() const noexcept { return ok(); }
    /// One line that names the file; empty where all went well.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

private:
    std::string reason_;
};

/// What a read spends its time with: waiting for the system that has the file, or a core's work, where the elements are
/// in memory or computed.
enum class ReadTime { waiting, working };

/// What is known of a matrix before any element of it is read.
struct MatrixHeader {
    std::string name;  ///< as messages call it: "D.h5:/distance"
    Index rows = 0;
    Index cols = 0;
    StoredType type = StoredType::float64;
    std::string layout;  ///< how it is stored, for people: "chunks of 500 x 20000, deflate"
    GridSize chunk;      ///< the block that is stored in one piece; {1, cols} if rows follow each other
    std::vector<std::string> row_labels;  ///< empty, or one per row
    std::vector<std::string> col_labels;  ///< empty, or one per column
    std::vector<std::string> notes;       ///< what a user should know, such as columns that were left out; a line each
    ReadTime read_time = ReadTime::waiting;
};

/// A matrix that is read block by block, by several threads at once.
class MatrixFile {
public:
    virtual ~MatrixFile() = default;
    MatrixFile(const MatrixFile&) = delete;
    MatrixFile& operator=(const MatrixFile&) = delete;

    [[nodiscard]] const std::string& name() const { return header_.name; }
    [[nodiscard]] Index rows() const { return header_.rows; }
    [[nodiscard]] Index cols() const { return header_.cols; }
    [[nodiscard]] StoredType type() const { return header_.type; }
    [[nodiscard]] const MatrixHeader& header() const { return header_; }
    /// "D.h5:/distance, 20000 x 20000 float32, chunks of 500 x 20000"
    [[nodiscard]] std::string description() const;
    /// Bytes of all elements, uncompressed.
    [[nodiscard]] Index bytes() const { return rows() * cols() * stored_type_bytes(type()); }
    /// Of the panel heights at most `wanted`, the one that cuts the fewest chunks: a multiple of the chunk's height
    /// where there is one. At least 1.
    [[nodiscard]] Index panel_rows(Index wanted) const;

    /// Reads a block into memory, where it becomes single or double precision; what is stored by rows in this precision
    /// goes into row-major memory without a copy. Any number of threads may
    /// read at once; only what the block intersects is touched in the file. Never throws: a block outside of the
    /// matrix, too small a leading dimension, or what the file system answers is a reason in the outcome.
    [[nodiscard]] ReadOutcome read(const MatrixBlock& block, ColumnMajor<float> to) const noexcept;
    [[nodiscard]] ReadOutcome read(const MatrixBlock& block, ColumnMajor<double> to) const noexcept;
    [[nodiscard]] ReadOutcome read(const MatrixBlock& block, RowMajor<float> to) const noexcept;
    [[nodiscard]] ReadOutcome read(const MatrixBlock& block, RowMajor<double> to) const noexcept;

    /// Asks the system to forget what it keeps of the file in memory, so that the next read is a cold one: for
    /// measurements. Nothing happens where there is no file.
    virtual void forget_cached() const {}

protected:
    using Target = std::variant<ColumnMajor<float>, ColumnMajor<double>, RowMajor<float>, RowMajor<double>>;

    /// Throws Error if the matrix has no element, or too many for an Index of bytes.
    explicit MatrixFile(MatrixHeader header);

private:
    friend class MatrixGrid;     // reads its parts
    friend class LimitedMatrix;  // reads the matrix that it slows down

    /// The block lies inside of the matrix and is not empty. May throw what runs out of memory.
    [[nodiscard]] virtual ReadOutcome read_block(const MatrixBlock& block, const Target& to) const = 0;
    [[nodiscard]] ReadOutcome read_checked(const MatrixBlock& block, const Target& to) const noexcept;

    MatrixHeader header_;
};

/// The matrix that reads at most so many bytes (of elements, as stored) per second, all threads together: a slow disk,
/// for benchmarks. Throws Error unless the rate is positive.
[[nodiscard]] std::unique_ptr<MatrixFile> limit_rate(std::unique_ptr<MatrixFile> matrix, double bytes_per_second);

}  // namespace tesela
