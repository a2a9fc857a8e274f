#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tesela {

/// Elements in memory, column-major without gaps, and what they are called.
struct MatrixValues {
    Index rows = 0;
    Index cols = 0;
    std::vector<double> values;
    std::vector<std::string> row_labels;  ///< empty, or one per row
    std::vector<std::string> col_labels;  ///< empty, or one per column
};

/// A matrix in memory, read as if it were a file; `name` is what messages call it. Throws Error if the numbers of
/// values or labels do not fit its size.
[[nodiscard]] std::unique_ptr<MatrixFile> memory_matrix(MatrixValues values, std::string name = "a matrix in memory");

/// All of a matrix in memory. Throws Error where it cannot be read.
[[nodiscard]] MatrixValues read_all(const MatrixFile& matrix);

}  // namespace tesela
