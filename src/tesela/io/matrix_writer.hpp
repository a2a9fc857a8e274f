#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tesela {

enum class MatrixCompression { none, deflate };

/// What a matrix that is to be written is, and how it is stored.
struct MatrixPlan {
    Index rows = 0;
    Index cols = 0;
    StoredType type = StoredType::float64;  ///< float32 or float64
    std::vector<std::string> row_labels;    ///< empty, or one per row; NumPy files have none
    std::vector<std::string> col_labels;    ///< empty, or one per column
    std::string dataset = "/matrix";        ///< HDF5: the data set, where the name of the file names none
    GridSize chunk;                         ///< HDF5: the size of chunks; {0, 0}: all in one piece
    MatrixCompression compression = MatrixCompression::none;  ///< HDF5, in chunks: deflate, after shuffle
};

/// Writes a matrix by blocks of rows, from the first to the last. The file appears whole when it is committed, or not
/// at all. Every function throws Error naming the file, OutputError once it is open.
class MatrixWriter {
public:
    virtual ~MatrixWriter() = default;
    MatrixWriter(const MatrixWriter&) = delete;
    MatrixWriter& operator=(const MatrixWriter&) = delete;

    /// Adds rows, one after the other: a multiple of cols() values.
    void append(std::span<const float> rows);
    void append(std::span<const double> rows);
    /// Puts the file in its place. At most once, and last, when all rows are there.
    void commit();

    [[nodiscard]] const MatrixPlan& plan() const { return plan_; }
    [[nodiscard]] Index rows() const { return plan_.rows; }
    [[nodiscard]] Index cols() const { return plan_.cols; }

protected:
    /// Throws Error if the plan has no elements, another type, or labels or chunks that do not fit.
    MatrixWriter(MatrixPlan plan, std::string name);
    [[nodiscard]] Index rows_written() const { return rows_written_; }
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    virtual void write(std::span<const float> rows) = 0;
    virtual void write(std::span<const double> rows) = 0;
    virtual void finish() = 0;
    template <class T>
    void append_rows(std::span<const T> rows);

    MatrixPlan plan_;
    std::string name_;
    Index rows_written_ = 0;
};

/// Writes a NumPy file in C order. Labels are not stored.
[[nodiscard]] std::unique_ptr<MatrixWriter> write_npy_matrix(const std::string& path, MatrixPlan plan);

/// Writes a CSV file (`-`: standard output) with shortest numbers that read back as they were. With labels of columns
/// it has a header, with labels of rows a first column without a name.
[[nodiscard]] std::unique_ptr<MatrixWriter> write_csv_matrix(const std::string& path, MatrixPlan plan);

}  // namespace tesela
