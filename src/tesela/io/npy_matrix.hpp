#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <string>

namespace tesela {

/// Opens a NumPy file (format 1.0, 2.0 or 3.0) of two dimensions: floating-point numbers of 4 or 8 bytes or integers,
/// in C or Fortran order and either byte order. Throws Error of one line if it is missing, no such file, or cut short.
[[nodiscard]] std::unique_ptr<MatrixFile> open_npy_matrix(const std::string& path);

}  // namespace tesela
