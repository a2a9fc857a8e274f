#pragma once

#include "tesela/io/matrix_file.hpp"

#include <memory>
#include <vector>

namespace tesela {

/// A matrix in memory under any header; `values` are column-major.
[[nodiscard]] std::unique_ptr<MatrixFile> memory_matrix(MatrixHeader header, std::vector<double> values);

}  // namespace tesela
